#include "catenary/io/npz.h"

#include <zlib.h>

#include <cmath>

#include "helpers.h"

namespace catenary::io {
namespace {

using namespace test;

HostArray halves(const Shape& shape) {
  HostArray a = HostArray::empty(Dtype::float32, shape);
  for (std::int64_t i = 0; i < a.size(); ++i) a.as<float>()[i] = static_cast<float>(i) * 0.5f - 2;
  return a;
}

TEST(Npz, ReadsWhatNumPyWrites) {
  for (const std::string name : {"io/stored.npz", "io/deflated.npz"}) {
    const NpzReader npz(data_path(name));
    EXPECT_EQ(npz.names(), (std::vector<std::string>{"a", "path/to:x", "text", "none", "flag", "h\u00e9"}));
    EXPECT_TRUE(npz.contains("path/to:x"));
    EXPECT_FALSE(npz.contains("a.npy"));
    const HostArray a = npz.read_array("a");
    EXPECT_EQ(a.shape, (Shape{2, 3}));
    EXPECT_EQ(values_of(a), expected_numbers(Dtype::float32, 6));
    EXPECT_EQ(values_of(npz.read_array("path/to:x")), (std::vector<double>{-2}));
    EXPECT_EQ(std::get<std::string>(npz.read("text")), "[1, 2]");
    EXPECT_TRUE(std::holds_alternative<None>(npz.read("none")));
    EXPECT_EQ(*npz.read_array("flag").as<bool>(), true);
    EXPECT_EQ(values_of(npz.read_array("h\u00e9")), (std::vector<double>{-2, -1, 0}));
    EXPECT_NE(file_error([&] { npz.read("b"); }).find("no 'b'"), std::string::npos);
    EXPECT_NE(file_error([&] { npz.read_array("none"); }).find("None"), std::string::npos);
  }
}

TEST(Npz, ReadsAChainerSnapshot) {
  const NpzReader npz(data_path("chainer/training/result_adam/snapshot_iter_40"));
  EXPECT_EQ(npz.names().size(), 46u);
  EXPECT_EQ(npz.read_array("updater/model:main/predictor/l1/W").shape, (Shape{50, 784}));
  EXPECT_EQ(*npz.read_array("updater/iteration").as<std::int64_t>(), 40);
  EXPECT_EQ(npz.read_array("updater/iterator:main/is_new_epoch").dtype, Dtype::bool_);
  EXPECT_EQ(std::get<std::string>(npz.read("extensions/LogReport/_summary/_names")), "[]");
  EXPECT_EQ(std::get<std::string>(npz.read("extensions/LogReport/_log")).substr(0, 2), "[{");
  for (const std::string& key : npz.names()) EXPECT_NO_THROW(npz.read(key)) << key;
  // writing again, stored and compressed, keeps everything
  const TemporaryFolder folder;
  for (const auto compression : {NpzCompression::stored, NpzCompression::deflate}) {
    NpzWriter writer(folder / "snapshot", {.compression = compression});
    for (const std::string& key : npz.names())
      std::visit(
          [&](const auto& value) {
            if constexpr (!std::is_same_v<std::decay_t<decltype(value)>, StringArray>) writer.write(key, value);
          },
          npz.read(key));
    EXPECT_FALSE(os::exists(folder / "snapshot"));
    writer.finish();
    const NpzReader again(folder / "snapshot");
    EXPECT_EQ(again.names(), npz.names());
    for (const std::string& key : npz.names()) {
      const NpyValue a = npz.read(key), b = again.read(key);
      ASSERT_EQ(a.index(), b.index()) << key;
      if (const auto* array = std::get_if<HostArray>(&a)) {
        const auto& other = std::get<HostArray>(b);
        EXPECT_EQ(array->shape, other.shape);
        EXPECT_EQ(array->dtype, other.dtype);
        EXPECT_TRUE(
            std::equal(array->bytes().begin(), array->bytes().end(), other.bytes().begin(), other.bytes().end()))
            << key;
      } else if (const auto* text = std::get_if<std::string>(&a)) {
        EXPECT_EQ(*text, std::get<std::string>(b));
      }
    }
    os::remove_file(folder / "snapshot");
  }
}

TEST(Npz, WriterRoundTripsEveryKindOfValue) {
  const TemporaryFolder folder;
  for (const auto compression : {NpzCompression::stored, NpzCompression::deflate}) {
    NpzWriter writer(folder / "a.npz", {.compression = compression});
    writer.write("updater/model:main/W", halves({3, 5}));
    writer.write("empty", halves({0, 2}));
    writer.write("scalar", HostArray::scalar(std::int64_t{-7}));
    writer.write("log", std::string("[{\"loss\": 1.5}] \u00e9"));
    writer.write("nothing", None{});
    writer.write("\u4e16", HostArray::scalar(true));
    writer.write("big", halves({300, 1000}));
    EXPECT_THROW(writer.write("log", None{}), ValueError);
    EXPECT_THROW(writer.write("", None{}), ValueError);
    writer.finish();
    EXPECT_THROW(writer.write("late", None{}), ValueError);
    EXPECT_THROW(writer.finish(), ValueError);
    const NpzReader npz(folder / "a.npz");
    EXPECT_EQ(npz.names().size(), 7u);
    EXPECT_EQ(values_of(npz.read_array("updater/model:main/W")), values_of(halves({3, 5})));
    EXPECT_EQ(npz.read_array("empty").shape, (Shape{0, 2}));
    EXPECT_EQ(*npz.read_array("scalar").as<std::int64_t>(), -7);
    EXPECT_EQ(std::get<std::string>(npz.read("log")), "[{\"loss\": 1.5}] \u00e9");
    EXPECT_TRUE(std::holds_alternative<None>(npz.read("nothing")));
    EXPECT_EQ(*npz.read_array("\u4e16").as<bool>(), true);
    EXPECT_EQ(values_of(npz.read_array("big")), values_of(halves({300, 1000})));
  }
}

TEST(Npz, AnEmptyArchiveAndManyMembers) {
  const TemporaryFolder folder;
  NpzWriter(folder / "none.npz").finish();
  EXPECT_EQ(os::read_file(folder / "none.npz").size(), 22u);
  EXPECT_TRUE(NpzReader(folder / "none.npz").names().empty());
  NpzWriter many(folder / "many.npz", {.compression = NpzCompression::stored});  // past 65535: zip64
  const HostArray one = HostArray::scalar(std::uint8_t{1});
  for (int i = 0; i < 66000; ++i) many.write(std::to_string(i), one);
  many.finish();
  const NpzReader npz(folder / "many.npz");
  EXPECT_EQ(npz.names().size(), 66000u);
  EXPECT_EQ(*npz.read_array("65999").as<std::uint8_t>(), 1);
}

TEST(Npz, AWriterThatGoesAwayLeavesTheOldFile) {
  const TemporaryFolder folder;
  os::write_file(folder / "a.npz", "old");
  {
    NpzWriter writer(folder / "a.npz");
    writer.write("x", halves({10}));
    EXPECT_EQ(os::list_directory(folder.path).size(), 2u);
  }
  EXPECT_EQ(os::list_directory(folder.path), std::vector<std::string>{"a.npz"});
  EXPECT_EQ(os::read_file(folder / "a.npz").size(), 3u);
}

TEST(Npz, SameContentGivesSameBytes) {
  const TemporaryFolder folder;
  for (const std::string name : {"a", "b"}) {
    NpzWriter writer(folder / name);
    writer.write("x", halves({100}));
    writer.finish();
  }
  EXPECT_EQ(os::read_file(folder / "a"), os::read_file(folder / "b"));
}

TEST(Npz, RefusesWhatItCannotRead) {
  EXPECT_NE(file_error([] { NpzReader(data_path("io/lzma.npz")).read("a"); }).find("compression method"),
            std::string::npos);
  EXPECT_NE(file_error([] { NpzReader(data_path("io/plain_member.npz")).read("readme.txt"); }).find("\\x93NUMPY"),
            std::string::npos);
  EXPECT_NE(file_error([] { NpzReader(data_path("io/le_f4.npy")); }).find("not an NPZ file"), std::string::npos);
  const NpzReader small(data_path("io/deflated.npz"), {.max_member_bytes = 16});
  EXPECT_NE(file_error([&] { small.read("a"); }).find("limit of 16"), std::string::npos);
}

void read_all_of_npz(std::span<const std::byte> bytes) {
  const NpzReader npz(bytes, "piece");
  for (const std::string& key : npz.names()) npz.read(key);
}

TEST(Npz, FailsOnEveryTruncationAndSurvivesDamage) {
  for (const std::string name : {"io/stored.npz", "io/deflated.npz"}) {
    const auto bytes = os::read_file(data_path(name));
    expect_truncations_fail(bytes, read_all_of_npz);
    expect_damage_is_survived(bytes, read_all_of_npz);
  }
}

/// The flags of a member, from its local header.
int flags_of(const std::string& path, const std::string& member) {
  const std::vector<std::byte> bytes = os::read_file(path);
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  constexpr std::size_t kHeader = 30, kFlags = 6;
  const std::size_t at = text.find(member);
  if (at == std::string_view::npos || at < kHeader) {
    ADD_FAILURE() << path << " has no " << member;
    return -1;
  }
  return std::to_integer<int>(bytes[at - kHeader + kFlags]) | std::to_integer<int>(bytes[at - kHeader + kFlags + 1])
                                                                  << 8;
}

// Without the flag, other programs read the names as code page 437.
TEST(Npz, NamesInUtf8AreFlaggedAsInNumPysFiles) {
  const TemporaryFolder folder;
  NpzWriter writer(folder / "a.npz", {.compression = NpzCompression::stored});
  writer.write("a", halves({2}));
  writer.write("h\u00e9", halves({2}));
  writer.finish();
  constexpr int kUtf8 = 1 << 11;
  for (const std::string& path : {folder / "a.npz", data_path("io/stored.npz")}) {
    EXPECT_EQ(flags_of(path, "a.npy") & kUtf8, 0) << path;
    EXPECT_EQ(flags_of(path, "h\u00e9.npy") & kUtf8, kUtf8) << path;
  }
}

TEST(Npz, DamagedTextIsFound) {
  const TemporaryFolder folder;
  NpzWriter writer(folder / "a", {.compression = NpzCompression::stored});
  writer.write("x", std::string("once upon a time"));
  writer.finish();
  auto bytes = os::read_file(folder / "a");
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  const std::size_t at = text.find(std::string_view("u\0\0\0p", 5));  // in UTF-32
  ASSERT_NE(at, std::string_view::npos);
  bytes[at] = std::byte{'U'};
  EXPECT_NE(file_error([&] { read_all_of_npz(bytes); }).find("CRC"), std::string::npos);
}

TEST(Npz, DamagedElementsAreFound) {
  const TemporaryFolder folder;
  NpzWriter writer(folder / "a", {.compression = NpzCompression::stored});
  writer.write("x", halves({64}));
  writer.finish();
  auto bytes = os::read_file(folder / "a");
  bytes[30 + 5 + 128 + 40] ^= std::byte{1};  // after the local header, the name and the NPY header
  EXPECT_NE(file_error([&] { read_all_of_npz(bytes); }).find("CRC"), std::string::npos);
}

TEST(Npz, RefusesTwoMembersOfOneName) {
  const TemporaryFolder folder;
  NpzWriter writer(folder / "a", {.compression = NpzCompression::stored});
  writer.write("x1", HostArray::scalar(1.0));
  writer.write("x2", HostArray::scalar(2.0));
  writer.finish();
  const auto bytes = os::read_file(folder / "a");
  std::string text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  for (std::size_t at; (at = text.find("x2.npy")) != std::string::npos;) text[at + 1] = '1';
  const std::string message = file_error([&] { NpzReader(as_bytes(text), "twice"); });
  EXPECT_NE(message.find("two members have one name"), std::string::npos) << message;
}

/// An archive with one deflated member whose header states an unpacked size of `stated` bytes.
std::string archive_of(const std::string& content, std::size_t stated) {
  const auto le = [](std::size_t value, int bytes) {
    std::string text;
    for (int i = 0; i < bytes; ++i) text += static_cast<char>(i < 8 ? (value >> (8 * i)) & 0xff : 0);
    return text;
  };
  std::string packed(content.size() + 1024, '\0');
  z_stream stream{};
  deflateInit2(&stream, 6, Z_DEFLATED, -15, 8, Z_DEFAULT_STRATEGY);
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(content.data()));
  stream.avail_in = static_cast<uInt>(content.size());
  stream.next_out = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_out = static_cast<uInt>(packed.size());
  EXPECT_EQ(deflate(&stream, Z_FINISH), Z_STREAM_END);
  packed.resize(stream.total_out);
  deflateEnd(&stream);
  const auto crc = crc32(0, reinterpret_cast<const Bytef*>(content.data()), static_cast<uInt>(stated));
  const std::string name = "x.npy", about = le(0, 2) + le(8, 2) + le(0, 2) + le(0x21, 2) + le(crc, 4) +
                                            le(packed.size(), 4) + le(stated, 4) + le(name.size(), 2) + le(0, 2);
  const std::string local = "PK\x03\x04" + le(20, 2) + about + name + packed;
  const std::string central = "PK\x01\x02" + le(20, 2) + le(20, 2) + about + le(0, 14) + name;
  return local + central + "PK\x05\x06" + le(0, 4) + le(1, 2) + le(1, 2) + le(central.size(), 4) + le(local.size(), 4) +
         le(0, 2);
}

TEST(Npz, RefusesAMemberThatIsLongerThanTheArchiveSays) {
  const HostArray a = halves({63});
  const std::string content =
      npy_header(a) + std::string(reinterpret_cast<const char*>(a.bytes().data()), a.bytes().size());
  const std::string right = archive_of(content, content.size());
  EXPECT_EQ(values_of(NpzReader(as_bytes(right), "right").read_array("x")), values_of(a));
  const std::string longer = archive_of(content + "more", content.size());
  EXPECT_NE(file_error([&] { read_all_of_npz(as_bytes(longer)); }), "");
}

TEST(Npz, AHeaderOfNoLengthReadsNothingBehindIt) {
  using namespace std::string_literals;
  const std::string content = "\x93NUMPY\x01\x00\x00\x00"s + std::string(std::size_t{1} << 20, '{');
  EXPECT_NE(file_error([&] { read_all_of_npz(as_bytes(archive_of(content, content.size()))); }).find("header"),
            std::string::npos);
}

TEST(Npz, RefusesBombs) {
  // a member with a stated size that its bytes cannot unpack to
  const TemporaryFolder folder;
  NpzWriter writer(folder / "a");
  writer.write("x", HostArray::scalar(1.0));
  writer.finish();
  auto bytes = os::read_file(folder / "a");
  const std::string text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  const std::size_t central = text.find("PK\x01\x02");
  for (const std::size_t at : {std::size_t{22}, central + 24}) bytes[at + 3] = std::byte{0x7f};
  EXPECT_NE(file_error([&] { read_all_of_npz(bytes); }).find("cannot unpack"), std::string::npos);
}

}  // namespace
}  // namespace catenary::io
