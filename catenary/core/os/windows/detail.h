#pragma once
// Private to core/os/windows: texts and paths as the system takes them, handles that close themselves, and errors with
// the system's reason.

#ifndef WIN32_LEAN_AND_MEAN
#  define WIN32_LEAN_AND_MEAN
#endif
#ifndef NOMINMAX
#  define NOMINMAX
#endif
#include <windows.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "catenary/core/os/handle.h"

namespace catenary::os {

/// Convert between UTF-8 and the system's UTF-16. Malformed text becomes U+FFFD.
std::wstring wide(std::string_view text);
std::string narrow(std::wstring_view text);
/// Returns a path for the system. Long paths become absolute and get the prefix \\?\, which lifts the limit of 260
/// characters.
std::wstring wide_path(const std::string& path);
/// Returns a path of the system in our form: UTF-8 with slashes, without the prefix \\?\.
std::string our_path(std::wstring_view path);

/// Returns the system's message for an error.
std::string reason(DWORD code);
/// Throw FileError with the message of GetLastError(), or of an error code.
[[noreturn]] void fail_last(const std::string& path, const char* what);
[[noreturn]] void fail_with(const std::string& path, const char* what, DWORD code);
[[noreturn]] void fail_code(const std::string& path, const char* what, const std::error_code& code);

/// An open object of the system, or nothing.
class Owned {
 public:
  Owned() = default;
  explicit Owned(HANDLE handle) : handle_(handle == INVALID_HANDLE_VALUE ? nullptr : handle) {}
  Owned(Owned&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
  Owned& operator=(Owned&& other) noexcept {
    std::swap(handle_, other.handle_);
    return *this;
  }
  ~Owned() {
    if (handle_) ::CloseHandle(handle_);
  }
  explicit operator bool() const { return handle_ != nullptr; }
  HANDLE get() const { return handle_; }
  HANDLE release() { return std::exchange(handle_, nullptr); }
  void close() { *this = Owned(); }

 private:
  HANDLE handle_ = nullptr;
};

/// Convert between opaque handles and those of the system.
inline Handle to_handle(HANDLE handle) { return static_cast<Handle>(reinterpret_cast<std::intptr_t>(handle)); }
inline HANDLE handle_of(Handle handle) { return reinterpret_cast<HANDLE>(static_cast<std::intptr_t>(handle)); }

/// Reads a file to its end. Throws FileError with the path.
std::vector<std::byte> read_all(HANDLE file, const std::string& path);
/// Writes bytes to the end of a file. Throws FileError with the path.
void write_all(HANDLE file, std::span<const std::byte> bytes, const std::string& path);
/// Tries a call for two seconds while another program, such as a virus scanner, has the file open. Returns the error
/// of the last trial, or 0.
template <class F>
DWORD retry_shared(const F& call) {
  for (int tries = 0;; ++tries) {
    if (call()) return 0;
    const DWORD code = ::GetLastError();
    const bool shared = code == ERROR_SHARING_VIOLATION || code == ERROR_ACCESS_DENIED || code == ERROR_LOCK_VIOLATION;
    if (!shared || tries == 40) return code;
    ::Sleep(50);
  }
}
/// Returns a number that no other call in this process gets, followed by a random one: 12-a0ff31.
std::string unique_number();
/// Returns a variable of the environment, or "".
std::string environment_variable(const wchar_t* name);
/// Keeps some stack of the calling thread or fiber for the functions that run after the stack has overflown.
void keep_stack_for_faults();

}  // namespace catenary::os
