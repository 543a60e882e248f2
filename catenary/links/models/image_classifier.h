#pragma once
// What image classifiers with named layers have in common.

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "catenary/core/optional_shape.h"
#include "catenary/links/link.h"

namespace catenary::links {

/// A network for images of 224 × 224 pixels that gives the results of any of its layers. Parameters
/// have the names of Chainer's files: serializers::load_npz(path, model) loads one.
class CT_API ImageClassifier : public Chain {
 public:
  /// The names of all layers, in order.
  std::vector<std::string> available_layers() const;
  /// The results of some layers by name, for x [n, 3, 224, 224]; what none of them needs is not computed. Throws
  /// ValueError for a name that is none.
  std::map<std::string, Variable> operator()(const Variable& x,
                                             const std::vector<std::string>& layers = {"prob"}) const;
  /// The same of images, which are prepared first; `layers` is the last one before the classes when empty.
  std::map<std::string, Variable> extract(const std::vector<Array>& images, const std::vector<std::string>& layers = {},
                                          const OptionalShape& size = {224, 224}) const;
  /// Probabilities of the classes [n, 1000] of images, outside of training and without a graph. Oversampling takes the
  /// mean over ten parts of each image: corners and centre, and their mirror images.
  Variable predict(const std::vector<Array>& images, bool oversample = true) const;
  /// An image as x's rows are: blue, green and red, of `size`, less the mean of the images that the network was trained
  /// on; for one that computes as torchvision's does, red, green and blue from 0 to 1, less the mean, by the deviation.
  /// `image` is gray or RGB from 0 to 255: [h, w], [1, h, w] or [3, h, w]. Throws ShapeError for another shape.
  Array prepare(const Array& image, const OptionalShape& size = {224, 224}) const;

 protected:
  /// A layer, and the one that it takes its input from: that before it where none is named.
  struct Layer {
    std::string name;
    std::function<Variable(const Variable&)> function;
    std::string from = {};
  };
  /// All layers in order. The functions refer to this object.
  virtual std::vector<Layer> layers() const = 0;
  /// What extract gives by default.
  virtual std::string features() const = 0;
  /// Blue, green and red.
  virtual std::vector<double> mean() const = 0;
  /// Does it compute as torchvision's network of this name does?
  virtual bool as_torchvision() const { return false; }

 private:
  Array prepared(const std::vector<Array>& images, const OptionalShape& size) const;
};

}  // namespace catenary::links
