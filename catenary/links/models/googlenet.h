#pragma once
// GoogLeNet: inception modules with two auxiliary classifiers.

#include "catenary/links/connection.h"
#include "catenary/links/inception.h"
#include "catenary/links/models/image_classifier.h"

namespace catenary::links {

/// The network of 22 layers. The layers loss1_fc2 and loss2_fc2 are the outputs of the auxiliary classifiers, which
/// only training needs. (chainer.links.GoogLeNet) (Szegedy et al., arXiv:1409.4842)
class CT_API GoogLeNet : public ImageClassifier {
 public:
  GoogLeNet();
  std::string type_name() const override { return "GoogLeNet"; }
  Convolution2D conv1, conv2_reduce, conv2;
  Inception inc3a, inc3b, inc4a, inc4b, inc4c, inc4d, inc4e, inc5a, inc5b;
  Linear loss3_fc;
  Convolution2D loss1_conv;
  Linear loss1_fc1, loss1_fc2;
  Convolution2D loss2_conv;
  Linear loss2_fc1, loss2_fc2;
  CT_LINKS(conv1, conv2_reduce, conv2, inc3a, inc3b, inc4a, inc4b, inc4c, inc4d, inc4e, inc5a, inc5b, loss3_fc,
           loss1_conv, loss1_fc1, loss1_fc2, loss2_conv, loss2_fc1, loss2_fc2)

 protected:
  std::vector<Layer> layers() const override;
  std::string features() const override { return "pool5"; }
  std::vector<double> mean() const override { return {104, 117, 123}; }
};

}  // namespace catenary::links
