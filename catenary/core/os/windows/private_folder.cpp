#include "catenary/core/os/private_folder.h"

#include <array>
#include <cstring>

#include "catenary/core/format.h"
#include "catenary/core/os/temporary_name.h"
#include "catenary/core/os/windows/atomic_file.h"
#include "catenary/core/os/windows/detail.h"
// after windows.h
#include <aclapi.h>
#include <sddl.h>

namespace catenary::os {

namespace {

struct Freed {
  void operator()(void* memory) const { ::LocalFree(memory); }
};
using Local = std::unique_ptr<void, Freed>;
using Identity = std::array<std::byte, SECURITY_MAX_SID_SIZE>;

PSID sid(const Identity& identity) { return const_cast<std::byte*>(identity.data()); }

/// Returns this user.
Identity this_user() {
  HANDLE token = nullptr;
  ::OpenProcessToken(::GetCurrentProcess(), TOKEN_QUERY, &token);
  const Owned owner(token);
  alignas(TOKEN_USER) std::byte buffer[sizeof(TOKEN_USER) + SECURITY_MAX_SID_SIZE];
  DWORD size = 0;
  Identity result{};
  if (!::GetTokenInformation(token, TokenUser, buffer, sizeof buffer, &size) ||
      !::CopySid(static_cast<DWORD>(result.size()), result.data(), reinterpret_cast<TOKEN_USER*>(buffer)->User.Sid))
    fail_last("this user", "cannot find");
  return result;
}

/// Returns whether files of this identity are trusted: this user, the administrators and the system.
bool is_trusted(PSID who) {
  static const Identity user = this_user();
  return ::EqualSid(who, sid(user)) || ::IsWellKnownSid(who, WinBuiltinAdministratorsSid) ||
         ::IsWellKnownSid(who, WinLocalSystemSid) || ::IsWellKnownSid(who, WinCreatorOwnerSid);
}

std::string name_of(PSID who) {
  wchar_t* text = nullptr;
  if (!::ConvertSidToStringSidW(who, &text)) return "somebody";
  const Local owner(text);
  return narrow(text);
}

/// Throws FileError if a user that is not trusted owns the file or folder, or may write it.
void check_rights(const std::string& path) {
  constexpr DWORD kWrites = FILE_WRITE_DATA | FILE_APPEND_DATA | FILE_DELETE_CHILD | DELETE | WRITE_DAC | WRITE_OWNER |
                            GENERIC_WRITE | GENERIC_ALL;
  PSID owner = nullptr;
  PACL rights = nullptr;
  PSECURITY_DESCRIPTOR descriptor = nullptr;
  const DWORD code = ::GetNamedSecurityInfoW(wide_path(path).data(), SE_FILE_OBJECT,
                                             OWNER_SECURITY_INFORMATION | DACL_SECURITY_INFORMATION, &owner, nullptr,
                                             &rights, nullptr, &descriptor);
  if (code != ERROR_SUCCESS) fail_with(path, "cannot read its access rights", code);
  const Local freed(descriptor);
  if (!is_trusted(owner))
    fail<FileError>("{}: not used: it belongs to the user {}; expected this user or an administrator", path,
                    name_of(owner));
  for (DWORD i = 0; rights && i < rights->AceCount; ++i) {
    ACCESS_ALLOWED_ACE* entry = nullptr;
    if (!::GetAce(rights, i, reinterpret_cast<void**>(&entry)) || entry->Header.AceType != ACCESS_ALLOWED_ACE_TYPE)
      continue;
    if (!(entry->Mask & kWrites) || is_trusted(&entry->SidStart)) continue;
    fail<FileError>("{}: not used: {} may write it; check its contents, then remove that right", path,
                    name_of(&entry->SidStart));
  }
  if (!rights)
    fail<FileError>("{}: not used: everybody may write it; check its contents, then restrict its rights", path);
}

/// Makes a folder that only this user, the administrators and the system can use.
void make_private_directory(const std::string& path) {
  static const Identity user = this_user();
  const std::string rights = fmt::format("D:P(A;OICI;FA;;;{})(A;OICI;FA;;;SY)(A;OICI;FA;;;BA)", name_of(sid(user)));
  PSECURITY_DESCRIPTOR descriptor = nullptr;
  if (!::ConvertStringSecurityDescriptorToSecurityDescriptorW(wide(rights).c_str(), SDDL_REVISION_1, &descriptor,
                                                              nullptr))
    fail_last(path, "cannot make the folder");
  const Local freed(descriptor);
  SECURITY_ATTRIBUTES attributes{sizeof attributes, descriptor, FALSE};
  if (!::CreateDirectoryW(wide_path(path).c_str(), &attributes) && ::GetLastError() != ERROR_ALREADY_EXISTS)
    fail_last(path, "cannot make the folder");
}

}  // namespace

class PrivateFolder::Open {
 public:
  explicit Open(std::string path) : path_(std::move(path)) {}
  std::string path_of(const std::string& name) const { return path_ + "/" + name; }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

std::optional<PrivateFolder> PrivateFolder::find(const std::string& path) {
  if (!exists(path)) return std::nullopt;
  if (!is_directory(path)) fail<FileError>("{}: cannot open the folder: Not a directory", path);
  check_rights(path);
  return PrivateFolder(std::make_shared<const Open>(path));
}

PrivateFolder PrivateFolder::make(const std::string& path) {
  if (auto there = find(path)) return *there;
  const std::size_t slash = path.find_last_of("/\\");
  if (slash != std::string::npos && slash > 0) make_directories(path.substr(0, slash));
  make_private_directory(path);
  if (auto made = find(path)) return *made;
  fail<FileError>("{}: cannot make the folder", path);
}

std::optional<std::vector<std::byte>> PrivateFolder::read(const std::string& name) const {
  const std::string path = open_->path_of(name);
  const DWORD attributes = ::GetFileAttributesW(wide_path(path).c_str());
  if (attributes == INVALID_FILE_ATTRIBUTES) return std::nullopt;
  if (attributes & FILE_ATTRIBUTE_REPARSE_POINT) fail<FileError>("{}: not used: it is a symbolic link", path);
  if (attributes & FILE_ATTRIBUTE_DIRECTORY) fail<FileError>("{}: not used: it is a directory", path);
  check_rights(path);
  return read_file(path);
}

void PrivateFolder::write(const std::string& name, std::span<const std::byte> bytes) const {
  AtomicFile file(open_->path_of(name), {open_->path(), name});
  file.write(bytes);
  file.commit();
}

bool PrivateFolder::remove(const std::string& name) const { return remove_abandoned(open_->path_of(name)); }

std::vector<PrivateFolder::Entry> PrivateFolder::list() const {
  std::vector<Entry> entries;
  for (const std::string& name : list_directory(open_->path())) {
    const std::string path = open_->path_of(name);
    const DWORD attributes = ::GetFileAttributesW(wide_path(path).c_str());
    if (attributes == INVALID_FILE_ATTRIBUTES ||
        (attributes & (FILE_ATTRIBUTE_DIRECTORY | FILE_ATTRIBUTE_REPARSE_POINT)))
      continue;
    entries.push_back({name, file_size(path), modification_time(path), is_temporary(name, {})});
  }
  return entries;
}

}  // namespace catenary::os
