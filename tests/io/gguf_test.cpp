#include "catenary/io/gguf.h"

#include <cmath>
#include <random>

#include "catenary/io/identify.h"
#include "counted_memory.h"
#include "helpers.h"
#include "tests/texts.h"

namespace catenary::io {
namespace {

using namespace test;
using tests::has;

void append(std::string& to, const std::string& text) {
  const std::uint64_t length = text.size();
  to.append(reinterpret_cast<const char*>(&length), 8);
  to += text;
}
template <class T>
void append(std::string& to, T value) {
  to.append(reinterpret_cast<const char*>(&value), sizeof value);
}

/// Builds a file from unchecked pieces.
struct Raw {
  std::uint32_t version = 3;
  std::uint64_t tensor_count = 0, value_count = 0;
  std::string values, tensors, data;

  template <class... Args>
  Raw& value(const std::string& key, GgufType type, Args... args) {
    ++value_count;
    append(values, key);
    append(values, static_cast<std::uint32_t>(type));
    (append(values, args), ...);
    return *this;
  }
  Raw& tensor(const std::string& name, const std::vector<std::uint64_t>& ne, std::uint32_t type, std::uint64_t offset) {
    ++tensor_count;
    append(tensors, name);
    append(tensors, static_cast<std::uint32_t>(ne.size()));
    for (const std::uint64_t n : ne) append(tensors, n);
    append(tensors, type);
    append(tensors, offset);
    return *this;
  }
  Raw& bytes(std::size_t n) {
    data = std::string(n, '\1');
    return *this;
  }
  std::string str(std::size_t alignment = 32) const {
    std::string file = "GGUF";
    append(file, version);
    append(file, tensor_count);
    append(file, value_count);
    file += values + tensors;
    if (!data.empty()) file.resize((file.size() + alignment - 1) / alignment * alignment, '\0');
    return file + data;
  }
};

/// Reads everything from a reader.
void read_all(const GgufReader& file) {
  for (const std::string_view key : file.keys()) {
    const GgufReader::Value& value = *file.find(key);
    const bool is_array = value.type == GgufType::array;
    if (value.element != GgufType::array) file.value(key);
    if (value.element == GgufType::string) is_array ? (void)file.texts(key) : (void)file.text(key);
  }
  for (const std::string& name : file.names())
    if (file.tensor(name).dtype || file.tensor(name).kind) file.read(name);
}

std::string error_of(const std::string& file) {
  return file_error([&] { read_all(GgufReader(as_bytes(file), "hostile")); });
}

const std::string& model_path() {
  static const std::string path = data_path("io/gguf/model.gguf");
  return path;
}

TEST(Gguf, MetadataThatThePackageWrote) {
  const GgufReader file(model_path());
  EXPECT_EQ(file.version(), 3);
  EXPECT_EQ(file.alignment(), 32u);
  ASSERT_EQ(file.keys().size(), 21u);
  EXPECT_EQ(file.keys()[0], "general.architecture");
  EXPECT_EQ(file.text("general.architecture"), "llama");
  EXPECT_EQ(file.text("t.text"), "h\u00e9 \"quoted\"");
  EXPECT_EQ(file.text("t.none"), "");
  const std::vector<std::pair<std::string, std::int64_t>> integers = {{"t.u8", 200},
                                                                      {"t.i8", -100},
                                                                      {"t.u16", 60000},
                                                                      {"t.i16", -30000},
                                                                      {"t.u32", 4000000000},
                                                                      {"t.i32", -2000000000},
                                                                      {"t.i64", -(std::int64_t{1} << 62)}};
  for (const auto& [key, value] : integers) {
    EXPECT_EQ(file.integer(key), value) << key;
    EXPECT_EQ(file.real(key), static_cast<double>(value)) << key;
  }
  EXPECT_EQ(file.real("t.u64"), 0x1p63);
  EXPECT_EQ(std::get<std::uint64_t>(file.value("t.u64")), (std::uint64_t{1} << 63) + 1);
  EXPECT_TRUE(has(file_error([&] { file.integer("t.u64"); }), "9223372036854775809, which int64 does not hold"));
  EXPECT_EQ(file.real("t.f32"), static_cast<double>(0.1f));
  EXPECT_EQ(file.real("t.f64"), 0.1);
  EXPECT_TRUE(file.flag("t.yes"));
  EXPECT_FALSE(file.flag("t.no"));
  EXPECT_EQ(file.texts("t.texts"), (std::vector<std::string_view>{"<s>", "\u2581a", "", "\u4e16"}));
  EXPECT_EQ(file.integers("t.ints"), (std::vector<std::int64_t>{3, -1, 7}));
  EXPECT_EQ(file.integers("t.u8s"), (std::vector<std::int64_t>{1, 2, 255}));
  EXPECT_EQ(file.integers("t.u64s"), (std::vector<std::int64_t>{INT64_MAX, 5}));
  EXPECT_EQ(file.reals("t.floats"), (std::vector<double>{0.5, -1.25}));
  EXPECT_EQ(file.reals("t.ints"), (std::vector<double>{3, -1, 7}));
  EXPECT_EQ(file.flags("t.bools"), (std::vector<bool>{true, false, true}));
  EXPECT_EQ(file.find("t.ints")->element, GgufType::int32);
  EXPECT_EQ(file.find("t.ints")->count, 3u);
  EXPECT_EQ(file.find("t.f32")->end - file.find("t.f32")->begin, 4u);
  EXPECT_EQ(file.find("t"), nullptr);
  // views into the map survive a move of the reader
  GgufReader first(model_path());
  const std::string_view text = first.text("t.text");
  const GgufReader second(std::move(first));
  EXPECT_EQ(second.text("t.text").data(), text.data());
}

TEST(Gguf, WrongRequestsAreRefused) {
  const GgufReader file(model_path());
  const std::string at = model_path() + ": at byte ";
  for (const auto& [message, expected] : std::vector<std::pair<std::string, std::string>>{
           {file_error([&] { file.text("absent"); }), model_path() + ": no key 'absent' in its metadata (21 are)"},
           {file_error([&] { file.text("t.u8"); }), "'t.u8' is of type uint8, expected a string"},
           {file_error([&] { file.text("t.texts"); }), "is of type array of string, expected a string"},
           {file_error([&] { file.integer("t.f32"); }), "is of type float32, expected a whole number"},
           {file_error([&] { file.integer("t.yes"); }), "is of type bool, expected a whole number"},
           {file_error([&] { file.integer("t.ints"); }), "is of type array of int32, expected a whole number"},
           {file_error([&] { file.integer("t.text"); }), "is of type string, expected a whole number"},
           {file_error([&] { file.real("t.yes"); }), "is of type bool, expected a number"},
           {file_error([&] { file.real("t.text"); }), "is of type string, expected a number"},
           {file_error([&] { file.flag("t.u8"); }), "is of type uint8, expected a bool"},
           {file_error([&] { file.texts("t.text"); }), "is of type string, expected an array of strings"},
           {file_error([&] { file.texts("t.ints"); }), "is of type array of int32, expected an array of strings"},
           {file_error([&] { file.integers("t.u8"); }), "is of type uint8, expected an array of whole numbers"},
           {file_error([&] { file.integers("t.texts"); }), "is of type array of string, expected an array of whole"},
           {file_error([&] { file.integers("t.floats"); }), "is of type array of float32, expected an array of whole"},
           {file_error([&] { file.reals("t.bools"); }), "is of type array of bool, expected an array of numbers"},
           {file_error([&] { file.flags("t.ints"); }), "is of type array of int32, expected an array of bools"},
           {file_error([&] { file.value("absent"); }), "no key 'absent'"},
           {file_error([&] { file.tensor("absent"); }), model_path() + ": no tensor 'absent' in it"},
           {file_error([&] { file.read("absent"); }), "no tensor 'absent'"}})
    EXPECT_TRUE(has(message, expected)) << message << "\n  not " << expected;
  EXPECT_EQ(file_error([&] { file.text("t.u8"); }).find(at + std::to_string(file.find("t.u8")->begin)), 0u);
  for (const std::uint32_t element : {8u, 4u, 7u}) {  // strings, uint32, bools
    const std::string empty = Raw().value("e", GgufType::array, element, std::uint64_t{0}).str();
    const GgufReader none(as_bytes(empty), "none");
    EXPECT_TRUE(none.texts("e").empty() && none.integers("e").empty() && none.reals("e").empty());
    EXPECT_TRUE(none.flags("e").empty());
  }
}

TEST(Gguf, PlainTensorsThatThePackageWrote) {
  const GgufReader file(model_path());
  const std::vector<std::tuple<std::string, std::string, Dtype, Shape>> expected = {
      {"i8", "I8", Dtype::int8, {2, 3}},
      {"i16", "I16", Dtype::int16, {2, 3}},
      {"i32", "I32", Dtype::int32, {2, 3}},
      {"i64", "I64", Dtype::int64, {2, 3}},
      {"f16", "F16", Dtype::float16, {2, 3}},
      {"f32", "F32", Dtype::float32, {2, 3}},
      {"f64", "F64", Dtype::float64, {2, 3}},
      {"bf16", "BF16", Dtype::bfloat16, {4}},
      {"four", "F32", Dtype::float32, {2, 1, 3, 2}}};
  for (const auto& [name, type, dtype, shape] : expected) {
    const GgufReader::Tensor& tensor = file.tensor(name);
    EXPECT_EQ(tensor.type_name, type);
    EXPECT_EQ(tensor.dtype, dtype);
    EXPECT_FALSE(tensor.kind);
    EXPECT_EQ(tensor.shape, shape);
    const HostArray a = file.read(name);
    EXPECT_EQ(a.dtype, dtype);
    EXPECT_EQ(a.shape, shape);
    EXPECT_EQ(values_of(a), expected_numbers(dtype, shape.product())) << name;
    EXPECT_EQ(file.bytes(name).size(), a.nbytes());
    EXPECT_EQ(tensor.begin % 32, 0u);
  }
}

/// Dequantises a value by the format's description: a float16 scale, then 32 numbers of 8 bits, or of 4 bits with the
/// first half in the low bits.
float dequantized(const std::uint8_t* row, bool is_eight, std::int64_t i) {
  const std::uint8_t* block = row + i / 32 * (is_eight ? 34 : 18);
  std::uint16_t bits = 0;
  std::memcpy(&bits, block, 2);
  const float scale = static_cast<float>(float16::from_bits(bits));
  if (is_eight) return scale * static_cast<float>(static_cast<std::int8_t>(block[2 + i % 32]));
  const std::uint8_t two = block[2 + i % 16];
  return scale * static_cast<float>((i % 32 < 16 ? two & 15 : two >> 4) - 8);
}

TEST(Gguf, BlocksThatThePackageWrote) {
  const GgufReader file(model_path());
  for (const auto& [name, kind, shape, rows] : std::vector<std::tuple<std::string, Quantization, Shape, std::int64_t>>{
           {"q8_0", Quantization::q8_0, {3, 64}, 3},
           {"q4_0", Quantization::q4_0, {2, 32}, 2},
           {"stack", Quantization::q8_0, {2, 2, 32}, 4}}) {
    const GgufReader::Tensor& tensor = file.tensor(name);
    EXPECT_EQ(tensor.kind, kind);
    EXPECT_FALSE(tensor.dtype);
    EXPECT_EQ(tensor.shape, shape);
    const HostArray blocks = file.read(name), values = file.read(name + ".values");
    EXPECT_EQ(blocks.dtype, Dtype::uint8);
    ASSERT_EQ(blocks.shape, (Shape{rows, quantized_row_bytes(kind, shape.back())}));
    EXPECT_EQ(values.shape, shape);
    for (std::int64_t row = 0; row < rows; ++row)
      for (std::int64_t i = 0; i < shape.back(); ++i)
        EXPECT_EQ(dequantized(blocks.as<std::uint8_t>() + row * blocks.shape[1], kind == Quantization::q8_0, i),
                  values.as<float>()[row * shape.back() + i])
            << name << " " << row << " " << i;
  }
  for (const auto& [name, shape, blocks_shape] :
       std::vector<std::tuple<std::string, Shape, Shape>>{{"q4_k", {2, 256}, {2, 144}}, {"q6_k", {1, 256}, {1, 210}}}) {
    EXPECT_EQ(file.tensor(name).shape, shape);
    const HostArray blocks = file.read(name);
    ASSERT_EQ(blocks.shape, blocks_shape);
    for (std::int64_t i = 0; i < blocks.size(); ++i)
      ASSERT_EQ(blocks.as<std::uint8_t>()[i], static_cast<std::uint8_t>(7 * i + 3)) << name << " " << i;
  }
}

TEST(Gguf, OtherFilesOfThePackage) {
  const GgufReader listed(data_path("io/gguf/listed.gguf"));
  const GgufReader::Tensor& tensor = listed.tensor("iq4_xs");
  EXPECT_EQ(tensor.type_name, "IQ4_XS");
  EXPECT_FALSE(tensor.dtype || tensor.kind);
  EXPECT_EQ(tensor.shape, (Shape{2, 256}));
  EXPECT_EQ(listed.bytes("iq4_xs").size(), 272u);
  const std::string error = file_error([&] { listed.read("iq4_xs"); });
  EXPECT_TRUE(has(error,
                  "tensor 'iq4_xs' is of type IQ4_XS, which is not supported; supported are F32, F16, Q4_0, "
                  "Q4_1, Q5_0, Q5_1, Q8_0, "))
      << error;
  for (const QuantizationInfo& info : kQuantizationInfos)
    EXPECT_TRUE(info.head > 0 || has(error + ",", std::string(", ") + info.name + ",")) << error;
  EXPECT_EQ(values_of(listed.read("f32")), (std::vector<double>{-2, -1}));
  const GgufReader aligned(data_path("io/gguf/aligned.gguf"));
  EXPECT_EQ(aligned.alignment(), 128u);
  EXPECT_EQ(aligned.tensor("b").begin, 256u);
  EXPECT_EQ(values_of(aligned.read("b")), expected_numbers(Dtype::float16, 5));
  const GgufReader vocabulary(data_path("io/gguf/vocabulary.gguf"));
  EXPECT_TRUE(vocabulary.names().empty());
  ASSERT_EQ(vocabulary.texts("tokenizer.ggml.tokens").size(), 50u);
  EXPECT_EQ(vocabulary.texts("tokenizer.ggml.tokens")[49], "t49");
  EXPECT_TRUE(has(file_error([&] { GgufReader{data_path("io/gguf/big_endian.gguf")}; }),
                  "big_endian.gguf: at byte 4: a big-endian GGUF file; only little-endian files are supported"));
}

TEST(Gguf, BlocksThatAreReadAsNumbers) {
  const GgufReader file(data_path("io/gguf/numbers_of_blocks.gguf"));
  for (const char* name : {"q4_1", "q5_0", "q5_1"}) {
    EXPECT_TRUE(file.tensor(name).read_as_numbers && !file.tensor(name).kind && !file.tensor(name).dtype);
    const HostArray numbers = file.read(name), expected = file.read(std::string(name) + ".values");
    ASSERT_EQ(numbers.shape, (Shape{3, 2, 64}));
    ASSERT_EQ(numbers.nbytes(), expected.nbytes());
    EXPECT_EQ(std::memcmp(numbers.data.get(), expected.data.get(), numbers.nbytes()), 0) << name;
  }
}

/// Writing the content of a file again gives equal bytes.
TEST(Gguf, WritesWhatThePackageWrites) {
  const TemporaryFolder folder;
  for (const char* name : {"model.gguf", "aligned.gguf", "vocabulary.gguf"}) {
    const std::string path = data_path(std::string("io/gguf/") + name);
    const GgufReader file(path);
    GgufMetadata metadata;
    for (const std::string_view key : file.keys()) metadata.emplace_back(key, file.value(key));
    std::vector<GgufTensor> tensors;
    for (const std::string& tensor : file.names())
      tensors.push_back({tensor, file.read(tensor), file.tensor(tensor).kind, file.tensor(tensor).shape});
    write_gguf(folder / name, metadata, tensors);
    EXPECT_EQ(os::read_file(folder / name), os::read_file(path)) << name;
  }
}

TEST(Gguf, RoundTripOfWhatThePackageCannotWrite) {
  const TemporaryFolder folder;
  const GgufMetadata metadata = {{"empty", std::vector<std::string>{}},
                                 {"flags", std::vector<bool>{}},
                                 {"int16s", std::vector<std::int16_t>{-5, 6}},
                                 {"float64s", std::vector<double>{0.1, -INFINITY}},
                                 {"text", std::string("a\0b", 3)},
                                 {std::string(65535, 'k'), true},
                                 {"general.alignment", std::uint32_t{8}}};
  const HostArray scalar = HostArray::scalar(2.5), none = HostArray::empty(Dtype::float16, {3, 0, 2});
  const HostArray no_blocks = HostArray::empty(Dtype::uint8, {0, 34});
  const std::string longest(63, 'n');
  write_gguf(folder / "f", metadata,
             {{"none", none}, {longest, scalar}, {"blocks", no_blocks, Quantization::q8_0, {0, 32}}});
  const GgufReader file(folder / "f");
  EXPECT_EQ(file.alignment(), 8u);
  ASSERT_EQ(file.keys().size(), metadata.size());
  for (std::size_t i = 0; i < metadata.size(); ++i) {
    EXPECT_EQ(file.keys()[i], metadata[i].first);
    EXPECT_EQ(file.value(metadata[i].first), metadata[i].second) << metadata[i].first.substr(0, 40);
  }
  EXPECT_EQ(file.names(), (std::vector<std::string>{"none", longest, "blocks"}));
  EXPECT_EQ(file.read("none").shape, none.shape);
  EXPECT_EQ(file.read(longest).shape, Shape{});
  EXPECT_EQ(*file.read(longest).as<double>(), 2.5);
  EXPECT_EQ(file.read("blocks").shape, (Shape{0, 34}));
  EXPECT_EQ(file.tensor("blocks").shape, (Shape{0, 32}));
  EXPECT_STREQ(file_kind_name(identify(folder / "f")), "GGUF");
  write_gguf(folder / "empty", {}, {});
  EXPECT_TRUE(GgufReader(folder / "empty").keys().empty());
}

template <class E, class F>
std::string error_as(F f) {
  try {
    f();
  } catch (const E& e) {
    return e.what();
  }
  return "";
}

TEST(Gguf, WriterRefuses) {
  const TemporaryFolder folder;
  const HostArray a = HostArray::scalar(1.0f), bytes = HostArray::empty(Dtype::uint8, {68});
  const auto value_error = [&](const GgufMetadata& metadata, const std::vector<GgufTensor>& tensors) {
    return error_as<ValueError>([&] { write_gguf(folder / "x", metadata, tensors); });
  };
  const auto shape_error = [&](const GgufTensor& tensor) {
    return error_as<ShapeError>([&] { write_gguf(folder / "x", {}, {tensor}); });
  };
  EXPECT_TRUE(has(value_error({{"a", 1}, {"a", 2}}, {}), "the key 'a' is given twice"));
  EXPECT_TRUE(has(value_error({{"", 1}}, {}), "a key of 0 bytes"));
  EXPECT_TRUE(has(value_error({{std::string(65536, 'k'), 1}}, {}), "a key of 65536 bytes"));
  for (const GgufValue& alignment : {GgufValue(std::uint32_t{0}), GgufValue(std::uint32_t{48}),
                                     GgufValue(std::uint32_t{1} << 17), GgufValue(32), GgufValue(std::string("32"))})
    EXPECT_TRUE(has(value_error({{"general.alignment", alignment}}, {}), "general.alignment is not a power of two"));
  EXPECT_TRUE(has(value_error({}, {{"a", a}, {"a", a}}), "the tensor 'a' is given twice"));
  EXPECT_TRUE(has(value_error({}, {{"", a}}), "name of 0 bytes"));
  EXPECT_TRUE(has(value_error({}, {{std::string(64, 'n'), a}}), "name of 64 bytes"));
  EXPECT_TRUE(has(value_error({}, {{"a", bytes, Quantization::int8, {2, 34}}}), "of kind int8, which the format"));
  EXPECT_TRUE(has(shape_error({"a", HostArray::empty(Dtype::float32, {1, 1, 1, 1, 1})}), "shape (1, 1, 1, 1, 1)"));
  EXPECT_TRUE(has(shape_error({"a", bytes, Quantization::q8_0, {2, 33}}), "rows of 33 are not whole blocks of 32"));
  EXPECT_TRUE(has(shape_error({"a", bytes, Quantization::q8_0, {}}), "rows of 1 are not whole blocks of 32"));
  EXPECT_TRUE(has(shape_error({"a", bytes, Quantization::q8_0, {3, 32}}), "needs 102 bytes of Q8_0 blocks in uint8"));
  EXPECT_TRUE(has(shape_error({"a", a, Quantization::q8_0, {2, 32}}), "not 4 in float32"));
  EXPECT_FALSE(shape_error({"a", bytes, Quantization::q8_0, {-2, 32}}).empty());
  for (const Dtype dtype : {Dtype::bool_, Dtype::uint8, Dtype::uint16, Dtype::uint32, Dtype::uint64})
    EXPECT_TRUE(has(error_as<DtypeError>([&] {
                      write_gguf(folder / "x", {}, {{"a", HostArray::empty(dtype, {2})}});
                    }),
                    "which the format does not support"));
  EXPECT_TRUE(os::list_directory(folder.path).empty());
}

constexpr std::uint32_t kF32 = 0, kQ8 = 8;

TEST(Gguf, VersionsAndAlignment) {
  for (const std::uint32_t version : {2u, 3u}) {
    Raw raw;
    raw.version = version;
    EXPECT_EQ(error_of(raw.tensor("a", {2, 3}, kF32, 0).bytes(24).str()), "");
  }
  for (const auto& [version, message] :
       std::vector<std::pair<std::uint32_t, std::string>>{{0, "version 0 of GGUF; only versions 2 and 3 are supported"},
                                                          {1, "version 1 of GGUF; only versions 2 and 3 are supported"},
                                                          {4, "version 4 of GGUF; only versions 2 and 3 are supported"},
                                                          {2u << 24, "a big-endian GGUF file"},
                                                          {3u << 24, "a big-endian GGUF file"}}) {
    Raw raw;
    raw.version = version;
    EXPECT_TRUE(has(error_of(raw.str()), "hostile: at byte 4: " + message)) << error_of(raw.str());
  }
  for (const std::uint32_t alignment : {1u, 2u, 64u}) {
    const std::string file = Raw()
                                 .value("general.alignment", GgufType::uint32, alignment)
                                 .tensor("a", {3}, kF32, 2 * alignment)
                                 .bytes(140)
                                 .str(alignment);
    EXPECT_EQ(error_of(file), "");
    const GgufReader reader(as_bytes(file), "f");
    EXPECT_EQ(reader.tensor("a").begin, file.size() - 140 + 2 * alignment);
  }
  EXPECT_TRUE(has(
      error_of(Raw().value("general.alignment", GgufType::uint32, 1u << 31).tensor("a", {3}, kF32, 0).bytes(12).str()),
      "which begins at byte 2147483648 of"));
  EXPECT_EQ(error_of(Raw().value("general.alignment", GgufType::uint32, 1u << 31).str()), "");
}

/// Malicious headers with their messages.
TEST(Gguf, RefusesHostileHeaders) {
  using U = GgufType;
  const auto counts = [](std::uint64_t tensors, std::uint64_t values) {
    Raw raw;
    raw.tensor_count = tensors;
    raw.value_count = values;
    return raw.str() + std::string(100, '\0');
  };
  constexpr std::uint64_t kHuge = UINT64_MAX, kHalf = std::uint64_t{1} << 63;
  const std::uint32_t text = 8, array = 9, u32 = 4, u64 = 10, boolean = 7;
  std::string nested = Raw()
                           .value("n", U::array, array, std::uint64_t{1}, array, std::uint64_t{1}, array,
                                  std::uint64_t{1}, u32, std::uint64_t{1}, 7u)
                           .str();
  EXPECT_EQ(error_of(nested), "");
  EXPECT_TRUE(has(file_error([&] { GgufReader(as_bytes(nested), "f").value("n"); }), "'n' is of type array of array"));
  for (const auto& [file, message] : std::vector<std::pair<std::string, std::string>>{
           {"", "not a GGUF file: it does not begin with 'GGUF'"},
           {"GGU", "not a GGUF file"},
           {"GGUF", "at byte 4: the file ends within the version"},
           {std::string("PK\x03\x04", 4), "not a GGUF file: it is an npz file, which load_npz reads"},
           {counts(kHuge, 0), "at byte 8: 18446744073709551615 tensors cannot be in the 100 bytes"},
           {counts(5, 0), "at byte 8: 5 tensors cannot be in the 100 bytes"},
           {counts(0, kHuge), "at byte 16: 18446744073709551615 values of metadata cannot be in the 100 bytes"},
           {counts(0, 8), "at byte 16: 8 values of metadata"},
           {counts(2, 0), "two tensors are called ''"},
           {Raw().value("k", U::uint8, std::uint8_t{1}).value("k", U::uint8, std::uint8_t{1}).str(),
            "the key 'k' occurs twice"},
           {Raw().value("k", static_cast<U>(13), kHuge).str(), "'k' has the unknown type 13 (0 to 12 are known)"},
           {Raw().value("k", static_cast<U>(0xffffffff), kHuge).str(), "'k' has the unknown type 4294967295"},
           {Raw().value("k", U::boolean, std::uint8_t{2}).str(), "'k' has 2, but a bool must be 0 or 1"},
           {Raw().value("k", U::array, boolean, std::uint64_t{2}, std::uint16_t{0x0301}).str(),
            "'k' has 3, but a bool"},
           {Raw().value("k", U::uint64, 7u).str(), "'k' needs 1 × 8 bytes, the file has 4 left"},
           {Raw().value("k", U::string, kHuge, 7u).str(), "a text of 18446744073709551615 bytes, the file has 4 left"},
           {Raw().value("k", U::string, std::uint64_t{5}, 7u).str(), "a text of 5 bytes, the file has 4 left"},
           {Raw().value("k", U::array, u32, kHuge, 7u).str(), "18446744073709551615 elements cannot be in the 4 bytes"},
           {Raw().value("k", U::array, u64, kHalf / 4, 7u).str(), "2305843009213693952 elements cannot be in"},
           {Raw().value("k", U::array, text, kHuge, 7u).str(), "18446744073709551615 elements cannot be in"},
           {Raw().value("k", U::array, text, std::uint64_t{2}, std::uint64_t{0}).str(), "2 elements cannot be in"},
           {Raw().value("k", U::array, text, std::uint64_t{1}, kHuge).str(), "a text of 18446744073709551615 bytes"},
           {Raw().value("k", U::array, array, kHuge, 7u).str(), "18446744073709551615 elements cannot be in"},
           {Raw().value("k", U::array, 13u, std::uint64_t{0}).str(), "'k' has the unknown type 13"},
           {Raw()
                .value("k", U::array, array, std::uint64_t{1}, array, std::uint64_t{1}, array, std::uint64_t{1}, array,
                       std::uint64_t{1}, u32, std::uint64_t{0})
                .str(),
            "has arrays in more than 4 arrays"},
           {Raw().value("general.alignment", U::uint32, 0u).str(), "general.alignment is 0, not a power of two"},
           {Raw().value("general.alignment", U::uint32, 48u).str(), "general.alignment is 48, not a power of two"},
           {Raw().value("general.alignment", U::uint64, std::uint64_t{32}).str(),
            "general.alignment is of type uint64, not uint32"},
           {Raw().value("general.alignment", U::array, u32, std::uint64_t{1}, 32u).str(),
            "general.alignment is of type array of uint32, not"},
           {Raw().tensor("a", {1, 1, 1, 1, 1}, kF32, 0).bytes(4).str(),
            "tensor 'a' has 5 axes (at most 4 are supported)"},
           {Raw().tensor("a", {kHuge}, kF32, 0).bytes(4).str(), "tensor 'a' has an axis of size 18446744073709551615"},
           {Raw().tensor("a", {kHalf / 16, 2}, kF32, 0).bytes(4).str(), "is too large"},
           {Raw().tensor("a", {1u << 31, 1u << 31, 4, 1}, kF32, 0).bytes(4).str(), "is too large"},
           {Raw().tensor("a", {0, kHalf / 16, 2}, kF32, 0).bytes(4).str(), "is too large"},
           {Raw().tensor("a", {kHalf / 16}, kF32, 0).bytes(4).str(), "tensor 'a' takes 2305843009213693952 bytes at 0"},
           {Raw().tensor("a", {2}, 4, 0).bytes(64).str(),
            "tensor 'a' has the unknown type 4; supported are F32, F16, Q4_0"},
           {Raw().tensor("a", {2}, 99, 0).bytes(64).str(), "tensor 'a' has the unknown type 99"},
           {Raw().tensor("a", {33, 2}, kQ8, 0).bytes(99).str(),
            "shape (2, 33): rows of 33 are not whole blocks of 32 (Q8_0)"},
           {Raw().tensor("a", {}, kQ8, 0).bytes(99).str(), "rows of 1 are not whole blocks of 32"},
           {Raw().tensor("a", {2}, kF32, 8).bytes(64).str(), "tensor 'a' begins at 8 of the data, no multiple of 32"},
           {Raw().tensor("a", {2}, kF32, 64).bytes(64).str(), "tensor 'a' takes 8 bytes at 64 of the data"},
           {Raw().tensor("a", {2}, kF32, 64).bytes(71).str(), "tensor 'a' takes 8 bytes at 64 of the data"},
           {Raw().tensor("a", {0}, kF32, 128).bytes(64).str(), "tensor 'a' takes 0 bytes at 128 of the data"},
           {Raw().tensor("a", {2}, kF32, kHuge - 31).bytes(64).str(),
            "tensor 'a' takes 8 bytes at 18446744073709551584"},
           {Raw().tensor("a", {2}, kF32, 0).tensor("a", {2}, kF32, 32).bytes(64).str(), "two tensors are called 'a'"},
           {Raw().tensor("a", {9}, kF32, 0).tensor("b", {2}, kF32, 32).bytes(64).str(), "tensors 'a' and 'b' overlap"},
           {Raw().tensor("b", {2}, kF32, 0).tensor("a", {2}, kF32, 0).bytes(64).str(), "tensors 'a' and 'b' overlap"},
       }) {
    const std::string found = error_of(file);
    EXPECT_EQ(found.find("hostile: at byte "), 0u) << found << "\n  not " << message;
    EXPECT_TRUE(has(found, message)) << found << "\n  not " << message;
  }
  // in any order, with gaps, and empty tensors at equal offsets
  EXPECT_EQ(error_of(Raw()
                         .tensor("a", {2}, kF32, 96)
                         .tensor("b", {0}, kF32, 32)
                         .tensor("c", {2, 0}, kF32, 32)
                         .tensor("d", {2}, kF32, 32)
                         .bytes(104)
                         .str()),
            "");
  // a long name is shortened in the message
  EXPECT_LT(error_of(Raw().tensor(std::string(100000, 'a'), {2}, 99, 0).str()).size(), 300u);
}

TEST(Gguf, FailsOnEveryTruncationAndSurvivesDamage) {
  const TemporaryFolder folder;
  write_gguf(folder / "f", {{"a", 3}, {"t", std::vector<std::string>{"b", ""}}},
             {{"w", HostArray::empty(Dtype::float32, {2, 4})}});  // 32 bytes, so that no padding is needed
  const auto read = [](std::span<const std::byte> b) { read_all(GgufReader(b, "piece")); };
  expect_truncations_fail(os::read_file(folder / "f"), read);
  expect_damage_is_survived(os::read_file(folder / "f"), read);
}

/// Truncated files, flipped bits, inserted bytes, and huge lengths, counts, sizes and offsets, by seed.
TEST(Gguf, TwoHundredDamagedFiles) {
  const TemporaryFolder folder;
  const std::string path = folder / "damaged.gguf";
  int refused = 0;
  for (std::uint32_t seed = 0; seed < 200; ++seed) {
    std::mt19937 random(seed);
    const auto whole = os::read_file(seed % 3 ? model_path() : data_path("io/gguf/vocabulary.gguf"));
    std::vector<std::byte> damaged = whole;
    const std::size_t head = std::min<std::size_t>(whole.size(), 1800);  // the region with lengths
    switch (seed % 4) {
      case 0:
        damaged.resize(random() % whole.size());
        break;
      case 1:
        for (int i = 0; i < 8; ++i) damaged[random() % head] ^= static_cast<std::byte>(1 << (random() % 8));
        break;
      case 2:
        damaged.insert(damaged.begin() + static_cast<std::ptrdiff_t>(random() % head), random() % 16 + 1,
                       static_cast<std::byte>(random()));
        break;
      default: {
        const std::uint64_t length = ~std::uint64_t{0} >> (random() % 40);
        std::memcpy(damaged.data() + 8 + random() % (head - 16), &length, sizeof length);
      }
    }
    os::write_file(path, damaged);
    const CountedMemory memory;
    const std::string error = file_error([&] {
      const GgufReader file(path);
      for (const std::string& name : file.names()) {
        const GgufReader::Tensor& tensor = file.tensor(name);
        if (!tensor.dtype && !tensor.kind) continue;
        EXPECT_LE(file.read(name).nbytes(), damaged.size()) << seed;
      }
      read_all(file);
    });
    EXPECT_LT(memory.peak(), static_cast<std::int64_t>(32 * damaged.size() + (1 << 14))) << seed;
    if (!error.empty()) {
      ++refused;
      EXPECT_EQ(error.find(path + ": "), 0u) << error;
      EXPECT_TRUE(has(error, "at byte ") || has(error, "is of type array of array")) << error;
    }
  }
  EXPECT_GT(refused, 120);
}

/// The most memory per header entry, for a header of many small entries.
TEST(Gguf, MemoryOfManySmallEntriesIsBoundedToo) {
  Raw raw;
  for (int i = 0; i < 3000; ++i) raw.value(std::to_string(i), GgufType::uint8, std::uint8_t{0});
  for (int i = 0; i < 3000; ++i) raw.tensor(std::to_string(i), {0}, kF32, 0);
  const std::string file = raw.bytes(1).str();
  const CountedMemory memory;
  EXPECT_EQ(GgufReader(as_bytes(file), "f").names().size(), 3000u);
  EXPECT_LT(memory.peak(), static_cast<std::int64_t>(32 * file.size()));
  EXPECT_GT(memory.peak(), 3000);  // shows that memory is counted
}

}  // namespace
}  // namespace catenary::io
