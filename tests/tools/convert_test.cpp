// `catenary convert`: tensors of other frameworks' files under Catenary's names.

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "catenary/core/os/process.h"
#include "catenary/io/npz.h"
#include "catenary/io/safetensors_index.h"
#include "tests/folder.h"
#include "tests/paths.h"
#include "tests/texts.h"

namespace ct = catenary;
namespace io = ct::io;
using tests::Folder;

namespace {

using Tensors = std::vector<std::pair<std::string, io::HostArray>>;
using Strings = std::vector<std::string>;
using tests::has;

ct::os::ProcessResult convert(Strings arguments) {
  arguments.insert(arguments.begin(), {tests::build_path("bin/catenary"), "convert"});
  return ct::os::run_process(arguments, {.timeout = 60});
}
std::string no_conversion(const Strings& arguments) {
  const ct::os::ProcessResult result = convert(arguments);
  EXPECT_EQ(result.exit_code, 1) << result.output << result.errors;
  return result.errors;
}

io::HostArray counted_from(const ct::Shape& shape, float from) {
  io::HostArray array = io::HostArray::empty(ct::Dtype::float32, shape);
  std::iota(array.as<float>(), array.as<float>() + array.size(), from);
  return array;
}

/// Some tensors of a ResNet.
Tensors resnet() {
  return {{"conv1.weight", counted_from({2, 3, 1, 1}, 0)},
          {"bn1.weight", counted_from({2}, 10)},
          {"bn1.bias", counted_from({2}, 20)},
          {"bn1.running_mean", counted_from({2}, 30)},
          {"bn1.running_var", counted_from({2}, 40)},
          {"layer1.0.conv1.weight", counted_from({1, 1, 1, 1}, 50)},
          {"layer2.3.downsample.0.weight", counted_from({1, 1, 1, 1}, 60)},
          {"layer2.3.downsample.1.num_batches_tracked", io::HostArray::scalar(std::int64_t{70})},
          {"fc.bias", counted_from({3}, 80)}};
}
const Strings kOurs = {"conv1.W", "bn1.gamma",      "bn1.beta",        "bn1.avg_mean",  "bn1.avg_var",
                       "bn1.N",   "res2.a.conv1.W", "res3.b3.conv3.W", "res3.b3.bn3.N", "fc6.b"};

TEST(Convert, TorchvisionsNamesBecomeOurs) {
  const Folder folder;
  io::write_safetensors(folder / "theirs.safetensors", resnet());
  const auto result =
      convert({folder / "theirs.safetensors", "-o", folder / "ours.safetensors", "--from", "torchvision"});
  EXPECT_TRUE(result.ok()) << result.errors;
  EXPECT_EQ(result.output, folder / "ours.safetensors" + ": 10 tensors of " + (folder / "theirs.safetensors") + "\n");
  const io::SafetensorsReader ours(folder / "ours.safetensors");
  Strings names = ours.names(), expected = kOurs;
  std::sort(names.begin(), names.end()), std::sort(expected.begin(), expected.end());
  EXPECT_EQ(names, expected);
  const io::HostArray var = ours.read("bn1.avg_var");
  EXPECT_EQ(std::vector<float>(var.as<float>(), var.as<float>() + 2), (std::vector<float>{40, 41}));
  EXPECT_EQ(*ours.read("bn1.N").as<std::int64_t>(), 0);
  EXPECT_EQ(*ours.read("res3.b3.bn3.N").as<std::int64_t>(), 70);
}

TEST(Convert, RulesStandBeforeTheFile) {
  const Folder folder;
  io::write_safetensors(folder / "theirs.safetensors", resnet());
  const auto result =
      convert({"--from", "torchvision", "fc=last", folder / "theirs.safetensors", "-o", folder / "ours.safetensors"});
  EXPECT_TRUE(result.ok()) << result.errors;
  EXPECT_TRUE(io::SafetensorsReader(folder / "ours.safetensors").contains("last.b"));
  const auto none = convert({"--from", "torchvision", "-o", folder / "x.safetensors"});
  EXPECT_EQ(none.exit_code, 2);
  EXPECT_NE(none.errors.find("FILE is required"), std::string::npos) << none.errors;
}

TEST(Convert, AnIndexAndItsFolder) {
  const Folder folder;
  const std::string index = io::write_sharded_safetensors(folder / "theirs", resnet(), 10);
  for (const std::string& from : {index, folder / "theirs"}) {
    const auto result = convert({from, "-o", folder / "ours.npz"});
    EXPECT_TRUE(result.ok()) << result.errors;
    const io::NpzReader ours(folder / "ours.npz");
    EXPECT_EQ(ours.names().size(), 9u);
    const io::HostArray bias = ours.read_array("fc/bias");
    EXPECT_EQ(std::vector<float>(bias.as<float>(), bias.as<float>() + 3), (std::vector<float>{80, 81, 82}));
  }
}

TEST(Convert, ToNpzAndFromIt) {
  const Folder folder;
  io::write_safetensors(folder / "theirs.safetensors", resnet());
  EXPECT_TRUE(convert({folder / "theirs.safetensors", "-o", folder / "ours.npz", "--from", "timm", "fc=last"}).ok());
  const io::NpzReader ours(folder / "ours.npz");
  Strings names = ours.names(), expected = kOurs;
  expected.back() = "last.b";
  for (std::string& name : expected) std::replace(name.begin(), name.end(), '.', '/');
  std::sort(names.begin(), names.end()), std::sort(expected.begin(), expected.end());  // safetensors sorts by size
  EXPECT_EQ(names, expected);
  io::NpzWriter writer(folder / "theirs.npz");
  for (const auto& [name, array] : resnet()) writer.write(name, array);
  writer.finish();
  EXPECT_TRUE(
      convert({folder / "theirs.npz", "-o", folder / "again.safetensors", "--from", "torch", "layer1.0=body"}).ok());
  EXPECT_TRUE(io::SafetensorsReader(folder / "again.safetensors").contains("body.conv1.W"));
  // without rules only the file format changes
  EXPECT_TRUE(convert({folder / "ours.npz", "-o", folder / "same.safetensors"}).ok());
  EXPECT_TRUE(io::SafetensorsReader(folder / "same.safetensors").contains("res2.a.conv1.W"));
}

TEST(Convert, FilesThatCannotBeConverted) {
  const Folder folder;
  const std::string theirs = folder / "theirs.safetensors", out = folder / "ours.npz";
  io::write_safetensors(theirs, resnet());
  EXPECT_TRUE(has(no_conversion({theirs, "-o", folder / "ours.pth"}), "must end with .safetensors or .npz"));
  EXPECT_TRUE(has(no_conversion({theirs, "-o", out, "--from", "keras"}),
                  "unknown rule 'keras'; expected torch, torchvision, timm or"));
  EXPECT_TRUE(
      has(no_conversion({theirs, "-o", out, "--from", "torchvision", "head=fc6"}), "'head=fc6' renames nothing"));
  const std::string pth = folder.write("model.pth", std::string("\x80\x02\x8a\nl\xfc\x9c\x46\xf9 j\xa8P\x19.", 15));
  EXPECT_TRUE(has(no_conversion({pth, "-o", out}), "a file of PyTorch's own; in Python, safetensors.torch.save_file("));
  EXPECT_TRUE(has(no_conversion({folder.write("text", "none"), "-o", out}), "text"));
  EXPECT_FALSE(ct::os::exists(out));
  const auto help = convert({"--help"});
  for (const char* word : {"torchvision", "timm", "THEIRS=OURS", ".safetensors or .npz"})
    EXPECT_TRUE(has(help.output, word)) << help.output;
}

}  // namespace
