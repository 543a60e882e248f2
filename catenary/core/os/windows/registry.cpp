#include "catenary/core/os/registry.h"

#include <cstring>
#include <optional>

#include "catenary/core/os/windows/detail.h"

namespace catenary::os {

namespace {

constexpr DWORD kMostName = 16384;

/// An open key of HKEY_LOCAL_MACHINE, or nothing.
class Key {
 public:
  explicit Key(const std::string& path) {
    if (::RegOpenKeyExW(HKEY_LOCAL_MACHINE, wide(path).c_str(), 0, KEY_READ, &key_) != ERROR_SUCCESS) key_ = nullptr;
  }
  Key(const Key&) = delete;
  Key& operator=(const Key&) = delete;
  ~Key() {
    if (key_) ::RegCloseKey(key_);
  }
  explicit operator bool() const { return key_ != nullptr; }
  HKEY get() const { return key_; }

 private:
  HKEY key_ = nullptr;
};

/// Returns a value as text, or nothing if it is neither a text nor a number.
std::optional<std::string> text_of(DWORD type, const std::vector<std::byte>& bytes) {
  if (type == REG_DWORD && bytes.size() == sizeof(DWORD)) {
    DWORD number = 0;
    std::memcpy(&number, bytes.data(), sizeof number);
    return std::to_string(number);
  }
  if (type != REG_SZ && type != REG_EXPAND_SZ && type != REG_MULTI_SZ) return std::nullopt;
  std::wstring text(bytes.size() / sizeof(wchar_t), L'\0');
  std::memcpy(text.data(), bytes.data(), text.size() * sizeof(wchar_t));
  return narrow(text.substr(0, text.find(L'\0')));
}

}  // namespace

std::vector<std::pair<std::string, std::string>> registry_values(const std::string& key) {
  std::vector<std::pair<std::string, std::string>> result;
  const Key open(key);
  if (!open) return result;
  std::wstring name(kMostName, L'\0');
  for (DWORD i = 0;; ++i) {
    DWORD letters = kMostName, type = 0, size = 0;
    if (::RegEnumValueW(open.get(), i, name.data(), &letters, nullptr, &type, nullptr, &size) != ERROR_SUCCESS) break;
    const std::wstring found = name.substr(0, letters);
    std::vector<std::byte> bytes(size);
    if (::RegQueryValueExW(open.get(), found.c_str(), nullptr, &type, reinterpret_cast<BYTE*>(bytes.data()), &size) !=
        ERROR_SUCCESS)
      continue;  // another process has changed it
    bytes.resize(size);
    if (std::optional<std::string> text = text_of(type, bytes)) result.emplace_back(narrow(found), std::move(*text));
  }
  return result;
}

std::vector<std::string> registry_keys(const std::string& key) {
  std::vector<std::string> result;
  const Key open(key);
  if (!open) return result;
  std::wstring name(256, L'\0');  // no key has a longer name
  for (DWORD i = 0;; ++i) {
    DWORD letters = 256;
    if (::RegEnumKeyExW(open.get(), i, name.data(), &letters, nullptr, nullptr, nullptr, nullptr) != ERROR_SUCCESS)
      break;
    result.push_back(narrow({name.data(), letters}));
  }
  return result;
}

}  // namespace catenary::os
