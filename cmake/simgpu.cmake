# tests/simgpu/simulator: libraries that simulate CUDA and HIP, in build/<preset>/simgpu/{cuda,hip,old,both}, found through LD_LIBRARY_PATH. `both` also
# has an OpenCL that offers the same cards. `old` is ROCm 5 (one structure of properties, hipRTC inside) and an NVRTC that cannot list its architectures.
# Kernels are compiled with the parts of GCC without its driver, which would take longer than the compiler: it asks the processor for its features and links
# more than kernels need.
set(SIMGPU_COMPILER "SIMGPU_CXX=\"${CMAKE_CXX_COMPILER}\"" "SIMGPU_STORE=\"${PROJECT_BINARY_DIR}/simgpu/store\"")
foreach(part cc1plus as ld)
  execute_process(COMMAND ${CMAKE_CXX_COMPILER} -print-prog-name=${part} OUTPUT_VARIABLE ${part} OUTPUT_STRIP_TRAILING_WHITESPACE)
endforeach()
execute_process(COMMAND ${CMAKE_CXX_COMPILER} -print-libgcc-file-name OUTPUT_VARIABLE libgcc OUTPUT_STRIP_TRAILING_WHITESPACE)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  list(APPEND SIMGPU_COMPILER "SIMGPU_PREPROCESS=\"${cc1plus} -quiet -E -P\"" "SIMGPU_TRANSLATE=\"${cc1plus} -quiet -fpreprocessed\"")
else()
  list(APPEND SIMGPU_COMPILER "SIMGPU_PREPROCESS=\"${CMAKE_CXX_COMPILER} -E -P\"" "SIMGPU_TRANSLATE=\"${CMAKE_CXX_COMPILER} -S\"")
endif()
list(APPEND SIMGPU_COMPILER "SIMGPU_ASSEMBLE=\"${as}\"" "SIMGPU_LINK=\"${ld} -shared -Bsymbolic\"" "SIMGPU_LIBRARIES=\"${libgcc}\"")

function(simgpu_library folder name soname sources)
  set(functions ${PROJECT_SOURCE_DIR}/python/catenary/cupy/_headers)
  add_library(simgpu_${name} SHARED ${sources} tests/simgpu/simulator/device.cpp tests/simgpu/simulator/compiler.cpp)
  target_include_directories(simgpu_${name} PRIVATE ${PROJECT_SOURCE_DIR})
  target_compile_definitions(simgpu_${name} PRIVATE ${SIMGPU_COMPILER} ${ARGN}
                                                    SIMGPU_SHIM="${PROJECT_SOURCE_DIR}/tests/simgpu/simulator/kernel_shim.h"
                                                    SIMGPU_FUNCTIONS="${functions}/cuda_only.h -include ${functions}/intrinsics.h -include ${functions}/atomic_scopes.h")
  target_compile_options(simgpu_${name} PRIVATE ${CATENARY_WARNINGS})
  target_link_libraries(simgpu_${name} PRIVATE Threads::Threads ${CMAKE_DL_LIBS})
  set_target_properties(simgpu_${name} PROPERTIES PREFIX "" SUFFIX "" OUTPUT_NAME ${soname} CXX_VISIBILITY_PRESET hidden NO_SONAME ON
                                                  LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/simgpu/${folder})
  set(SIMGPU_LIBRARIES ${SIMGPU_LIBRARIES} simgpu_${name} PARENT_SCOPE)
endfunction()

set(SIMGPU_LIBRARIES)
set(simulator tests/simgpu/simulator)
simgpu_library(cuda cuda libcuda.so.1 ${simulator}/cuda.cpp)
simgpu_library(cuda nvrtc libnvrtc.so.13 ${simulator}/rtc.cpp)
simgpu_library(hip hip libamdhip64.so.6 ${simulator}/hip.cpp)
simgpu_library(hip hiprtc libhiprtc.so.6 ${simulator}/rtc.cpp SIM_HIP)
simgpu_library(both opencl libOpenCL.so.1 ${simulator}/opencl.cpp)
simgpu_library(old old_nvrtc libnvrtc.so.11.2 ${simulator}/rtc.cpp SIM_OLD)
simgpu_library(old old_hip libamdhip64.so.5 "${simulator}/hip.cpp;${simulator}/rtc.cpp" SIM_HIP SIM_OLD)
add_custom_target(simgpu DEPENDS ${SIMGPU_LIBRARIES})

# Tests of faults, and all device tests, on simulated devices.
device_room(simgpu tests/simgpu/faults_test.cpp)
target_sources(test_simgpu PRIVATE tests/simgpu/streams_test.cpp tests/simgpu/errors_test.cpp tests/simgpu/steady_test.cpp
                                    tests/simgpu/gpu_check_test.cpp tests/simgpu/cards_test.cpp)
add_dependencies(test_simgpu simgpu)
foreach(vendor cuda hip)
  set(simgpu ${PROJECT_BINARY_DIR}/simgpu)
  device_column(simgpu_${vendor} ${vendor}:0 ALSO simgpu
                ENVIRONMENT LD_LIBRARY_PATH=${simgpu}/${vendor} CATENARY_CACHE_DIR=${simgpu}/cache CATENARY_KERNEL_LOG=${simgpu}/kernels
                            CATENARY_TEST_QUARTER=1)
endforeach()
if(TARGET test_programs)
  device_column(simgpu_cuda cuda:0 ROOMS programs ENVIRONMENT LD_LIBRARY_PATH=${simgpu}/cuda CATENARY_CACHE_DIR=${simgpu}/cache)
endif()
