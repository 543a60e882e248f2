# Compiler settings for all targets of this project. They do not affect users of the library.

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bin)
set(CMAKE_LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/lib)
set(CMAKE_ARCHIVE_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/lib)

if(PROJECT_IS_TOP_LEVEL)
  if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
    set(CMAKE_BUILD_TYPE Release CACHE STRING "Debug, Release or RelWithDebInfo" FORCE)
  endif()
  find_program(CATENARY_CCACHE ccache)
  if(CATENARY_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
    set(CMAKE_CXX_COMPILER_LAUNCHER ${CATENARY_CCACHE})
  endif()
endif()

# GCC warns that the inline storage of Dims may be uninitialised, although only initialised entries are read.
set(CATENARY_WARNINGS -Wall -Wextra $<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized>)
if(CATENARY_WERROR)
  list(APPEND CATENARY_WARNINGS -Werror)
endif()

if(CATENARY_SANITIZE)
  set(CATENARY_SANITIZE_FLAGS -fsanitize=${CATENARY_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  add_compile_options(${CATENARY_SANITIZE_FLAGS})
  add_link_options(-fsanitize=${CATENARY_SANITIZE})
endif()
if(CATENARY_FUZZ)
  add_compile_options(-fsanitize=fuzzer-no-link)
endif()

# catenary_unity(TARGET) compiles the target's sources several at a time, so their common headers are read once for all of them. A build from nothing takes
# two thirds of the time. After an edit, the neighbours of the edited source are compiled again: -DCATENARY_UNITY=OFF compiles each by itself.
option(CATENARY_UNITY "Compile several sources at a time" ON)
function(catenary_unity target)
  if(CATENARY_UNITY)
    set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 8)
  endif()
endfunction()

# catenary_precompile(TARGET …): calls target_precompile_headers in a way that ccache can cache. ccache must know that no macro there
# depends on the time. It must compare whole headers, because GCC recognises included headers by their bytes: a precompiled header from before
# a comment changed would declare everything twice. Depend mode compares whole files, the default mode compares preprocessed text. The
# namespace keeps entries that the default mode stored out of these compilations.
function(catenary_precompile target)
  target_precompile_headers(${target} ${ARGN})
  target_compile_options(${target} PRIVATE "$<$<CXX_COMPILER_ID:GNU>:-fpch-preprocess>" "$<$<CXX_COMPILER_ID:Clang>:SHELL:-Xclang -fno-pch-timestamp>")
  if(CATENARY_CCACHE AND CMAKE_CXX_COMPILER_LAUNCHER STREQUAL CATENARY_CCACHE)
    set_target_properties(${target} PROPERTIES CXX_COMPILER_LAUNCHER "env;CCACHE_DEPEND=1;CCACHE_NAMESPACE=whole_headers;CCACHE_SLOPPINESS=pch_defines,time_macros;${CATENARY_CCACHE}")
  endif()
endfunction()
