# What the library itself needs. scripts/setup installs all of it on Debian 12 and Ubuntu 24.04. Everything is looked for before
# anything is complained of, so that whoever builds elsewhere (pip install .) learns at once what to install.

set(missing)
# needs(PACKAGE DEBIAN'S-PACKAGE …): find_package, whose further words follow
macro(needs package debian)
  find_package(${package} ${ARGN})
  if(NOT ${package}_FOUND)
    list(APPEND missing "${package} (Debian and Ubuntu: ${debian})")
  endif()
endmacro()
needs(fmt libfmt-dev QUIET) # its library: from headers alone it doubles the time that a source takes to compile
needs(nlohmann_json nlohmann-json3-dev QUIET)
if(CATENARY_BUILD_EXAMPLES OR CATENARY_PYTHON)
  needs(CLI11 libcli11-dev QUIET) # of programs, of which Python's package holds one
endif()
needs(OpenSSL libssl-dev COMPONENTS Crypto)
needs(PNG libpng-dev)
needs(JPEG libjpeg-dev)
needs(ZLIB zlib1g-dev)
needs(PkgConfig pkg-config)
# needs_module(MODULE DEBIAN'S-PACKAGE): the target PkgConfig::<MODULE in capitals>
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
needs_module(libpcre2-8 libpcre2-dev) # the regular expressions of tokenizers
needs_module(libutf8proc libutf8proc-dev) # their Unicode normalization
if(missing)
  list(JOIN missing "\n  " missing)
  message(FATAL_ERROR "Catenary is built from libraries that were not found here:\n  ${missing}\n"
                      "scripts/setup installs them on Debian and Ubuntu; CMAKE_PREFIX_PATH names a folder where they lie elsewhere.")
endif()
find_package(Threads REQUIRED)

set(CATENARY_LIBRARIES fmt::fmt nlohmann_json::nlohmann_json OpenSSL::Crypto PNG::PNG JPEG::JPEG ZLIB::ZLIB
                       PkgConfig::LIBZIP PkgConfig::LIBPCRE2-8 PkgConfig::LIBUTF8PROC Threads::Threads ${CMAKE_DL_LIBS})
