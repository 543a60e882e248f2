#include "catenary/links/models/image_classifier.h"

#include <utility>

#include "catenary/array/creation.h"
#include "catenary/array/elementwise_core.h"
#include "catenary/array/manipulation.h"
#include "catenary/core/config.h"
#include "catenary/core/format.h"
#include "catenary/io/image.h"

namespace catenary::links {

std::vector<std::string> ImageClassifier::available_layers() const {
  std::vector<std::string> names;
  for (const Layer& layer : layers()) names.push_back(layer.name);
  return names;
}

std::map<std::string, Variable> ImageClassifier::operator()(const Variable& x,
                                                            const std::vector<std::string>& wanted) const {
  const std::vector<Layer> all = layers();
  const auto place_of = [&](const std::string& name) {
    for (std::size_t i = 0; i < all.size(); ++i)
      if (all[i].name == name) return i;
    fail<ValueError>("{}: unknown layer '{}'; expected one of {}", type_name(), name,
                     fmt::join(available_layers(), ", "));
  };
  // number of users of each layer's result, counting the caller for requested layers
  std::vector<int> users(all.size(), 0);
  for (const std::string& name : wanted)
    for (std::size_t i = place_of(name); users[i]++ == 0 && (i > 0 || !all[i].from.empty());)
      i = all[i].from.empty() ? i - 1 : place_of(all[i].from);

  std::map<std::string, Variable> found;
  std::vector<Variable> results(all.size());
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (users[i] == 0) continue;
    const std::size_t from = all[i].from.empty() ? i - 1 : place_of(all[i].from);
    results[i] = all[i].function(i == 0 ? x : results[from]);
    if (i > 0 && --users[from] == 0) results[from] = Variable();  // free results that are no longer needed
  }
  for (const std::string& name : wanted) found[name] = results[place_of(name)];
  return found;
}

Array ImageClassifier::prepare(const Array& image, const OptionalShape& size) const {
  const bool gray = image.ndim() == 2 || (image.ndim() == 3 && image.shape(0) == 1);
  if (!gray && (image.ndim() != 3 || image.shape(0) != 3))
    fail<ShapeError>("{}: an image must be (h, w), (1, h, w) or (3, h, w), not {}", type_name(), image.shape());
  if (size && size->size() != 2) fail<ShapeError>("{}: size must be (height, width), not {}", type_name(), *size);
  const Array planes = image.ndim() == 2 ? expand_dims(image, 0) : image;
  const Array bytes = moveaxis(planes.to_device(Device()), 0, -1).astype(Dtype::uint8);
  io::HostArray pixels = io::HostArray::empty(Dtype::uint8, bytes.shape());
  bytes.copy_to_host(pixels.data.get());
  pixels = io::convert_channels(pixels, 3);
  if (size) pixels = io::resize(pixels, (*size)[0], (*size)[1]);
  const Array rgb = Array::from_host(pixels.data.get(), pixels.shape, Dtype::uint8, Device());
  const auto colours = [](const std::vector<double>& values) {
    return array(values).astype(Dtype::float32).to_device(Device());
  };
  if (as_torchvision())  // the preprocessing of torchvision's weights
    return moveaxis(
               (rgb.astype(Dtype::float32) / 255 - colours({0.485, 0.456, 0.406})) / colours({0.229, 0.224, 0.225}), -1,
               0)
        .copy();
  return moveaxis(flip(rgb, 2).astype(Dtype::float32) - colours(mean()), -1, 0).copy();
}

Array ImageClassifier::prepared(const std::vector<Array>& images, const OptionalShape& size) const {
  std::vector<Array> rows;
  for (const Array& image : images) rows.push_back(prepare(image, size));
  if (rows.empty()) fail<ValueError>("{}: there must be at least one image", type_name());
  const Parameter first = params().front();
  return stack(rows, 0).astype(first.dtype()).to_device(first.initial_device());
}

std::map<std::string, Variable> ImageClassifier::extract(const std::vector<Array>& images,
                                                         const std::vector<std::string>& wanted,
                                                         const OptionalShape& size) const {
  return (*this)(prepared(images, size), wanted.empty() ? std::vector<std::string>{features()} : wanted);
}

Variable ImageClassifier::predict(const std::vector<Array>& images, bool oversample) const {
  const auto no_training = using_config(config.train, false);
  const auto no_graph = no_backprop_mode();
  const Array x = prepared(images, {256, 256});
  const auto part = [&](std::int64_t top, std::int64_t left) {
    return x(slice(), slice(), slice(top, top + 224), slice(left, left + 224));
  };
  const auto probabilities = [&](const Array& a) { return (*this)(a).at("prob").array(); };
  if (!oversample) return Variable(probabilities(part(16, 16)), false);
  Array sum;
  for (const auto& [top, left] :
       {std::pair(0, 0), std::pair(0, 32), std::pair(32, 0), std::pair(32, 32), std::pair(16, 16)})
    for (const Array& a : {part(top, left), flip(part(top, left), 3)})
      sum = sum.defined() ? sum + probabilities(a) : probabilities(a);
  return Variable(sum / 10, false);
}

}  // namespace catenary::links
