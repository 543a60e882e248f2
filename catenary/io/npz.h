#pragma once
// NumPy's .npz files: zip archives of .npy members, as numpy.savez and numpy.savez_compressed (Chainer's snapshots)
// write them.

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "catenary/io/npy.h"

namespace catenary::io {

/// Options of NpzReader.
struct NpzReadOptions {
  NpyOptions npy = {};
  /// A member that unpacks to more is refused.
  std::uint64_t max_member_bytes = std::uint64_t{1} << 40;
};

/// Reads members by name (without ".npy"). Zip64, stored and deflated members; CRCs are checked; an archive with two
/// members of one name, encrypted members, or sizes that the bytes there cannot unpack to is refused. Not for use by
/// several threads at once.
class CT_API NpzReader {
 public:
  /// Opens a file (mapped while the reader lives); throws FileError.
  explicit NpzReader(const std::string& path, const NpzReadOptions& options = {});
  /// Reads an archive in memory, which must outlive the reader; `name` is for messages.
  NpzReader(std::span<const std::byte> bytes, const std::string& name, const NpzReadOptions& options = {});
  NpzReader(NpzReader&&) noexcept;
  NpzReader& operator=(NpzReader&&) noexcept;
  ~NpzReader();

  /// The keys, in the order of the archive.
  const std::vector<std::string>& names() const;
  bool contains(const std::string& key) const;
  /// The value of a key; throws FileError when it is not there, damaged, or of a type that cannot be read.
  NpyValue read(const std::string& key) const;
  /// As read, where an array of numbers is expected: throws FileError for strings and None.
  HostArray read_array(const std::string& key) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// Are the entries of an NPZ file compressed?
enum class NpzCompression { stored, deflate };

/// Options of NpzWriter.
struct NpzWriteOptions {
  NpzCompression compression = NpzCompression::deflate;
  int level = 6;  ///< of deflate, 1 (fast) to 9 (small)
  NpyOptions npy = {};
};

/// Writes an archive that numpy.load and Chainer's load_npz read. The file appears, complete, at finish(); a writer
/// that goes away before leaves nothing. The same content gives the same bytes (no time stamps).
class CT_API NpzWriter {
 public:
  explicit NpzWriter(const std::string& path, const NpzWriteOptions& options = {});
  NpzWriter(NpzWriter&&) noexcept;
  NpzWriter& operator=(NpzWriter&&) noexcept;
  ~NpzWriter();

  /// Adds a member; throws ValueError for a key that was written before, FileError when writing fails.
  void write(const std::string& key, const HostArray& array);
  void write(const std::string& key, const std::string& utf8);
  void write(const std::string& key, None);
  void finish();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace catenary::io
