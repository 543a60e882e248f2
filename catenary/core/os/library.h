#pragma once
// Shared libraries found at run time. A library that was loaded stays: unloading a driver breaks its threads.

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "catenary/core/export.h"

namespace catenary::os {

/// Handle to a loaded library; copies are the same library. Nothing is ever unloaded.
class CT_API Library {
 public:
  enum class Mode {
    normal,         ///< searched as dlopen does
    already_loaded  ///< only if the process has it already (RTLD_NOLOAD)
  };
  /// Loads a file or a soname; throws FileError with the loader's reason.
  explicit Library(const std::string& name);
  /// As the constructor, but gives nothing (and the reason in `why`) when it cannot be loaded.
  static std::optional<Library> find(const std::string& name, std::string* why = nullptr, Mode mode = Mode::normal);

  /// Loads the bytes of a library under a name of the caller's. What is static in it is its own, also where another one
  /// was made of the same bytes. Throws FileError as the constructor does.
  static Library from_memory(const std::string& name, std::span<const std::byte> bytes);

  /// Address of a symbol, or nullptr.
  void* symbol(const char* name) const;
  /// A function by its type, or nullptr: `library.function<int(int)>("f")`.
  template <class F>
  F* function(const char* name) const {
    return reinterpret_cast<F*>(symbol(name));
  }
  /// As function, but throws FileError naming library and symbol when it is not there.
  template <class F>
  F* required(const char* name) const {
    return reinterpret_cast<F*>(required_symbol(name));
  }
  /// The memory of a variable that the library exports, and its bytes; throws FileError where it has none of this name.
  std::pair<void*, std::size_t> variable(const std::string& name) const;
  /// The file that the loader chose, or the name asked for where it does not say.
  std::string path() const;

 private:
  Library(void* handle, std::string name) : handle_(handle), name_(std::move(name)) {}
  void* required_symbol(const char* name) const;

  void* handle_;
  std::string name_;
};

}  // namespace catenary::os
