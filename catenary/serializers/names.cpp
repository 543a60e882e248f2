#include "catenary/serializers/names.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>
#include <span>

#include "catenary/core/format.h"

namespace catenary::serializers {

namespace {

using Parts = std::vector<std::string>;
using Tensors = std::map<std::string, Shape>;

Parts split(const std::string& name) {
  Parts parts(1);
  for (const char c : name) {
    if (c == '.') {
      parts.emplace_back();
    } else {
      parts.back() += c;
    }
  }
  return parts;
}

/// Returns the number that `text` represents, or -1 unless it has one to four digits.
int number(const std::string& text) {
  if (text.empty() || text.size() > 4 || text.find_first_not_of("0123456789") != std::string::npos) return -1;
  return std::stoi(text);
}

/// A link's name in Catenary, and whether it has a matrix where PyTorch has a convolution over the whole image.
struct LinkName {
  std::string name;
  bool takes_rows = false;
};
/// Empty if the architecture has no such module.
using Found = std::optional<LinkName>;

/// Returns the second of the pair that begins with `key`.
Found found(std::initializer_list<std::pair<const char*, const char*>> pairs, const std::string& key,
            const std::string& below = "") {
  for (const auto& [theirs, ours] : pairs)
    if (key == theirs) return LinkName{below + ours};
  return {};
}

Found resnet(const std::string& module, const Tensors& tensors) {
  const Parts parts = split(module);
  if (parts.size() == 1) return found({{"conv1", "conv1"}, {"bn1", "bn1"}, {"fc", "fc6"}}, module);
  const int block = number(parts[1]);
  const Found stage =
      found({{"layer1", "res2/"}, {"layer2", "res3/"}, {"layer3", "res4/"}, {"layer4", "res5/"}}, parts[0]);
  if (!stage || block < 0) return {};
  const std::string place = stage->name + (block == 0 ? "a/" : fmt::format("b{}/", block));
  if (parts.size() == 4 && parts[2] == "downsample") {
    const bool bottleneck = tensors.contains(fmt::format("{}.{}.conv3.weight", parts[0], parts[1]));
    return bottleneck ? found({{"0", "conv4"}, {"1", "bn4"}}, parts[3], place)
                      : found({{"0", "conv3"}, {"1", "bn3"}}, parts[3], place);
  }
  if (parts.size() != 3) return {};
  return found(
      {{"conv1", "conv1"}, {"bn1", "bn1"}, {"conv2", "conv2"}, {"bn2", "bn2"}, {"conv3", "conv3"}, {"bn3", "bn3"}},
      parts[2], place);
}

Found vgg(const std::string& module, const Tensors& tensors) {
  if (const Found link = found(
          {{"classifier.0", "fc6"}, {"classifier.3", "fc7"}, {"classifier.6", "fc8"}, {"head.fc", "fc8"}}, module))
    return link;
  if (module == "pre_logits.fc1") return LinkName{"fc6", true};
  if (module == "pre_logits.fc2") return LinkName{"fc7", true};
  const Parts parts = split(module);
  const int wanted = parts.size() == 2 && parts[0] == "features" ? number(parts[1]) : -1;
  if (wanted < 0) return {};
  // indices count all layers: convolutions, ReLUs between them, and a pooling at the end of each stage
  int stage = 1, place = 1, at = 0;
  for (int next = 1; at < wanted; ++next) {
    if (!tensors.contains(fmt::format("features.{}.weight", next))) {
      if (next > wanted) return {};
      continue;
    }
    if (next - at == 2) {
      ++place;
    } else if (next - at == 3) {
      ++stage, place = 1;
    } else {
      return {};
    }
    at = next;
  }
  if (at != wanted) return {};
  return LinkName{fmt::format("conv{}_{}", stage, place)};
}

Found mobilenet(const std::string& module, const Tensors&) {
  const Parts parts = split(module);
  if (const Found link = found({{"features.0.0", "first"},
                                {"features.0.1", "first_bn"},
                                {"features.18.0", "last"},
                                {"features.18.1", "last_bn"},
                                {"classifier.1", "fc"}},
                               module))
    return link;
  const int block = parts.size() >= 4 && parts[0] == "features" && parts[2] == "conv" ? number(parts[1]) : -1;
  if (block < 1) return {};
  const std::string rest = parts.size() == 4 ? parts[3] : parts.size() == 5 ? parts[3] + "." + parts[4] : "";
  const std::string place = fmt::format("{}/", block - 1);
  if (block == 1)
    return found({{"0.0", "depthwise"}, {"0.1", "depthwise_bn"}, {"1", "project"}, {"2", "project_bn"}}, rest, place);
  return found({{"0.0", "expand"},
                {"0.1", "expand_bn"},
                {"1.0", "depthwise"},
                {"1.1", "depthwise_bn"},
                {"2", "project"},
                {"3", "project_bn"}},
               rest, place);
}

Found timm_mobilenet(const std::string& module, const Tensors&) {
  const Parts parts = split(module);
  if (parts.size() == 1)
    return found(
        {{"conv_stem", "first"}, {"bn1", "first_bn"}, {"conv_head", "last"}, {"bn2", "last_bn"}, {"classifier", "fc"}},
        module);
  constexpr std::array kBlocks = {1, 2, 3, 4, 3, 3, 1};  // number of blocks in each stage
  const int stage = parts.size() == 4 && parts[0] == "blocks" ? number(parts[1]) : -1;
  if (stage < 0 || stage >= static_cast<int>(kBlocks.size())) return {};
  int block = number(parts[2]);
  if (block < 0 || block >= kBlocks[static_cast<std::size_t>(stage)]) return {};
  for (int i = 0; i < stage; ++i) block += kBlocks[static_cast<std::size_t>(i)];
  const std::string place = fmt::format("{}/", block);
  if (stage == 0)
    return found({{"conv_dw", "depthwise"}, {"bn1", "depthwise_bn"}, {"conv_pw", "project"}, {"bn2", "project_bn"}},
                 parts[3], place);
  return found({{"conv_pw", "expand"},
                {"bn1", "expand_bn"},
                {"conv_dw", "depthwise"},
                {"bn2", "depthwise_bn"},
                {"conv_pwl", "project"},
                {"bn3", "project_bn"}},
               parts[3], place);
}

/// A known network, identified by a tensor that no other network has.
struct Architecture {
  const char* rule;
  const char* name;
  const char* tensor;
  Found (*link)(const std::string& module, const Tensors& tensors);
};
constexpr Architecture kArchitectures[] = {
    {"torchvision", "ResNet", "layer1.0.conv1.weight", resnet},
    {"torchvision", "VGG without normalization", "features.2.weight", vgg},
    {"torchvision", "MobileNet-V2", "features.1.conv.0.0.weight", mobilenet},
    {"timm", "ResNet", "layer1.0.conv1.weight", resnet},
    {"timm", "VGG without normalization", "features.2.weight", vgg},
    {"timm", "MobileNet-V2", "blocks.1.0.conv_pwl.weight", timm_mobilenet},
};

const Architecture& architecture_of(const std::string& file, const std::string& rule, const Tensors& tensors) {
  std::vector<std::string> known;
  for (const Architecture& architecture : kArchitectures) {
    if (rule != architecture.rule) continue;
    if (tensors.contains(architecture.tensor)) return architecture;
    known.emplace_back(architecture.name);
  }
  fail<FileError>(
      "{}: its names match none of the known networks of {} ({}){}; use the rule 'torch' for a network whose modules "
      "have the names of links",
      file, rule, fmt::join(known, ", "), tensors.empty() ? "" : fmt::format(" ({}, …)", tensors.begin()->first));
}

/// Returns a parameter's name in its link.
std::string in_link(const std::string& leaf, bool normalizes) {
  if (leaf == "weight") return normalizes ? "gamma" : "W";
  if (leaf == "bias") return normalizes ? "beta" : "b";
  if (leaf == "running_mean") return "avg_mean";
  if (leaf == "running_var") return "avg_var";
  return leaf == "num_batches_tracked" ? "N" : leaf;
}

std::string joined(const std::string& module, const std::string& leaf) {
  return module.empty() ? leaf : module + "." + leaf;
}

/// Renames the tensors of one file.
class Naming {
 public:
  explicit Naming(const Tensors& tensors) : tensors_(tensors) {}
  bool has(const std::string& module, const char* leaf) const { return tensors_.contains(joined(module, leaf)); }
  /// A normalization has running statistics, or a scale with the shape of its shift.
  bool normalizes(const std::string& module) const {
    if (has(module, "running_mean")) return true;
    const auto scale = tensors_.find(joined(module, "weight")), shift = tensors_.find(joined(module, "bias"));
    return scale != tensors_.end() && shift != tensors_.end() && scale->second == shift->second;
  }

 private:
  const Tensors& tensors_;
};

}  // namespace

Names::Names(const std::vector<std::string>& rules) {
  for (const std::string& rule : rules) {
    if (const std::size_t sign = rule.find('='); sign != std::string::npos && sign > 0) {
      renamings_.emplace_back(rule.substr(0, sign), rule.substr(sign + 1));
      for (std::string* name : {&renamings_.back().first, &renamings_.back().second})
        std::replace(name->begin(), name->end(), '/', '.');
    } else if (rule != "torch" && rule != "torchvision" && rule != "timm") {
      fail<ValueError>("names: unknown rule '{}'; expected torch, torchvision, timm or THEIRS=OURS", rule);
    } else if (!rule_.empty()) {
      fail<ValueError>("names: '{}' and '{}' are two rules; a file takes only one besides renamings", rule_, rule);
    } else {
      rule_ = rule;
    }
  }
  if (rule_.empty() && !renamings_.empty()) rule_ = "torch";
}

std::string Names::text() const {
  std::string text = rule_;
  for (const auto& [theirs, ours] : renamings_) text += fmt::format(" {}={}", theirs, ours);
  return text;
}

std::vector<Names::Tensor> Names::of(const std::string& file,
                                     const std::vector<std::pair<std::string, Shape>>& tensors) const {
  // renamed, in the file's order
  struct Renamed {
    std::string name;
    bool by_hand = false;
  };
  std::vector<Renamed> names;
  for (const auto& [theirs, shape] : tensors) {
    names.push_back({theirs});
    std::replace(names.back().name.begin(), names.back().name.end(), '/', '.');
  }
  for (const auto& [from, to] : renamings_) {
    bool any = false;
    for (Renamed& tensor : names) {
      if (tensor.name != from && !tensor.name.starts_with(from + ".")) continue;
      std::string rest = tensor.name.substr(from.size());
      if (to.empty() && !rest.empty()) rest.erase(0, 1);
      if (to.empty() && rest.empty()) fail<FileError>("{}: '{}=' would leave the tensor without a name", file, from);
      tensor = {to + rest, true};
      any = true;
    }
    if (!any) fail<FileError>("{}: '{}={}' renames nothing: there is no such tensor or module", file, from, to);
  }

  Tensors shapes;
  for (std::size_t i = 0; i < tensors.size(); ++i)
    if (!shapes.emplace(names[i].name, tensors[i].second).second)
      fail<FileError>("{}: two tensors would be called '{}'", file, names[i].name);
  const bool knows_modules = rule_ == "torchvision" || rule_ == "timm";
  const Architecture* architecture = knows_modules ? &architecture_of(file, rule_, shapes) : nullptr;

  const Naming naming(shapes);
  std::vector<Tensor> result;
  std::set<std::string> seen;
  const auto add = [&](Tensor tensor) {
    std::replace(tensor.name.begin(), tensor.name.end(), '/', '.');
    if (!seen.insert(tensor.name).second) fail<FileError>("{}: two tensors would be called '{}'", file, tensor.name);
    result.push_back(std::move(tensor));
  };
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    const std::string& name = names[i].name;
    if (empty()) {
      add({name, tensors[i].first, tensors[i].second});
      continue;
    }
    const std::size_t dot = name.rfind('.');
    const std::string module = dot == std::string::npos ? "" : name.substr(0, dot),
                      leaf = dot == std::string::npos ? name : name.substr(dot + 1);
    Found link = architecture ? architecture->link(module, shapes) : Found();
    if (!link && architecture && !names[i].by_hand)
      fail<FileError>("{}: '{}' is no tensor of {}'s {}; THEIRS=OURS names it", file, name, rule_, architecture->name);
    if (!link) link = LinkName{module};
    Shape shape = tensors[i].second;
    if (link->takes_rows && leaf == "weight" && shape.size() > 0)
      shape = Shape{shape[0], shape[0] == 0 ? 0 : shape.product() / shape[0]};
    add({joined(link->name, in_link(leaf, naming.normalizes(module))), tensors[i].first, shape});
    if (leaf == "running_var" && !naming.has(module, "num_batches_tracked"))
      add({joined(link->name, "N"), "", Shape{}});
  }
  return result;
}

}  // namespace catenary::serializers
