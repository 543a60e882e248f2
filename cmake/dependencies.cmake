# What the library itself needs. scripts/setup installs all of it on Debian 12 and Ubuntu 24.04.

find_package(fmt REQUIRED) # its library: from headers alone it doubles the time that a source takes to compile
find_package(nlohmann_json REQUIRED)
find_package(OpenSSL REQUIRED COMPONENTS Crypto)
find_package(PNG REQUIRED)
find_package(JPEG REQUIRED)
find_package(ZLIB REQUIRED)
find_package(Threads REQUIRED)
find_package(PkgConfig REQUIRED)
pkg_check_modules(LIBZIP REQUIRED IMPORTED_TARGET libzip)

set(CATENARY_LIBRARIES fmt::fmt nlohmann_json::nlohmann_json OpenSSL::Crypto PNG::PNG JPEG::JPEG ZLIB::ZLIB
                       PkgConfig::LIBZIP Threads::Threads ${CMAKE_DL_LIBS})
