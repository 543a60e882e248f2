#pragma once
// The base class of image classifiers with named layers.

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "catenary/core/optional_shape.h"
#include "catenary/links/link.h"

namespace catenary::links {

/// A network for images of 224 × 224 pixels that returns the results of any of its layers. Parameters are named as in
/// Chainer's files: serializers::load_npz(path, model) loads such a file.
class CT_API ImageClassifier : public Chain {
 public:
  /// Returns the names of all layers, in order.
  std::vector<std::string> available_layers() const;
  /// Returns the results of the named layers for x [n, 3, 224, 224], and computes only the layers they need. Throws
  /// ValueError for unknown names.
  std::map<std::string, Variable> operator()(const Variable& x,
                                             const std::vector<std::string>& layers = {"prob"}) const;
  /// Prepares images and returns the results of the named layers, by default of the last layer before the classes.
  std::map<std::string, Variable> extract(const std::vector<Array>& images, const std::vector<std::string>& layers = {},
                                          const OptionalShape& size = {224, 224}) const;
  /// Returns class probabilities [n, 1000] of images, in test mode and without a graph. With `oversample`, averages
  /// over ten crops of each image: the corners, the centre and their mirror images.
  Variable predict(const std::vector<Array>& images, bool oversample = true) const;
  /// Returns an image as a row of x: resized to `size`, in the order blue, green, red, minus the mean of the training
  /// images. Networks that follow torchvision get red, green, blue from 0 to 1, minus the mean and divided by the
  /// deviation. `image` is gray or RGB from 0 to 255: [h, w], [1, h, w] or [3, h, w]. Throws ShapeError for other
  /// shapes.
  Array prepare(const Array& image, const OptionalShape& size = {224, 224}) const;

 protected:
  /// A layer and the name of its input layer, by default the previous layer.
  struct Layer {
    std::string name;
    std::function<Variable(const Variable&)> function;
    std::string from = {};
  };
  /// Returns all layers in order. Their functions refer to this object.
  virtual std::vector<Layer> layers() const = 0;
  /// The default layer of extract().
  virtual std::string features() const = 0;
  /// The mean of the training images: blue, green, red.
  virtual std::vector<double> mean() const = 0;
  /// Whether the network computes like torchvision's network of this name.
  virtual bool as_torchvision() const { return false; }

 private:
  Array prepared(const std::vector<Array>& images, const OptionalShape& size) const;
};

}  // namespace catenary::links
