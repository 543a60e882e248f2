#include "catenary/core/os/file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <new>
#include <stdexcept>
#include <utility>

#include "catenary/core/format.h"
#include "catenary/core/os/posix/detail.h"
#include "catenary/core/os/system_temporary_folder.h"

namespace catenary::os {

void fail_errno(const std::string& path, const char* what) {
  const int code = errno;
  fail<FileError>("{}: {}: {}", path, what, std::strerror(code));
}

void fail_code(const std::string& path, const char* what, const std::error_code& code) {
  fail<FileError>("{}: {}: {}", path, what, code.message());
}

std::vector<std::byte> read_all(int fd, const std::string& path, std::size_t expected) try {
  std::vector<std::byte> bytes(expected);
  std::size_t used = 0;
  for (;;) {
    if (used == bytes.size()) {
      // the size is only a hint (0 for pipes and /proc): check for more data before growing
      std::byte more[4096];
      const ssize_t n = ::read(fd, more, sizeof more);
      if (n < 0 && errno == EINTR) continue;
      if (n < 0) fail_errno(path, "cannot read");
      if (n == 0) break;
      bytes.insert(bytes.end(), more, more + n);
      used = bytes.size();
      bytes.resize(used + std::min<std::size_t>(used, std::size_t{1} << 24));
      continue;
    }
    const ssize_t n = ::read(fd, bytes.data() + used, std::min<std::size_t>(bytes.size() - used, std::size_t{1} << 30));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) fail_errno(path, "cannot read");
    if (n == 0) break;
    used += static_cast<std::size_t>(n);
  }
  bytes.resize(used);
  return bytes;
} catch (const std::bad_alloc&) {
  fail<FileError>("{}: its {} bytes do not fit into memory", path, expected);
} catch (const std::length_error&) {
  fail<FileError>("{}: its {} bytes do not fit into memory", path, expected);
}

namespace {

const char* kind_of(mode_t mode) {
  return S_ISFIFO(mode)   ? "a pipe (FIFO)"
         : S_ISCHR(mode)  ? "a character device"
         : S_ISBLK(mode)  ? "a block device"
         : S_ISSOCK(mode) ? "a socket"
                          : "no regular file";
}

/// Opens a file only if it is regular: a FIFO may wait for its writer forever, and a device may have no end.
Descriptor open_for_reading(const std::string& path, struct stat& info) {
  Descriptor fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  if (!fd) fail_errno(path, "cannot open");
  if (::fstat(fd.get(), &info) != 0) fail_errno(path, "cannot read");
  if (S_ISDIR(info.st_mode)) {
    errno = EISDIR;
    fail_errno(path, "cannot read");
  }
  if (!S_ISREG(info.st_mode))
    fail<FileError>("{}: it is {}; only regular files can be read: copy its output into one", path,
                    kind_of(info.st_mode));
  return fd;
}

}  // namespace

std::vector<std::byte> read_file(const std::string& path) {
  struct stat info {};
  const Descriptor fd = open_for_reading(path, info);
  return read_all(fd.get(), path, static_cast<std::size_t>(info.st_size));
}

FileView::FileView(const std::string& path) : path_(path) {
  struct stat info {};
  const Descriptor fd = open_for_reading(path, info);
  const auto size = static_cast<std::size_t>(info.st_size);
  if (size > 0) {
    void* memory = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, fd.get(), 0);
    if (memory != MAP_FAILED) {
      data_ = static_cast<const std::byte*>(memory);
      size_ = size;
      mapped_ = true;
      return;
    }
  }
  copy_ = read_all(fd.get(), path, size);
  data_ = copy_.data();
  size_ = copy_.size();
}

FileView::~FileView() {
  if (mapped_) ::munmap(const_cast<std::byte*>(data_), size_);
}

bool exists(const std::string& path) {
  std::error_code code;
  return std::filesystem::exists(path, code);
}

bool is_directory(const std::string& path) {
  std::error_code code;
  return std::filesystem::is_directory(path, code);
}

std::size_t file_size(const std::string& path) {
  struct stat info {};
  if (::stat(path.c_str(), &info) != 0) fail_errno(path, "cannot get its size");
  return static_cast<std::size_t>(info.st_size);
}

double modification_time(const std::string& path) {
  struct stat info {};
  if (::stat(path.c_str(), &info) != 0) fail_errno(path, "cannot get its time");
  return static_cast<double>(info.st_mtim.tv_sec) + 1e-9 * static_cast<double>(info.st_mtim.tv_nsec);
}

std::vector<std::string> list_directory(const std::string& path) {
  std::error_code code;
  std::vector<std::string> names;
  for (std::filesystem::directory_iterator i(path, code), end; !code && i != end; i.increment(code))
    names.push_back(i->path().filename().string());
  if (code) fail_code(path, "cannot list", code);
  std::sort(names.begin(), names.end());
  return names;
}

void make_directories(const std::string& path) {
  if (path.empty()) return;
  std::error_code code;
  std::filesystem::create_directories(path, code);
  if (code) fail_code(path, "cannot make the folder", code);
  if (!is_directory(path)) fail<FileError>("{}: cannot make the folder: a file has this name", path);
}

void remove_file(const std::string& path) {
  if (::unlink(path.c_str()) != 0 && errno != ENOENT) fail_errno(path, "cannot remove");
}

Descriptor memory_file(const char* name, std::span<const std::byte> content) {
  Descriptor file(::memfd_create(name, MFD_CLOEXEC));
  if (!file) fail_errno(name, "cannot make a file in memory");
  for (std::size_t written = 0; written < content.size();) {
    const ssize_t n = ::write(file.get(), content.data() + written, content.size() - written);
    if (n < 0 && errno != EINTR) fail_errno(name, "cannot write");
    if (n > 0) written += static_cast<std::size_t>(n);
  }
  if (::lseek(file.get(), 0, SEEK_SET) != 0) fail_errno(name, "cannot go back to the beginning");
  return file;
}

std::string temporary_root() {
  std::error_code code;
  std::string root = std::filesystem::temp_directory_path(code).string();
  if (code) fail_code("the folder for temporary files", "cannot find", code);
  if (root.size() > 1 && root.ends_with('/')) root.pop_back();
  return root;
}

std::string make_temporary_directory(const std::string& prefix) {
  std::string path = temporary_root() + "/" + prefix + "XXXXXX";
  if (::mkdtemp(path.data()) == nullptr) fail_errno(path, "cannot make the folder");
  return path;
}

void remove_directory(const std::string& path) {
  std::error_code code;
  // Another process may be removing this folder's contents: retry if an entry disappeared.
  do {
    std::filesystem::remove_all(path, code);
  } while (code == std::errc::no_such_file_or_directory);
  if (code) fail_code(path, "cannot remove the folder", code);
}

}  // namespace catenary::os
