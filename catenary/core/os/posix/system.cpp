#include "catenary/core/os/system.h"

#include <fcntl.h>
#include <grp.h>
#include <pwd.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <utility>

#include "catenary/core/os/posix/detail.h"
#include "catenary/core/os/system_temporary_folder.h"

namespace catenary::os {

namespace {

/// Returns the name of an error in manuals. The C library has a function for it only since 2.32.
std::string error_name(int code) {
  constexpr std::array<std::pair<int, const char*>, 9> kNames{{{ENOENT, "ENOENT"},
                                                               {EACCES, "EACCES"},
                                                               {EPERM, "EPERM"},
                                                               {EINVAL, "EINVAL"},
                                                               {EBUSY, "EBUSY"},
                                                               {ENODEV, "ENODEV"},
                                                               {ENXIO, "ENXIO"},
                                                               {EIO, "EIO"},
                                                               {EROFS, "EROFS"}}};
  for (const auto& [number, name] : kNames)
    if (number == code) return name;
  return std::strerror(code);
}

/// Returns the nearest existing folder: the path itself or one of its parents.
std::string nearest(std::string path) {
  std::error_code code;
  while (!path.empty() && path != "/" && !std::filesystem::exists(path, code))
    path = std::filesystem::path(path).parent_path().string();
  return path.empty() ? "." : path;
}

}  // namespace

std::string system_name() {
  utsname names{};
  if (::uname(&names) != 0) return "unknown";
  return std::string(names.sysname) + " " + names.release + " " + names.machine;
}

std::string user_name() {
  const passwd* entry = ::getpwuid(::geteuid());
  return entry ? entry->pw_name : std::to_string(::geteuid());
}

std::vector<std::uint32_t> process_groups() {
  std::vector<gid_t> groups(static_cast<std::size_t>(std::max(0, ::getgroups(0, nullptr))));
  const int n = ::getgroups(static_cast<int>(groups.size()), groups.data());
  groups.resize(static_cast<std::size_t>(std::max(0, n)));
  groups.push_back(::getegid());
  return {groups.begin(), groups.end()};
}

int code_page() { return 65001; }

std::tm local_time(std::time_t time) {
  std::tm local{};
  ::localtime_r(&time, &local);
  return local;
}

std::string open_error(const std::string& path) {
  const int descriptor = ::open(path.c_str(), O_RDWR | O_CLOEXEC | O_NONBLOCK);
  if (descriptor < 0) return error_name(errno);
  ::close(descriptor);
  return {};
}

bool is_writable_folder(const std::string& path) {
  // by trial: root has permission even on file systems where nobody can make anything
  std::string trial = nearest(path) + "/.catenary-XXXXXX";
  return ::mkdtemp(trial.data()) && ::rmdir(trial.c_str()) == 0;
}

std::string temporary_folder_of_user(const std::string& name) {
  return temporary_root() + "/" + name + "-" + std::to_string(::geteuid());
}

std::string user_cache_folder() {
  for (const auto& [variable, below] : {std::pair("XDG_CACHE_HOME", ""), std::pair("HOME", "/.cache")}) {
    const char* value = std::getenv(variable);
    if (value && *value) return std::string(value) + below;
  }
  return {};
}

std::int64_t owner_group(const std::string& path) {
  struct stat status {};
  return ::stat(path.c_str(), &status) == 0 ? static_cast<std::int64_t>(status.st_gid) : -1;
}

std::string link_target(const std::string& path) {
  std::error_code code;
  return std::filesystem::read_symlink(path, code).string();
}

std::uint64_t free_bytes(const std::string& path) {
  struct statfs status {};
  return ::statfs(nearest(path).c_str(), &status) == 0
             ? static_cast<std::uint64_t>(status.f_bavail) * static_cast<std::uint64_t>(status.f_bsize)
             : 0;
}

std::uint64_t total_bytes(const std::string& path) {
  struct statfs status {};
  return ::statfs(nearest(path).c_str(), &status) == 0
             ? static_cast<std::uint64_t>(status.f_blocks) * static_cast<std::uint64_t>(status.f_bsize)
             : 0;
}

bool is_network_folder(const std::string& path) {
  struct statfs status {};
  if (::statfs(nearest(path).c_str(), &status) != 0) return false;
  // from <linux/magic.h> and other headers: NFS, SMB, SMB2, CIFS, Lustre, AFS, Ceph, GPFS
  for (const std::uint32_t magic :
       {0x6969U, 0x517BU, 0xFE534D42U, 0xFF534D42U, 0x0BD00BD0U, 0x5346414FU, 0x00C36400U, 0x47504653U})
    if (static_cast<std::uint32_t>(status.f_type) == magic) return true;
  return false;
}

}  // namespace catenary::os
