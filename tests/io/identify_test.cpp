#include "catenary/io/identify.h"

#include "catenary/core/sha256.h"
#include "helpers.h"

namespace catenary::io {
namespace {

using namespace test;

TEST(Identify, ByContent) {
  const std::vector<std::pair<std::string, FileKind>> files = {
      {"io/le_f4.npy", FileKind::npy},
      {"io/stored.npz", FileKind::npz},
      {"chainer/training/result_adam/snapshot_iter_40", FileKind::npz},
      {"io/08.idx", FileKind::idx},
      {"io/0e.idx.gz", FileKind::idx_gzip},
      {"io/model.safetensors", FileKind::safetensors},
      {"io/sharded/model.safetensors.index.json", FileKind::safetensors_index},
      {"io/gguf/model.gguf", FileKind::gguf},
      {"io/rgb8.png", FileKind::png},
      {"io/rgb.jpg", FileKind::jpeg},
      {"make_io_fixtures.py", FileKind::unknown},
      {"chainer/training/result_adam/log", FileKind::unknown}};
  for (const auto& [name, kind] : files)
    EXPECT_STREQ(file_kind_name(identify(data_path(name))), file_kind_name(kind)) << name;
  EXPECT_EQ(identify(std::span<const std::byte>()), FileKind::unknown);
  EXPECT_EQ(identify(as_bytes(std::string("\x1f\x8b\x08junk"))), FileKind::unknown);
}

/// A zip archive whose first member is the pickled object, and files from before PyTorch 1.6.
TEST(Identify, PyTorchsFiles) {
  std::string zip("PK\x03\x04", 4);
  zip.resize(30);
  zip[26] = 16;
  zip += "archive/data.pkl\x80\x02";
  const std::string old = "\x80\x02\x8a\nl\xfc\x9c\x46\xf9 j\xa8P\x19.\x80\x02";
  for (const std::string& text : {zip, old}) {
    EXPECT_STREQ(file_kind_name(identify(as_bytes(text))), "PyTorch");
    EXPECT_NE(what_it_is(as_bytes(text)).find("safetensors.torch.save_file"), std::string::npos);
  }
  EXPECT_EQ(identify(as_bytes(zip.substr(0, 33))), FileKind::npz);
  EXPECT_EQ(identify(as_bytes(zip.substr(0, 20))), FileKind::npz);
  EXPECT_EQ(what_it_is(as_bytes(std::string("no\x01thing"))), "");
  EXPECT_EQ(what_it_is(as_bytes(std::string())), "");
  EXPECT_EQ(what_it_is(as_bytes(std::string("milk,\r\n\tbutter and K\xc3\xa4se\n"))), "a text");
}

TEST(Sha256, KnownDigests) {
  EXPECT_EQ(sha256(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(sha256("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  const TemporaryFolder folder;
  os::write_file(folder / "f", "abc");
  EXPECT_EQ(sha256_of_file(folder / "f"), sha256("abc"));
  Sha256 digest;
  digest.update("a");
  digest.update("bc");
  EXPECT_EQ(digest.hex(), sha256("abc"));
  EXPECT_THROW(digest.update("d"), ValueError);
  EXPECT_THROW(sha256_of_file(folder / "none"), FileError);
}

}  // namespace
}  // namespace catenary::io
