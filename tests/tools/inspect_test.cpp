// `catenary inspect` on files of every kind, the libraries that programs are linked with, and drivers without a GPU.

#include <dlfcn.h>
#include <gtest/gtest.h>

#include <complex>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "catenary/core/os/process.h"
#include "catenary/io/npz.h"
#include "catenary/io/safetensors.h"
#include "tests/folder.h"
#include "tests/paths.h"
#include "tests/texts.h"

namespace ct = catenary;
namespace io = ct::io;
using nlohmann::json;
using tests::Folder;

namespace {

using tests::has;

ct::os::ProcessResult inspect(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), {tests::build_path("bin/catenary"), "inspect"});
  return ct::os::run_process(arguments, {.timeout = 60});
}

template <class T>
io::HostArray array_of(const ct::Shape& shape, const std::vector<T>& values) {
  return io::HostArray::from<T>(shape, values);
}

TEST(Inspect, EntriesOfAnNpz) {
  const Folder folder;
  io::NpzWriter writer(folder / "a.npz");
  writer.write("model/W", array_of<float>({2, 3}, {1, 2, 3, 4, 5, 6}));
  writer.write("count", array_of<std::int32_t>({}, {-7}));
  writer.write("empty", array_of<double>({0, 4}, {}));
  writer.write("not", array_of<double>({2}, {1, NAN}));
  writer.write("name", std::string("Adam"));
  writer.write("none", io::None{});
  writer.write("z", array_of<std::complex<float>>({1}, {{1, 2}}));
  writer.finish();
  const ct::os::ProcessResult text = inspect({folder / "a.npz"});
  EXPECT_TRUE(text.ok()) << text.errors;
  std::istringstream lines(text.output);
  std::vector<std::vector<std::string>> words;
  for (std::string line; std::getline(lines, line);) {
    std::istringstream stream(line);
    words.emplace_back(std::istream_iterator<std::string>(stream), std::istream_iterator<std::string>());
  }
  using Words = std::vector<std::string>;
  ASSERT_EQ(words.size(), 9u) << text.output;
  EXPECT_EQ(words[0], (Words{folder / "a.npz:", "npz"}));
  EXPECT_EQ(words[1], (Words{"name", "dtype", "shape", "min", "mean", "max"}));
  EXPECT_EQ(words[2], (Words{"model/W", "float32", "(2,", "3)", "1", "3.5", "6"}));
  EXPECT_EQ(words[3], (Words{"count", "int32", "()", "-7", "-7", "-7"}));
  EXPECT_EQ(words[4], (Words{"empty", "float64", "(0,", "4)"}));
  EXPECT_EQ(words[6], (Words{"name", "str", "()", "Adam"}));
  EXPECT_EQ(words[7], (Words{"none", "None"}));
  EXPECT_EQ(words[8], (Words{"z", "complex64", "(1,)"}));  // complex numbers have no order

  const json object = json::parse(inspect({folder / "a.npz", "--json"}).output);
  EXPECT_EQ(object["schema"], 1);
  const json& entries = object["files"][0]["entries"];
  ASSERT_EQ(entries.size(), 7u);
  EXPECT_EQ(entries[0]["mean"], 3.5);
  EXPECT_TRUE(entries[2]["max"].is_null());
  EXPECT_TRUE(entries[3]["mean"].is_null());  // JSON has no NaN
  EXPECT_EQ(entries[4]["text"], "Adam");
}

TEST(Inspect, QuantisedWeightsHaveTheirKindAndShape) {
  const Folder folder;
  const std::vector<float> ones(4 * 60, 1);
  io::write_safetensors(folder / "plain.safetensors", {{"fc.W", array_of<float>({4, 60}, ones)},
                                                       {"conv.W", array_of<float>({4, 15, 2, 2}, ones)},
                                                       {"fc.b", array_of<float>({4}, {1, 2, 3, 4})}});
  for (const std::string file : {"small.safetensors", "small.npz"}) {
    const ct::os::ProcessResult made = ct::os::run_process({tests::build_path("bin/catenary"), "quantize", "--kind",
                                                            "Q4_0", folder / "plain.safetensors", "-o", folder / file},
                                                           {.timeout = 60});
    ASSERT_TRUE(made.ok()) << made.errors;
    const std::string slash = file.ends_with(".npz") ? "/" : ".";
    const std::string text = inspect({folder / file}).output;
    EXPECT_FALSE(has(text, "uint8")) << text;
    EXPECT_FALSE(has(text, "int64")) << text;
    EXPECT_FALSE(has(text, "_blocks")) << text;
    EXPECT_TRUE(has(text, "144 bytes of blocks")) << text;
    const json entries = json::parse(inspect({folder / file, "--json"}).output)["files"][0]["entries"];
    ASSERT_EQ(entries.size(), 3u) << entries;
    std::map<std::string, json> all;
    for (const json& entry : entries) all[entry["name"]] = entry;
    const json fc = all["fc" + slash + "W"], conv = all["conv" + slash + "W"];
    EXPECT_EQ(fc["dtype"], "Q4_0");
    EXPECT_EQ(fc["shape"], "(4, 60)");
    EXPECT_EQ(fc["bytes"], 4 * 2 * 18);
    EXPECT_TRUE(fc["mean"].is_null());
    EXPECT_EQ(conv["shape"], "(4, 15, 2, 2)");
    EXPECT_EQ(all["fc" + slash + "b"]["mean"], 2.5);
  }
  // an invalid kind leaves its blocks as two arrays
  io::write_safetensors(folder / "no.safetensors",
                        {{"W_blocks", array_of<std::uint8_t>({1, 34}, std::vector<std::uint8_t>(34))},
                         {"W_kind", array_of<std::int64_t>({3}, {0, 2, 32})},
                         {"x_blocks", array_of<std::uint8_t>({1}, {7})}});
  const std::string other = inspect({folder / "no.safetensors"}).output;
  for (const char* const name : {"W_blocks", "W_kind", "x_blocks"}) EXPECT_TRUE(has(other, name)) << other;
}

TEST(Inspect, EveryKindOfFile) {
  const Folder folder;
  io::write_safetensors(folder / "a.safetensors", {{"w", array_of<std::int64_t>({3}, {1, 2, 6})}});
  const std::string fixtures = tests::source_path("tests/data/io/"), mnist = tests::source_path("data/mnist/");
  const std::vector<std::string> files = {folder / "a.safetensors", fixtures + "le_f4.npy",
                                          mnist + "t10k-images-idx3-ubyte.gz"};
  std::vector<std::string> arguments = files;
  arguments.push_back("--json");
  const ct::os::ProcessResult result = inspect(arguments);
  EXPECT_TRUE(result.ok()) << result.errors;
  const json list = json::parse(result.output)["files"];
  ASSERT_EQ(list.size(), 3u);
  for (std::size_t i = 0; i < 3; ++i) EXPECT_EQ(list[i]["file"], files[i]);
  EXPECT_EQ(list[0]["entries"][0]["name"], "w");
  EXPECT_EQ(list[0]["entries"][0]["mean"], 3.0);
  EXPECT_EQ(list[1]["kind"], "npy");
  EXPECT_EQ(list[1]["entries"][0]["dtype"], "float32");
  EXPECT_EQ(list[2]["entries"][0]["shape"], "(10000, 28, 28)");
  EXPECT_EQ(list[2]["entries"][0]["max"], 255.0);
  EXPECT_NEAR(list[2]["entries"][0]["mean"].get<double>(), 33.79, 0.01);
}

TEST(Inspect, AnIndexOfSafetensorsAndItsFolder) {
  const std::string folder = tests::source_path("tests/data/io/sharded"),
                    index = folder + "/model.safetensors.index.json";
  const ct::os::ProcessResult result = inspect({index, folder, "--json"});
  EXPECT_TRUE(result.ok()) << result.errors;
  for (const json& file : json::parse(result.output)["files"]) {
    EXPECT_EQ(file["kind"], "safetensors index");
    ASSERT_EQ(file["entries"].size(), 3u);
    EXPECT_EQ(file["entries"][1]["name"], "layer.bias");
    EXPECT_EQ(file["entries"][1]["dtype"], "bfloat16");
    EXPECT_EQ(file["entries"][1]["mean"], -0.5);
    EXPECT_EQ(file["entries"][1]["file"], folder + "/model-00002-of-00002.safetensors");
  }
}

TEST(Inspect, AGgufFile) {
  const std::string path = tests::source_path("tests/data/io/gguf/model.gguf");
  const ct::os::ProcessResult result = inspect({path, "--json"});
  EXPECT_TRUE(result.ok()) << result.errors;
  const json file = json::parse(result.output)["files"][0];
  EXPECT_EQ(file["kind"], "GGUF");
  const auto find = [](const json& list, const char* by, const std::string& name) {
    for (const json& one : list)
      if (one[by] == name) return one;
    return json();
  };
  EXPECT_EQ(find(file["metadata"], "key", "general.architecture")["first"], json({"llama"}));
  EXPECT_EQ(find(file["metadata"], "key", "t.bools"),
            json({{"key", "t.bools"}, {"type", "bool"}, {"count", 3}, {"first", {true, false, true}}}));
  EXPECT_EQ(find(file["metadata"], "key", "t.u64")["first"][0], 9223372036854775809u);
  const json blocks = find(file["entries"], "name", "q4_k");
  EXPECT_EQ(blocks["dtype"], "Q4_K");
  EXPECT_EQ(blocks["shape"], "(2, 256)");
  EXPECT_EQ(blocks["bytes"], 288);
  EXPECT_EQ(find(file["entries"], "name", "f64")["bytes"], 48);

  const std::string text = inspect({path}).output;
  EXPECT_TRUE(has(text, "model.gguf: GGUF\n  general.architecture  string           \"llama\"\n")) << text;
  EXPECT_TRUE(has(text, "  t.ints                int32 × 3        3, -1, 7\n")) << text;
  EXPECT_TRUE(has(text, "  q8_0          Q8_0      (3, 64)                   204\n")) << text;
  const std::string tokens = inspect({tests::source_path("tests/data/io/gguf/vocabulary.gguf")}).output;
  EXPECT_TRUE(has(tokens, "string × 50      \"t0\", \"t1\"")) << tokens;
  EXPECT_TRUE(has(tokens, "\"t7\", …\n")) << tokens;
  EXPECT_FALSE(has(tokens, "\"t8\"")) << tokens;
}

TEST(Inspect, FilesThatItCannotRead) {
  const Folder folder;
  const std::string text = folder.write("notes.txt", "some notes\n"), missing = folder / "missing.npz";
  const std::string good = tests::source_path("tests/data/io/le_f4.npy");
  const ct::os::ProcessResult result = inspect({text, missing, good, "--json"});
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_TRUE(
      has(result.errors, "notes.txt: this is a file of unknown kind; NPY, NPZ, safetensors, GGUF and IDX files"))
      << result.errors;
  EXPECT_TRUE(has(result.errors, "missing.npz: ")) << result.errors;
  const json list = json::parse(result.output)["files"];
  ASSERT_EQ(list.size(), 3u);
  EXPECT_TRUE(list[0].contains("error") && list[1].contains("error") && !list[2].contains("error"));
  EXPECT_EQ(inspect({}).exit_code, 2);
}

/// The libraries that a file is linked with, by their sonames.
std::set<std::string> linked(const std::string& file) {
  const ct::os::ProcessResult result = ct::os::run_process({"ldd", file}, {.timeout = 60});
  EXPECT_TRUE(result.ok()) << result.errors;
  EXPECT_FALSE(has(result.output, "not found")) << result.output;
  std::set<std::string> names;
  std::istringstream lines(result.output);
  for (std::string line; std::getline(lines, line);) {
    std::string name;
    std::istringstream(line) >> name;
    name = name.substr(name.rfind('/') + 1);
    names.insert(name.substr(0, name.find(".so")));
  }
  return names;
}

TEST(Linking, NoLibraryOfADevice) {
  // libraries for PNG, JPEG, NPZ and zlib, digests, text formatting and tokenizers, and the language's own
  const std::set<std::string> expected = {
      "libpng16",  "libjpeg",         "libzip",           "libz",        "libbz2",     "liblzma",  "libzstd",
      "libcrypto", "libfmt",          "libpcre2-8",       "libutf8proc", "libstdc++",  "libgcc_s", "libm",
      "libc",      "ld-linux-x86-64", "ld-linux-aarch64", "linux-vdso",  "libcatenary"};
  for (const char* file : {"lib/libcatenary.so", "bin/catenary", "bin/train_mnist"}) {
    for (const std::string& name : linked(tests::build_path(file)))
      EXPECT_TRUE(expected.contains(name)) << file << " is linked with " << name;
  }
}

TEST(Hip, ItsOwnLibraryWithoutACard) {
  const ct::os::ProcessResult result =
      ct::os::run_process({tests::build_path("bin/catenary"), "info", "--json"}, {.timeout = 60});
  ASSERT_TRUE(result.ok()) << result.output << result.errors;
  bool here = false;
  for (const char* name : {"libamdhip64.so.5", "libamdhip64.so.6", "libamdhip64.so.7"}) {
    if (void* library = ::dlopen(name, RTLD_LAZY | RTLD_LOCAL)) {
      here = true;
      ::dlclose(library);
    }
  }
  const bool card = ct::os::exists("/dev/kfd");
  const json info = json::parse(result.output);
  for (const json& backend : info["backends"]) {
    if (backend["name"] != "hip") continue;
    const std::string reason = backend["reason"];
    if (card) continue;
    EXPECT_TRUE(backend["devices"].empty()) << backend;
    EXPECT_TRUE(has(reason, here ? "/dev/kfd is missing" : "not found")) << reason;
    EXPECT_TRUE(has(reason, here ? "hipError" : "libamdhip64.so")) << reason;
    return;
  }
  EXPECT_TRUE(card) << result.output;
}

TEST(Opencl, NoDriverNamesTheRemedy) {
  const ct::os::ProcessResult result =
      ct::os::run_process({tests::build_path("bin/catenary"), "bench", "launch", "-d", "opencl:0"},
                          {.timeout = 60, .environment = {{"OCL_ICD_VENDORS", "/nonexistent"}}});
  EXPECT_EQ(result.exit_code, 1);
  for (const char* text :
       {"device 'opencl:0' is not available: this machine offers cpu\n  opencl: ", "\n`catenary doctor`"})
    EXPECT_TRUE(has(result.errors, text)) << text << " is not in\n" << result.errors;
  EXPECT_TRUE(has(result.errors, "`apt install pocl-opencl-icd` runs OpenCL on the processor") ||
              has(result.errors, "`apt install ocl-icd-libopencl1`"))
      << result.errors;
  EXPECT_FALSE(has(result.errors, "hip: ")) << result.errors;
}

}  // namespace
