#pragma once
// Private to the library and its tools: files that are trusted as much as the program itself.

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "catenary/core/export.h"

namespace catenary::os {

/// A folder that only this user and root can write to. It is held open, so that the checked folder is the one that is
/// read and written, even if its path is changed.
class CT_API PrivateFolder {
 public:
  /// Opens the folder, or returns nothing if it does not exist. Throws FileError if it cannot be opened, belongs to
  /// neither this user nor root, or is writable by others. A symbolic link is followed if this user or root owns it.
  static std::optional<PrivateFolder> find(const std::string& path);
  /// Opens the folder as find() does, but makes missing folders with mode 0700.
  static PrivateFolder make(const std::string& path);

  /// Reads a file, or returns nothing if it does not exist. Throws FileError for a file that belongs to another user,
  /// that others may write, that is a symbolic link, or that cannot be read.
  std::optional<std::vector<std::byte>> read(const std::string& name) const;
  /// Writes a whole file atomically, with mode 0600. Throws FileError.
  void write(const std::string& name, std::span<const std::byte> bytes) const;
  /// Removes a file and returns whether it did. An unfinished file is removed only if nobody is writing it.
  bool remove(const std::string& name) const;

  struct Entry {
    std::string name;
    std::size_t bytes = 0;
    double time = 0;          ///< of the last change, in seconds since 1970
    bool unfinished = false;  ///< a temporary file of write() whose writer is running or was killed
  };
  /// Returns its regular files, by name.
  std::vector<Entry> list() const;

 private:
  class Open;
  explicit PrivateFolder(std::shared_ptr<const Open> open) : open_(std::move(open)) {}
  std::shared_ptr<const Open> open_;
};

}  // namespace catenary::os
