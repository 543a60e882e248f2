#include "catenary/io/npy.h"

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <span>

#include "helpers.h"

namespace catenary::io {
namespace {

using namespace test;

std::string fixture(const std::string& name) { return data_path("io/" + name); }

const std::vector<std::pair<std::string, Dtype>> kDescriptions = {
    {"b1", Dtype::bool_},  {"i1", Dtype::int8},    {"i2", Dtype::int16},   {"i4", Dtype::int32},
    {"i8", Dtype::int64},  {"u1", Dtype::uint8},   {"u2", Dtype::uint16},  {"u4", Dtype::uint32},
    {"u8", Dtype::uint64}, {"f2", Dtype::float16}, {"f4", Dtype::float32}, {"f8", Dtype::float64}};

TEST(Npy, ReadsEveryDtypeInBothByteOrdersAndFortranOrder) {
  for (const auto& [code, dtype] : kDescriptions) {
    for (const std::string order : {"le_", "be_"}) {
      const HostArray a = read_npy(fixture(order + code + ".npy"));
      EXPECT_EQ(a.dtype, dtype) << order << code;
      EXPECT_EQ(a.shape, (Shape{2, 3}));
      EXPECT_EQ(values_of(a), expected_numbers(dtype, 6)) << order << code;
    }
    const HostArray f = read_npy(fixture("f_" + code + ".npy"));
    EXPECT_EQ(f.dtype, dtype);
    EXPECT_EQ(f.shape, (Shape{2, 3, 4}));
    EXPECT_EQ(values_of(f), expected_numbers(dtype, 24)) << code;
  }
  EXPECT_EQ(values_of(read_npy(fixture("be_fortran.npy"))), expected_numbers(Dtype::float32, 35));
}

TEST(Npy, ReadsScalarsEmptyArraysAndAllVersions) {
  const HostArray scalar = read_npy(fixture("scalar.npy"));
  EXPECT_EQ(scalar.shape, Shape{});
  EXPECT_EQ(*scalar.as<double>(), 2.5);
  const HostArray empty = read_npy(fixture("empty.npy"));
  EXPECT_EQ(empty.shape, (Shape{3, 0, 2}));
  EXPECT_EQ(empty.size(), 0);
  EXPECT_EQ(read_npy(fixture("one.npy")).shape, Shape{4});
  for (const std::string v : {"version2.npy", "version3.npy"})
    EXPECT_EQ(values_of(read_npy(fixture(v))), expected_numbers(Dtype::float32, 6));
}

TEST(Npy, ReadsStringsAndNone) {
  EXPECT_EQ(std::get<std::string>(read_npy_value(fixture("unicode.npy"))), "h\u00e9llo \u4e16\u754c \U0001f600");
  EXPECT_EQ(std::get<std::string>(read_npy_value(fixture("unicode_be.npy"))), "h\u00e9llo");
  EXPECT_EQ(std::get<std::string>(read_npy_value(fixture("unicode_empty.npy"))), "");
  const auto strings = std::get<StringArray>(read_npy_value(fixture("unicode_fortran.npy")));
  EXPECT_EQ(strings.shape, (Shape{2, 3}));
  EXPECT_EQ(strings.values, (std::vector<std::string>{"a", "bb", "ccc", "d", "", "\u00e9f"}));
  EXPECT_EQ(std::get<StringArray>(read_npy_value(fixture("bytes.npy"))).values, (std::vector<std::string>{"ab", "c"}));
  for (const std::string protocol : {"2", "3", "4", "5"})
    for (const std::string module : {"old", "new"})
      EXPECT_TRUE(std::holds_alternative<None>(read_npy_value(fixture("none_" + protocol + "_" + module + ".npy"))));
  EXPECT_NE(file_error([] { read_npy(fixture("unicode.npy")); }).find("strings"), std::string::npos);
}

TEST(Npy, RefusesOtherDtypesNamingThem) {
  for (const auto& [refused, word] :
       std::vector<std::pair<std::string, std::string>>{{"structured.npy", "[('x', '<f4')"},
                                                        {"datetime.npy", "<M8[s]"},
                                                        {"object.npy", "|O"},
                                                        {"void2.npy", "|V2"}}) {
    const std::string file = refused;  // a lambda cannot capture the binding
    const std::string message = file_error([&] { read_npy_value(fixture(file)); });
    EXPECT_NE(message.find(word), std::string::npos) << message;
    EXPECT_NE(message.find("at byte"), std::string::npos) << message;
    EXPECT_NE(message.find(file), std::string::npos) << message;
  }
}

TEST(Npy, ComplexNumbers) {
  EXPECT_EQ(read_npy(fixture("complex.npy")).dtype, Dtype::complex64);
  // big-endian, Fortran order: [[1+2j, 3+4j], [5+6j, 7+8j]]
  std::string file = npy_header(HostArray::empty(Dtype::complex128, {2, 2}));
  file.replace(file.find("<c16"), 4, ">c16");
  file.replace(file.find("False"), 6, "True, ");
  for (const double part : {1.0, 2.0, 5.0, 6.0, 3.0, 4.0, 7.0, 8.0}) {
    std::uint64_t bits = std::bit_cast<std::uint64_t>(part);
    for (int shift = 56; shift >= 0; shift -= 8) file.push_back(static_cast<char>(bits >> shift & 0xff));
  }
  const HostArray a = read_npy(std::as_bytes(std::span(file)), "f");
  EXPECT_EQ(a.dtype, Dtype::complex128);
  double parts[8];
  std::memcpy(parts, a.data.get(), sizeof parts);
  for (int i = 0; i < 8; ++i) EXPECT_EQ(parts[i], i + 1);
  const TemporaryFolder folder;
  write_npy(folder / "z.npy", a);
  const HostArray back = read_npy(folder / "z.npy");
  EXPECT_EQ(back.dtype, a.dtype);
  EXPECT_EQ(std::memcmp(back.data.get(), a.data.get(), sizeof parts), 0);
}

TEST(Npy, MakesBoolsZeroOrOne) {
  const HostArray a = read_npy(fixture("bool_bytes.npy"));
  EXPECT_EQ(
      std::vector<int>(reinterpret_cast<const char*>(a.data.get()), reinterpret_cast<const char*>(a.data.get()) + 4),
      (std::vector<int>{0, 1, 1, 1}));
}

TEST(Npy, Bfloat16OnlyWhenAskedFor) {
  const NpyOptions options{.bfloat16_as_void = true};
  const HostArray a = read_npy(fixture("void2.npy"), options);
  EXPECT_EQ(a.dtype, Dtype::bfloat16);
  EXPECT_EQ(values_of(a), (std::vector<double>{1, -2}));
  const TemporaryFolder folder;
  EXPECT_THROW(write_npy(folder / "b.npy", a), DtypeError);
  EXPECT_FALSE(os::exists(folder / "b.npy"));
  write_npy(folder / "b.npy", a, options);
  EXPECT_EQ(values_of(read_npy(folder / "b.npy", options)), (std::vector<double>{1, -2}));
}

TEST(Npy, WritesTheBytesThatNumPyWrites) {
  const TemporaryFolder folder;
  for (const std::string name :
       {"le_f4.npy", "le_b1.npy", "le_u1.npy", "le_i8.npy", "le_f2.npy", "scalar.npy", "empty.npy", "one.npy"}) {
    write_npy(folder / name, read_npy(fixture(name)));
    EXPECT_EQ(os::read_file(folder / name), os::read_file(fixture(name))) << name;
  }
  const auto equal = [](const std::string& made, const std::string& name) {
    const auto file = os::read_file(fixture(name));
    return std::equal(file.begin(), file.end(), as_bytes(made).begin(), as_bytes(made).end());
  };
  EXPECT_TRUE(equal(npy_string("h\u00e9llo \u4e16\u754c \U0001f600"), "unicode.npy"));
  EXPECT_TRUE(equal(npy_none(), "none_3_old.npy"));
  EXPECT_EQ(std::get<std::string>(read_npy_value(as_bytes(npy_string("")), "empty")), "");
  EXPECT_THROW(npy_string("\xff"), ValueError);
  EXPECT_THROW(npy_string("\xc3"), ValueError);
}

TEST(Npy, RoundTripsEveryDtype) {
  const TemporaryFolder folder;
  for (const auto& [code, dtype] : kDescriptions) {
    const HostArray a = read_npy(fixture("f_" + code + ".npy"));
    write_npy(folder / "a.npy", a);
    const HostArray b = read_npy(folder / "a.npy");
    EXPECT_EQ(b.dtype, dtype);
    EXPECT_EQ(b.shape, a.shape);
    EXPECT_EQ(values_of(b), values_of(a));
  }
}

TEST(Npy, FailsOnEveryTruncationAndSurvivesDamage) {
  for (const std::string name : {"le_f4.npy", "version2.npy", "unicode_be.npy", "none_4_new.npy", "empty.npy"}) {
    const auto bytes = os::read_file(fixture(name));
    const auto read = [](std::span<const std::byte> b) { read_npy_value(b, "piece"); };
    expect_truncations_fail(bytes, read);
    expect_damage_is_survived(bytes, read);
    std::vector<std::byte> longer = bytes;
    longer.push_back(std::byte{0});
    EXPECT_NE(file_error([&] { read(longer); }), "") << name;
  }
}

TEST(Npy, RefusesHostileHeaders) {
  const auto with_header = [](const std::string& dict) {
    std::string file = "\x93NUMPY\x01";
    file += '\0';
    file += static_cast<char>(dict.size() & 0xff);
    file += static_cast<char>(dict.size() >> 8);
    return file + dict;
  };
  for (const std::string& dict : {
           std::string("{'descr': '<f4', 'fortran_order': False, 'shape': (4611686018427387904, 4), }"),
           std::string("{'descr': '<f4', 'fortran_order': False, 'shape': (0, 4611686018427387904, 4), }"),
           std::string("{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999999999999,), }"),
           std::string("{'descr': '<f4', 'fortran_order': False, 'shape': (-1,), }"),
           std::string("{'descr': '<f4', 'fortran_order': False, 'shape': (1000000000,), }"),
           std::string("{'descr': '<f4', 'fortran_order': False, 'shape': (1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,0), }"),
           std::string("{'descr': '<U0', 'fortran_order': False, 'shape': (1000000000000,), }"),
           std::string("{'descr': '<U99999999999', 'fortran_order': False, 'shape': (), }"),
           std::string("{'descr': '<U536870912', 'fortran_order': False, 'shape': (4294967296, 4), }"),
           std::string("{'descr': '<f4', 'descr': '<f4', 'fortran_order': False, 'shape': (0,), }"),
           std::string("{'descr': '<f4', 'shape': (0,), }"),
           std::string("{'descr': '<f4', 'fortran_order': False, 'shape': (0,), 'x': 1}"),
           std::string("{'descr': '<f4', 'fortran_order': False, 'shape': (0,), } x"),
           std::string("{'descr': '<f3', 'fortran_order': False, 'shape': (0,), }"),
           std::string("{'descr': '', 'fortran_order': False, 'shape': (0,), }"),
           std::string("{'descr': '<', 'fortran_order': False, 'shape': (0,), }"),
           std::string(""),
           std::string("{"),
           std::string("[]"),
       }) {
    const std::string file = with_header(dict);
    const std::string message = file_error([&] { read_npy_value(as_bytes(file), "hostile"); });
    EXPECT_EQ(message.find("hostile: at byte "), 0u) << dict << ": " << message;
  }
  EXPECT_EQ(read_npy(as_bytes(with_header("{\"descr\":'f4','fortran_order':False,'shape':(0L,)}")), "python 2").shape,
            Shape{0});
}

TEST(Npy, MissingFileIsAFileError) {
  EXPECT_NE(file_error([] { read_npy("/nonexistent/a.npy"); }).find("No such file"), std::string::npos);
}

TEST(HostArray, ChecksDtypeAndSize) {
  const HostArray a = HostArray::from<float>({2, 2}, std::vector<float>{1, 2, 3, 4});
  EXPECT_EQ(a.nbytes(), 16u);
  EXPECT_THROW(a.as<double>(), DtypeError);
  EXPECT_THROW(HostArray::from<float>({3}, std::vector<float>{1}), ShapeError);
  EXPECT_THROW(HostArray::empty(Dtype::int8, {-1}), ShapeError);
  EXPECT_EQ(*HostArray::scalar<std::int64_t>(7).as<std::int64_t>(), 7);
}

}  // namespace
}  // namespace catenary::io
