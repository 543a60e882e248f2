#pragma once
// Room core/os: everything that is POSIX lives here (files, libraries, terminals, signals, processes, memory), so that
// another system means other .cpp files in this folder and nowhere else. Nothing of arrays, formats or devices may come
// in.
//
// This file: whole files, read-only views, atomic writing, folders.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "catenary/core/export.h"

namespace catenary::os {

/// The whole content of a regular file; throws FileError naming it and the system's reason, or what it is in place of a
/// regular file (a FIFO, a device, …).
CT_API std::vector<std::byte> read_file(const std::string& path);

/// A regular file's content, mapped read-only into memory (what cannot be mapped, such as a file of /proc, is read).
/// The file must not be shortened by somebody else while the view lives; files written by AtomicFile never are.
class CT_API FileView {
 public:
  /// Throws FileError when the file cannot be opened or read, or is no regular file.
  explicit FileView(const std::string& path);
  FileView(FileView&& other) noexcept;
  FileView& operator=(FileView&& other) noexcept;
  ~FileView();

  std::span<const std::byte> bytes() const { return {data_, size_}; }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
  const std::byte* data_ = nullptr;
  std::size_t size_ = 0;
  bool mapped_ = false;
  std::vector<std::byte> copy_;
};

/// A file that appears complete or not at all: written under a temporary name in the same folder, synchronised to the
/// disk and renamed by commit(). Without commit() the temporary file is removed and what was there before stays. What a
/// writer that was killed has left is removed by the next one of the same file. Mode 0644 less the umask.
class CT_API AtomicFile {
 public:
  /// Creates the temporary file; throws FileError. A symbolic link as `path` is followed.
  explicit AtomicFile(const std::string& path);
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;
  ~AtomicFile();

  /// Appends; throws FileError (disk full, …).
  void write(std::span<const std::byte> bytes);
  void write(std::string_view text);
  /// Bytes written so far.
  std::uint64_t offset() const { return offset_; }
  /// Gives the file its name; throws FileError, after which the old file is still there. To be called once, last.
  void commit();

  const std::string& path() const { return path_; }
  std::string temporary_path() const;

 private:
  friend class PrivateFolder;
  struct Place;
  static Place place_of(const std::string& path);
  AtomicFile(const std::string& path, Place&& place);

  std::string path_;
  std::unique_ptr<Place> place_;
  std::uint64_t offset_ = 0;
};

/// Writes a whole file atomically.
CT_API void write_file(const std::string& path, std::span<const std::byte> bytes);
CT_API void write_file(const std::string& path, std::string_view text);

/// Is there a file or folder of that name; is it a folder?
CT_API bool exists(const std::string& path);
CT_API bool is_directory(const std::string& path);
/// Bytes of a file; throws FileError.
CT_API std::size_t file_size(const std::string& path);
/// Seconds since 1970 of the last change, with fractions; throws FileError.
CT_API double modification_time(const std::string& path);
/// Names in a folder (without . and ..), sorted; throws FileError.
CT_API std::vector<std::string> list_directory(const std::string& path);
/// Makes a folder and its parents; one that is there already is fine. Throws FileError.
CT_API void make_directories(const std::string& path);
/// Removes a file; one that is not there is fine. Throws FileError.
CT_API void remove_file(const std::string& path);
/// A new empty folder under the system's place for temporary files, its name beginning with `prefix`; throws FileError.
CT_API std::string make_temporary_directory(const std::string& prefix);
/// Removes a folder and all that is in it, which others may do at the same time; throws FileError.
CT_API void remove_directory(const std::string& path);

}  // namespace catenary::os
