#pragma once
// Folder core/os: all code that differs between systems lives here (files, libraries, terminals, signals, processes,
// memory): headers in this folder, sources in posix/ and windows/. Code about arrays, formats or devices does not
// belong here.
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

/// Reads the whole content of a regular file. Throws FileError with the file's name and the system's reason, or its
/// type if it is not a regular file (a FIFO, a device, …).
CT_API std::vector<std::byte> read_file(const std::string& path);

/// Maps a regular file read-only into memory. Files that cannot be mapped, such as those in /proc, are read. Do not
/// shorten the file while the view exists; AtomicFile never does.
class CT_API FileView {
 public:
  /// Throws FileError if the file cannot be opened or read, or is not a regular file.
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

/// A file that appears complete or not at all. It is written under a temporary name in the target's folder, then
/// synchronised to the disk and renamed by commit(). Without commit() the temporary file is removed and the old file
/// stays. Temporary files of killed writers are removed by the next writer of that file. The mode is 0644 less the
/// umask.
class CT_API AtomicFile {
 public:
  /// Creates the temporary file. Throws FileError. If `path` is a symbolic link, it is followed.
  explicit AtomicFile(const std::string& path);
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;
  ~AtomicFile();

  /// Appends. Throws FileError (disk full, …).
  void write(std::span<const std::byte> bytes);
  void write(std::string_view text);
  /// Returns the bytes written so far.
  std::uint64_t offset() const { return offset_; }
  /// Renames the file to its final name. Throws FileError, and then the old file is still there. Call it once, last.
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

/// Return whether a file or folder exists, and whether it is a folder.
CT_API bool exists(const std::string& path);
CT_API bool is_directory(const std::string& path);
/// Returns the size of a file in bytes. Throws FileError.
CT_API std::size_t file_size(const std::string& path);
/// Returns the time of the last change in seconds since 1970, with fractions. Throws FileError.
CT_API double modification_time(const std::string& path);
/// Returns the names in a folder (without . and ..), sorted. Throws FileError.
CT_API std::vector<std::string> list_directory(const std::string& path);
/// Makes a folder and its parents, unless they exist. Throws FileError.
CT_API void make_directories(const std::string& path);
/// Removes a file if it exists. Throws FileError.
CT_API void remove_file(const std::string& path);
/// Makes an empty folder in the system's folder for temporary files. Its name begins with `prefix`. Throws FileError.
CT_API std::string make_temporary_directory(const std::string& prefix);
/// Removes a folder and its contents, which other processes may also be doing. Throws FileError.
CT_API void remove_directory(const std::string& path);

}  // namespace catenary::os
