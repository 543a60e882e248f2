# The library's dependencies. scripts/setup installs them on Debian 12 and Ubuntu 24.04. One error lists all missing packages, so that users
# on other systems (pip install .) can install them together.

set(missing)
# needs(PACKAGE DEBIAN'S-PACKAGE …): calls find_package with the remaining arguments and records a missing package
macro(needs package debian)
  find_package(${package} ${ARGN})
  if(NOT ${package}_FOUND)
    list(APPEND missing "${package} (Debian and Ubuntu: ${debian})")
  endif()
endmacro()
needs(fmt libfmt-dev QUIET) # as a library: header-only fmt doubles the compile time of a source
needs(nlohmann_json nlohmann-json3-dev QUIET)
if(CATENARY_BUILD_EXAMPLES OR CATENARY_PYTHON)
  needs(CLI11 libcli11-dev QUIET) # for programs; the Python package contains one of them
endif()
if(WIN32)
  # The system has SHA-256 itself. All libraries are static (scripts/windows_libraries).
  set(CATENARY_SYSTEM_LIBRARIES bcrypt psapi advapi32 shell32)
  set(ZLIB_USE_STATIC_LIBS ON)
  set(CMAKE_FIND_LIBRARY_SUFFIXES .a)
  add_compile_definitions(PCRE2_STATIC UTF8PROC_STATIC ZIP_STATIC)
else()
  needs(OpenSSL libssl-dev COMPONENTS Crypto)
  set(CATENARY_SYSTEM_LIBRARIES OpenSSL::Crypto)
endif()
needs(PNG libpng-dev)
needs(JPEG libjpeg-dev)
needs(ZLIB zlib1g-dev)
needs(PkgConfig pkg-config)
# needs_module(MODULE DEBIAN'S-PACKAGE): finds a pkg-config module as the target PkgConfig::<MODULE in capitals>
macro(needs_module module debian)
  string(TOUPPER ${module} prefix)
  if(PkgConfig_FOUND)
    pkg_check_modules(${prefix} IMPORTED_TARGET ${module})
  endif()
  if(NOT ${prefix}_FOUND)
    list(APPEND missing "${module}, found by pkg-config (Debian and Ubuntu: ${debian})")
  endif()
endmacro()
needs_module(libzip libzip-dev)
needs_module(libpcre2-8 libpcre2-dev) # regular expressions of tokenizers
needs_module(libutf8proc libutf8proc-dev) # Unicode normalization of tokenizers
find_path(PROTOZERO_INCLUDE_DIR protozero/pbf_reader.hpp) # header-only: protocol buffers of ONNX files
if(NOT PROTOZERO_INCLUDE_DIR)
  list(APPEND missing "protozero (Debian and Ubuntu: libprotozero-dev)")
endif()
if(missing)
  list(JOIN missing "\n  " missing)
  message(FATAL_ERROR "Catenary needs libraries that were not found:\n  ${missing}\n"
                      "On Debian and Ubuntu, scripts/setup installs them. If they are in another folder, set CMAKE_PREFIX_PATH to it.")
endif()
find_package(Threads REQUIRED)

set(CATENARY_LIBRARIES fmt::fmt nlohmann_json::nlohmann_json ${CATENARY_SYSTEM_LIBRARIES} PNG::PNG JPEG::JPEG ZLIB::ZLIB
                       PkgConfig::LIBZIP PkgConfig::LIBPCRE2-8 PkgConfig::LIBUTF8PROC Threads::Threads ${CMAKE_DL_LIBS})
