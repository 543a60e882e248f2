# Toolchain file of the build for Windows: Debian's clang with the headers of mingw-w64 and the C++ library of GCC. Wine runs the
# programs. `scripts/setup --with-windows` installs these and builds the other libraries into build/windows/libraries.
#
# GCC 12 is not offered: its emulated thread-local storage is freed before the destructors of thread_local objects run, and it
# misaligns vectors on the stack (GCC bug 54412).

set(CMAKE_SYSTEM_NAME Windows)
set(CMAKE_SYSTEM_PROCESSOR x86_64)
set(triple x86_64-w64-mingw32)
set(libraries ${CMAKE_CURRENT_LIST_DIR}/../build/windows/libraries)

set(CMAKE_C_COMPILER clang)
set(CMAKE_CXX_COMPILER clang++)
set(CMAKE_C_COMPILER_TARGET ${triple})
set(CMAKE_CXX_COMPILER_TARGET ${triple})
set(CMAKE_RC_COMPILER ${triple}-windres)
set(CMAKE_AR llvm-ar)
set(CMAKE_RANLIB llvm-ranlib)

# Debian names the folder of GCC's libraries 12-posix, which clang does not find.
file(GLOB gcc /usr/lib/gcc/${triple}/*-posix)
set(cxx_headers ${gcc}/include/c++)
set(CMAKE_CXX_FLAGS_INIT "-nostdinc++ -isystem ${cxx_headers} -isystem ${cxx_headers}/${triple} -isystem ${cxx_headers}/backward -Wno-unused-command-line-argument")
# Windows 10 and later. Programs need no file of mingw-w64 beside them.
set(CMAKE_C_FLAGS_INIT "--target=${triple} -D_WIN32_WINNT=0x0A00") # libpng calls the compiler with these flags alone
# GCC for Windows defines the last two itself. Without them, clang compiles type_info::operator== a second time.
string(APPEND CMAKE_CXX_FLAGS_INIT " -D_WIN32_WINNT=0x0A00 -D__GXX_TYPEINFO_EQUALITY_INLINE=0 -D__GXX_MERGED_TYPEINFO_NAMES=0")
foreach(kind EXE SHARED MODULE)
  set(CMAKE_${kind}_LINKER_FLAGS_INIT "-fuse-ld=lld -static -L${gcc} -lpthread")
endforeach()
# Threads have the stack of Linux, not 1 MiB, for example for deep networks and files.
string(APPEND CMAKE_EXE_LINKER_FLAGS_INIT " -Wl,--stack,8388608")
set(CMAKE_FIND_ROOT_PATH ${libraries} /usr/${triple})
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
set(CMAKE_PREFIX_PATH ${libraries})
set(ENV{PKG_CONFIG_LIBDIR} ${libraries}/lib/pkgconfig)
set(ENV{PKG_CONFIG_SYSROOT_DIR} "")

# Wine with a folder of its own, so that no user's settings take part.
set(CMAKE_CROSSCOMPILING_EMULATOR ${CMAKE_CURRENT_LIST_DIR}/../scripts/wine)
