#pragma once
// Private to the library and its tools. Files that are trusted as much as the program itself.

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "catenary/core/export.h"

namespace catenary::os {

/// A folder in which nobody writes but this user and root. It is held open: what was checked is what is read and
/// written, whatever its path names meanwhile.
class CT_API PrivateFolder {
 public:
  /// Nothing where there is no such folder. Throws FileError where it cannot be opened, belongs to neither this user
  /// nor root, or others may write to it. A symbolic link is followed where it is this user's or root's itself.
  static std::optional<PrivateFolder> find(const std::string& path);
  /// The same, but makes what is missing, with mode 0700.
  static PrivateFolder make(const std::string& path);

  /// The content of a file, or nothing where there is none. Throws FileError for a file that belongs to another user,
  /// that others may write, or that is a symbolic link, and where it cannot be read.
  std::optional<std::vector<std::byte>> read(const std::string& name) const;
  /// Writes a whole file atomically, with mode 0600; throws FileError.
  void write(const std::string& name, std::span<const std::byte> bytes) const;
  /// Removes a file, one that was not finished only where nobody writes it any more; was it removed?
  bool remove(const std::string& name) const;

  struct Entry {
    std::string name;
    std::size_t bytes = 0;
    double time = 0;          ///< of the last change, seconds since 1970
    bool unfinished = false;  ///< a temporary file of write(): its writer is at work, or was killed
  };
  /// Its regular files, by name.
  std::vector<Entry> list() const;

 private:
  class Open;
  explicit PrivateFolder(std::shared_ptr<const Open> open) : open_(std::move(open)) {}
  std::shared_ptr<const Open> open_;
};

}  // namespace catenary::os
