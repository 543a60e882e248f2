# Tests of the build for Windows, which Wine runs: the rooms that need no program and no simulated card. tests.cmake includes this file.
list(FILTER rooms INCLUDE REGEX "^(array|autograd|backends|core|datasets|device|functions|io|links|ops|tokenizers|training)$")
# These sources call functions that only POSIX has: forks, resource limits, descriptors, compilers of the host.
set(posix_tests backends/host_compiler_test core/os_test core/parallel_test datasets/files_test device/user_kernel_test training/kill_test training/values_test)
list(TRANSFORM posix_tests REPLACE "(.+)" "${PROJECT_SOURCE_DIR}/tests/\\1.cpp")
include_directories(${PROJECT_SOURCE_DIR}/tests/windows)
add_compile_options("SHELL:-include ${PROJECT_SOURCE_DIR}/tests/windows/environment.h")
