#pragma once
// Shared libraries that are found at run time. They stay loaded, because unloading a driver breaks its threads.

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "catenary/core/export.h"

namespace catenary::os {

/// Returns the file name of another project's library on this system: ("cublas", "12") is libcublas.so.12, or
/// cublas64_12.dll on Windows.
CT_API std::string library_file(std::string_view name, std::string_view version);
/// Returns the file name of a plugin of ours: ("onednn") is libcatenary_onednn.so.
CT_API std::string plugin_file(std::string_view name);
/// Returns the one folder that is searched for names without a path (C:/Windows/System32), or "" if the system's loader
/// searches several.
CT_API std::string library_search_folder();
/// Returns why OpenCL finds no driver on this system, with the remedy, for messages.
CT_API std::string no_opencl_driver();

/// A handle to a loaded library. Copies refer to the same library. Nothing is ever unloaded.
class CT_API Library {
 public:
  enum class Mode {
    normal,         ///< searched as dlopen does
    already_loaded  ///< only if the process has it already (RTLD_NOLOAD)
  };
  /// Loads a file or a soname. Throws FileError with the loader's reason.
  explicit Library(const std::string& name);
  /// Loads a library as the constructor does, but returns nothing, with the reason in `why`, if it cannot be loaded.
  static std::optional<Library> find(const std::string& name, std::string* why = nullptr, Mode mode = Mode::normal);

  /// Loads the bytes of a library under the given name. Each call creates a separate instance with separate static
  /// variables, even for equal bytes. Throws FileError as the constructor does.
  static Library from_memory(const std::string& name, std::span<const std::byte> bytes);

  /// Returns the address of a symbol, or nullptr.
  void* symbol(const char* name) const;
  /// Returns a function by its type, or nullptr: `library.function<int(int)>("f")`.
  template <class F>
  F* function(const char* name) const {
    return reinterpret_cast<F*>(symbol(name));
  }
  /// Returns a function as function() does. Throws FileError with the library and the symbol if it is missing.
  template <class F>
  F* required(const char* name) const {
    return reinterpret_cast<F*>(required_symbol(name));
  }
  /// Returns the address and the size in bytes of an exported variable. Throws FileError if there is none of this name.
  std::pair<void*, std::size_t> variable(const std::string& name) const;
  /// Returns the file that the loader chose, or the requested name if that is unknown.
  std::string path() const;

 private:
  Library(void* handle, std::string name) : handle_(handle), name_(std::move(name)) {}
  void* required_symbol(const char* name) const;

  void* handle_;
  std::string name_;
};

}  // namespace catenary::os
