#include "catenary/io/safetensors.h"

#include <cstring>

#include "helpers.h"

namespace catenary::io {
namespace {

using namespace test;

/// A file with this header and `data` zero bytes.
std::string with_header(const std::string& header, std::size_t data = 0) {
  std::string file;
  for (int i = 0; i < 8; ++i) file += static_cast<char>((header.size() >> (8 * i)) & 0xff);
  return file + header + std::string(data, '\0');
}

TEST(Safetensors, ReadsWhatThePackageWrites) {
  const SafetensorsReader file(data_path("io/model.safetensors"));
  EXPECT_EQ(file.names().size(), 7u);
  EXPECT_EQ(file.metadata(), (std::map<std::string, std::string>{{"format", "pt"}, {"note", "h\u00e9 \"quoted\""}}));
  const std::vector<std::tuple<std::string, Dtype, Shape>> expected = {{"weight", Dtype::float32, {2, 3}},
                                                                       {"half", Dtype::float16, {3}},
                                                                       {"flag", Dtype::bool_, {5}},
                                                                       {"brain", Dtype::bfloat16, {4}}};
  for (const auto& [name, dtype, shape] : expected) {
    const HostArray a = file.read(name);
    EXPECT_EQ(a.dtype, dtype);
    EXPECT_EQ(a.shape, shape);
    EXPECT_EQ(values_of(a), expected_numbers(dtype, shape.product())) << name;
    EXPECT_EQ(file.tensor(name).shape, shape);
    EXPECT_EQ(file.bytes(name).size(), a.nbytes());
  }
  EXPECT_EQ(*file.read("scalar").as<std::int64_t>(), 7);
  EXPECT_EQ(file.read("empty").shape, (Shape{0, 4}));
  EXPECT_TRUE(file.contains("eight"));
  EXPECT_EQ(file.tensor("eight").dtype_name, "F8_E4M3");
  EXPECT_NE(file_error([&] { file.read("eight"); }).find("F8_E4M3"), std::string::npos);
  EXPECT_NE(file_error([&] { file.read("nothing"); }).find("no tensor 'nothing'"), std::string::npos);
}

// nlohmann's parser would treat a zero byte as the end of the text.
TEST(Safetensors, AZeroByteDoesNotEndTheHeader) {
  const auto refused = [](const std::string& header) {
    const std::string file = with_header(header);
    return file_error([&] { SafetensorsReader(as_bytes(file), "f"); });
  };
  const std::string zero(1, '\0');
  EXPECT_EQ(refused("{}  "), "");
  for (const std::string& header : {"{}" + zero + "anything", "{}" + zero, "{}" + zero + "{}", "{" + zero + "}",
                                    "{\"__metadata__\":{\"a\":\"b" + zero + "\"}}"})
    EXPECT_NE(refused(header).find("the header is not JSON"), std::string::npos) << refused(header);
}

TEST(Safetensors, SizesOfUnsupportedDtypesAreChecked) {
  const auto refused = [](const char* dtype, int end) {
    const std::string header = std::string("{\"e\":{\"dtype\":\"") + dtype + "\",\"shape\":[3],\"data_offsets\":[0," +
                               std::to_string(end) + "]}}";
    const std::string file = with_header(header, static_cast<std::size_t>(end));
    return file_error([&] { SafetensorsReader(as_bytes(file), "f"); });
  };
  EXPECT_EQ(refused("F8_E5M2", 3), "");
  EXPECT_NE(refused("F8_E5M2", 5).find("shape (3,) of F8_E5M2 needs 3 bytes"), std::string::npos);
  EXPECT_EQ(refused("C64", 24), "");
  EXPECT_NE(refused("C64", 3).find("needs 24 bytes"), std::string::npos);
}

TEST(Safetensors, ComplexNumbersOfTheFormatsOneSize) {
  const TemporaryFolder folder;
  HostArray a = HostArray::empty(Dtype::complex64, {3});
  const float parts[] = {1, 2, 3, 4, 5, 6};
  std::memcpy(a.data.get(), parts, sizeof parts);
  write_safetensors(folder / "z", {{"z", a}});
  const SafetensorsReader file(folder / "z");
  EXPECT_EQ(file.tensor("z").dtype_name, "C64");
  const HostArray b = file.read("z");
  EXPECT_EQ(b.dtype, Dtype::complex64);
  EXPECT_EQ(std::memcmp(b.data.get(), parts, sizeof parts), 0);
  EXPECT_THROW(write_safetensors(folder / "w", {{"w", HostArray::empty(Dtype::complex128, {1})}}), DtypeError);
}

TEST(Safetensors, MakesBoolsZeroOrOne) {
  const std::string file =
      with_header(R"({"b":{"dtype":"BOOL","shape":[4],"data_offsets":[0,4]}})") + std::string("\0\1\2\xff", 4);
  const HostArray read = SafetensorsReader(as_bytes(file), "f").read("b");
  ASSERT_EQ(read.dtype, Dtype::bool_);
  const auto* bytes = reinterpret_cast<const std::uint8_t*>(read.data.get());
  EXPECT_EQ(std::vector<int>(bytes, bytes + 4), (std::vector<int>{0, 1, 1, 1}));
}

TEST(Safetensors, RoundTrip) {
  const TemporaryFolder folder;
  std::vector<std::pair<std::string, HostArray>> tensors;
  for (int d = 0; d < kRealDtypes; ++d) {
    HostArray a = HostArray::empty(static_cast<Dtype>(d), {3, 5});
    visit_dtype(a.dtype, [&](auto zero) {
      using T = decltype(zero);
      for (int i = 0; i < 15; ++i) a.as<T>()[i] = static_cast<T>(static_cast<float>(i % 3));
    });
    tensors.emplace_back(std::string("layer/") + dtype_name(a.dtype), a);
  }
  tensors.emplace_back("", HostArray::scalar(1.5f));
  tensors.emplace_back("none", HostArray::empty(Dtype::float64, {2, 0}));
  tensors.emplace_back("h\u00e9 \"\\\n", HostArray::scalar(std::uint8_t{3}));
  write_safetensors(folder / "m.safetensors", tensors, {{"a", "b"}, {"c", "\u00e9\""}});
  const SafetensorsReader file(folder / "m.safetensors");
  EXPECT_EQ(file.names().size(), tensors.size());
  EXPECT_EQ(file.metadata(), (std::map<std::string, std::string>{{"a", "b"}, {"c", "\u00e9\""}}));
  for (const auto& [name, a] : tensors) {
    const HostArray b = file.read(name);
    EXPECT_EQ(b.dtype, a.dtype);
    EXPECT_EQ(b.shape, a.shape);
    EXPECT_EQ(values_of(b), values_of(a)) << name;
    // aligned, also in the mapped file
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(file.bytes(name).data()) % itemsize(a.dtype), 0u) << name;
  }
  write_safetensors(folder / "empty", {});
  EXPECT_TRUE(SafetensorsReader(folder / "empty").names().empty());
}

TEST(Safetensors, WriterRefusesBadNames) {
  const TemporaryFolder folder;
  const HostArray a = HostArray::scalar(1.0f);
  EXPECT_THROW(write_safetensors(folder / "x", {{"a", a}, {"a", a}}), ValueError);
  EXPECT_THROW(write_safetensors(folder / "x", {{"__metadata__", a}}), ValueError);
  EXPECT_THROW(write_safetensors(folder / "x", {{"\xff", a}}), ValueError);
  EXPECT_TRUE(os::list_directory(folder.path).empty());
}

TEST(Safetensors, RefusesHostileHeaders) {
  const auto error = [](const std::string& file) {
    return file_error([&] { SafetensorsReader(as_bytes(file), "hostile"); });
  };
  const auto tensor = [](const std::string& shape, const std::string& offsets, const std::string& dtype = "F32") {
    return "{\"dtype\":\"" + dtype + "\",\"shape\":" + shape + ",\"data_offsets\":" + offsets + "}";
  };
  EXPECT_EQ(error(with_header("{\"a\":" + tensor("[2]", "[0,8]") + "}", 8)), "");
  EXPECT_EQ(error(with_header("{\"a\":" + tensor("[2]", "[0,8]") + "}   ", 8)), "");
  EXPECT_EQ(error(with_header("{}")), "");
  for (const std::string& file : {
           with_header("{\"a\":" + tensor("[2]", "[0,8]") + "}", 7),  // cut
           with_header("{\"a\":" + tensor("[2]", "[0,8]") + "}", 9),  // bytes left over
           with_header("{\"a\":" + tensor("[2]", "[1,9]") + "}", 9),  // a gap before
           with_header("{\"a\":" + tensor("[2]", "[0,8]") + ",\"b\":" + tensor("[1]", "[4,8]") + "}", 8),     // overlap
           with_header("{\"a\":" + tensor("[2]", "[0,8]") + ",\"b\":" + tensor("[1]", "[12,16]") + "}", 16),  // gap
           with_header("{\"a\":" + tensor("[2]", "[8,0]") + "}", 8),                                    // backwards
           with_header("{\"a\":" + tensor("[3]", "[0,8]") + "}", 8),                                    // size
           with_header("{\"a\":" + tensor("[4611686018427387904,4]", "[0,8]") + "}", 8),                // overflow
           with_header("{\"a\":" + tensor("[4294967296,4294967296]", "[0,0]") + "}", 0),                // overflow to 0
           with_header("{\"a\":" + tensor("[18446744073709551615]", "[0,8]") + "}", 8),                 //
           with_header("{\"a\":" + tensor("[18446744073709551616]", "[0,8]") + "}", 8),                 // past 64 bits
           with_header("{\"a\":" + tensor("[-2]", "[0,8]") + "}", 8),                                   // negative
           with_header("{\"a\":" + tensor("[2.0]", "[0,8]") + "}", 8),                                  //
           with_header("{\"a\":" + tensor("[[2]]", "[0,8]") + "}", 8),                                  //
           with_header("{\"a\":" + tensor("[1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,2]", "[0,8]") + "}", 8),  //
           with_header("{\"a\":" + tensor("[2]", "[0,8,9]") + "}", 8),                                  //
           with_header("{\"a\":" + tensor("[2]", "[0]") + "}", 8),                                      //
           with_header("{\"a\":" + tensor("[2]", "[0,18446744073709551615]") + "}", 8),                 //
           with_header("{\"a\":" + tensor("[2]", "[0,8]") + ",\"a\":" + tensor("[0]", "[8,8]") + "}", 8),  // twice
           with_header("{\"a\":{\"dtype\":\"F32\",\"dtype\":\"F32\",\"shape\":[0],\"data_offsets\":[0,0]}}",
                       0),                                                                              // twice
           with_header("{\"a\":{\"dtype\":\"F32\",\"shape\":[0]}}", 0),                                 // missing
           with_header("{\"a\":{\"dtype\":\"F32\",\"shape\":[0],\"data_offsets\":[0,0],\"x\":1}}", 0),  // unknown
           with_header("{\"a\":{\"dtype\":3,\"shape\":[0],\"data_offsets\":[0,0]}}", 0),                //
           with_header("{\"a\":[]}", 0),                                                                //
           with_header("{\"a\":\"x\"}", 0),                                                             //
           with_header("{\"__metadata__\":{\"a\":1}}", 0),                                              //
           with_header("{\"__metadata__\":{\"a\":{}}}", 0),                                             //
           with_header("{\"__metadata__\":{\"a\":\"1\",\"a\":\"2\"}}", 0),                              //
           with_header("{\"__metadata__\":{},\"__metadata__\":{}}", 0),                                 //
           with_header("{}{}", 0),                                                                      //
           with_header("{", 0),
           with_header("[]", 0),
           with_header(" {}", 0),
           with_header("{\"\xff\":" + tensor("[0]", "[0,0]") + "}", 0),
           std::string("\xff\xff\xff\xff\xff\xff\xff\xff{}"),
           std::string("\x00\x00\x00\x00\x00\x00\x00\x00", 8),
           std::string(),
       }) {
    const std::string message = error(file);
    EXPECT_EQ(message.find("hostile"), 0u) << file.substr(8) << ": " << message;
    EXPECT_NE(message.find("at byte"), std::string::npos) << message;
  }
  std::string deep = "{\"a\":";
  for (int i = 0; i < 100000; ++i) deep += "[";
  EXPECT_NE(error(with_header(deep)), "");
}

TEST(Safetensors, FailsOnEveryTruncationAndSurvivesDamage) {
  const auto bytes = os::read_file(data_path("io/model.safetensors"));
  const auto read = [](std::span<const std::byte> b) {
    const SafetensorsReader file(b, "piece");
    for (const std::string& name : file.names())
      if (file.tensor(name).dtype) file.read(name);
  };
  expect_truncations_fail(bytes, read);
  expect_damage_is_survived(bytes, read);
}

}  // namespace
}  // namespace catenary::io
