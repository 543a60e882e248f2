#pragma once
// A temporary folder that is removed with its object.

#include <string>

#include "catenary/core/os/file.h"

namespace tests {

class Folder {
 public:
  Folder() : path(catenary::os::make_temporary_directory("folder-")) {}
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  ~Folder() { catenary::os::remove_directory(path); }
  std::string operator/(const std::string& name) const { return path + "/" + name; }
  /// Writes a file and its parent folders. Returns its path.
  std::string write(const std::string& name, const std::string& content) const {
    const std::string file = *this / name;
    catenary::os::make_directories(file.substr(0, file.rfind('/')));
    catenary::os::write_file(file, content);
    return file;
  }

  const std::string path;
};

}  // namespace tests
