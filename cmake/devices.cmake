# The rooms on devices other than the CPU: OpenCL on the processor (PoCL) where it is installed, and the simulated ones. Each leaves counts of which operation ran
# where, and op_table compares them.
set(device_tests)

function(test_on_device prefix device rooms environment)
  foreach(room IN LISTS rooms)
    if(NOT TARGET test_${room})
      continue()
    endif()
    set(name ${prefix}_${room})
    add_test(NAME ${name} COMMAND test_${room} --device ${device})
    # threads that wait for work take the processor from those that play the device
    set(variables ${environment} OMP_WAIT_POLICY=passive CATENARY_TRACE=ops CATENARY_TRACE_FILE=${CATENARY_TEST_RESULTS}/${name}.ops
                  GTEST_OUTPUT=xml:${CATENARY_TEST_RESULTS}/${name}.xml)
    set_tests_properties(${name} PROPERTIES ENVIRONMENT "${variables}" TIMEOUT 2400)
    list(APPEND device_tests ${name})
  endforeach()
  set(device_tests ${device_tests} PARENT_SCOPE)
endfunction()

# A room that runs on such devices only.
function(device_room name source)
  add_executable(test_${name} ${source})
  target_include_directories(test_${name} PRIVATE ${PROJECT_SOURCE_DIR})
  target_compile_options(test_${name} PRIVATE ${test_options})
  target_link_libraries(test_${name} PRIVATE test_main catenary GTest::gtest)
endfunction()
device_room(kernel_cache tests/simgpu/cache_test.cpp)

find_library(CATENARY_OPENCL_LOADER NAMES libOpenCL.so.1 OpenCL)
file(GLOB opencl_platforms /etc/OpenCL/vendors/*pocl*.icd)
if(CATENARY_OPENCL_LOADER AND opencl_platforms)
  test_on_device(opencl opencl:0 "kernel_cache;device;array;autograd;functions;links;training" "CATENARY_CACHE_DIR=${PROJECT_BINARY_DIR}/opencl-cache")
else()
  message(STATUS "PoCL not found (pocl-opencl-icd): the tests do not run on OpenCL")
endif()

include(cmake/simgpu.cmake)
include(cmake/simgpu_blas.cmake)
if(device_tests)
  # the CPU's counts: of the room that names every operation, besides what others compare with
  if(TEST array)
    set_property(TEST array APPEND PROPERTY ENVIRONMENT CATENARY_TRACE=ops CATENARY_TRACE_FILE=${CATENARY_TEST_RESULTS}/array.ops)
    list(APPEND device_tests array)
  endif()
  add_test(NAME op_table COMMAND ${PROJECT_SOURCE_DIR}/scripts/op_table ${CATENARY_TEST_RESULTS})
  set_tests_properties(op_table PROPERTIES DEPENDS "${device_tests}")
endif()
