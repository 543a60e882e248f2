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
    set(variables ${environment} CATENARY_TRACE=ops CATENARY_TRACE_FILE=${CATENARY_TEST_RESULTS}/${name}.ops
                  GTEST_OUTPUT=xml:${CATENARY_TEST_RESULTS}/${name}.xml)
    set_tests_properties(${name} PROPERTIES ENVIRONMENT "${variables}" TIMEOUT 2400)
    list(APPEND device_tests ${name})
  endforeach()
  set(device_tests ${device_tests} PARENT_SCOPE)
endfunction()

find_library(CATENARY_OPENCL_LOADER NAMES libOpenCL.so.1 OpenCL)
file(GLOB opencl_platforms /etc/OpenCL/vendors/*pocl*.icd)
if(CATENARY_OPENCL_LOADER AND opencl_platforms)
  test_on_device(opencl opencl:0 "device;array;autograd;functions;links;training" "CATENARY_CACHE_DIR=${PROJECT_BINARY_DIR}/opencl-cache")
else()
  message(STATUS "PoCL not found (pocl-opencl-icd): the tests do not run on OpenCL")
endif()

include(cmake/simgpu.cmake)
if(device_tests)
  add_test(NAME op_table COMMAND ${PROJECT_SOURCE_DIR}/scripts/op_table ${CATENARY_TEST_RESULTS})
  set_tests_properties(op_table PROPERTIES DEPENDS "${device_tests}")
endif()
