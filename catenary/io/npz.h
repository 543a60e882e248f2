#pragma once
// NumPy's .npz files: zip archives of .npy members, as numpy.savez and numpy.savez_compressed (and Chainer) write them.

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "catenary/io/npy.h"

namespace catenary::io {

/// Options of NpzReader.
struct NpzReadOptions {
  NpyOptions npy = {};
  /// Larger unpacked members throw FileError.
  std::uint64_t max_member_bytes = std::uint64_t{1} << 40;
};

/// Reads members by name (without ".npy"). Supports Zip64, and stored and deflated members, and checks CRCs. Throws
/// FileError for archives with repeated names, encrypted members, or impossible sizes. Not thread-safe.
class CT_API NpzReader {
 public:
  /// Maps a file until the reader is destroyed. Throws FileError.
  explicit NpzReader(const std::string& path, const NpzReadOptions& options = {});
  /// Reads an archive in memory, which must outlive the reader. `name` is used in messages.
  NpzReader(std::span<const std::byte> bytes, const std::string& name, const NpzReadOptions& options = {});
  NpzReader(NpzReader&&) noexcept;
  NpzReader& operator=(NpzReader&&) noexcept;
  ~NpzReader();

  /// Returns the keys, in the archive's order.
  const std::vector<std::string>& names() const;
  bool contains(const std::string& key) const;
  /// Returns the value of a key. Throws FileError if it is missing, damaged, or of an unsupported type.
  NpyValue read(const std::string& key) const;
  /// Returns the array of a key. Throws FileError for strings and None, too.
  HostArray read_array(const std::string& key) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// Whether entries of an NPZ file are compressed.
enum class NpzCompression { stored, deflate };

/// Options of NpzWriter.
struct NpzWriteOptions {
  NpzCompression compression = NpzCompression::deflate;
  int level = 6;  ///< of deflate, 1 (fast) to 9 (small)
  NpyOptions npy = {};
};

/// Writes an archive for numpy.load and Chainer's load_npz. The complete file appears at finish(). A writer destroyed
/// before leaves nothing. Equal content gives equal bytes (there are no time stamps).
class CT_API NpzWriter {
 public:
  explicit NpzWriter(const std::string& path, const NpzWriteOptions& options = {});
  NpzWriter(NpzWriter&&) noexcept;
  NpzWriter& operator=(NpzWriter&&) noexcept;
  ~NpzWriter();

  /// Adds a member. Throws ValueError for a repeated key, and FileError if writing fails.
  void write(const std::string& key, const HostArray& array);
  void write(const std::string& key, const std::string& utf8);
  void write(const std::string& key, None);
  void finish();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace catenary::io
