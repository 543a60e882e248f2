# Columns: the rooms that take a device, and Chainer's vectors, on one device each: OpenCL on the processor (PoCL), simulated cards. Each leaves counts of which
# operation ran where, and op_table compares them with the CPU's. CATENARY_TEST_SHARE=0.25 CATENARY_TEST_SEED=words in ctest's environment has columns run a
# quarter of their tests, the same ones in each.
set(device_rooms kernel_cache device array autograd functions links training)
set(compared_columns)
set(compared_tests)
set(column_cost 500) # the longest tests begin first, and column after column: the second simulated card finds the first one's binaries
file(WRITE ${PROJECT_BINARY_DIR}/columns "")

# device_column(NAME DEVICE [LACKS WHY] [ENVIRONMENT VARIABLE=VALUE…] [ALSO ROOM…] [ROOMS ROOM…]): the tests NAME_<room>, each `test_<room> --device DEVICE`, in
# all rooms that take a device and those of ALSO, and NAME_vectors_<group>; or in ROOMS only, and then op_table leaves the column out. Where WHY is not empty
# this machine lacks what the column needs: it is not run, and scripts/count_tests says so last.
function(device_column name device)
  cmake_parse_arguments(PARSE_ARGV 2 column "" "LACKS" "ENVIRONMENT;ALSO;ROOMS")
  if(column_LACKS)
    message(STATUS "${column_LACKS}: the tests do not run on ${device} (column ${name})")
    file(APPEND ${PROJECT_BINARY_DIR}/columns "${name} on ${device}: ${column_LACKS}\n")
    return()
  endif()
  set(compared ON)
  # threads that wait for work take the processor from those that play the device
  list(APPEND column_ENVIRONMENT OMP_WAIT_POLICY=passive)
  if(column_ROOMS)
    set(compared OFF)
  else()
    set(column_ROOMS ${column_ALSO} ${device_rooms}) # those of ALSO are not compared: other columns lack them
    list(APPEND compared_columns ${name})
    if(TARGET reference-check)
      foreach(group functions nets optimizers precision)
        set(test ${name}_vectors_${group})
        add_test(NAME ${test} COMMAND reference-check ${PROJECT_SOURCE_DIR}/tests/data/reference/chainer/${group} --device ${device})
        set_tests_properties(${test} PROPERTIES ENVIRONMENT "${column_ENVIRONMENT}" TIMEOUT 2400 COST ${column_cost})
      endforeach()
    endif()
  endif()
  foreach(room IN LISTS column_ROOMS)
    set(test ${name}_${room})
    add_test(NAME ${test} COMMAND test_${room} --device ${device})
    set(variables ${column_ENVIRONMENT} GTEST_OUTPUT=xml:${CATENARY_TEST_RESULTS}/${test}.xml)
    if(compared AND NOT room IN_LIST column_ALSO)
      list(APPEND variables CATENARY_TRACE=counts CATENARY_TRACE_FILE=${CATENARY_TEST_RESULTS}/${name}.${room}.ops)
      list(APPEND compared_tests ${test})
    endif()
    set_tests_properties(${test} PROPERTIES ENVIRONMENT "${variables}" TIMEOUT 2400 COST ${column_cost})
  endforeach()
  math(EXPR column_cost "${column_cost} - 10")
  set(column_cost ${column_cost} PARENT_SCOPE)
  set(compared_columns ${compared_columns} PARENT_SCOPE)
  set(compared_tests ${compared_tests} PARENT_SCOPE)
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
# looked at by every build: PoCL may be installed after this folder was configured
file(GLOB pocl CONFIGURE_DEPENDS /etc/OpenCL/vendors/*pocl*.icd)
set(pocl_lacks "")
if(NOT CATENARY_OPENCL_LOADER OR NOT pocl)
  set(pocl_lacks "PoCL is not installed (scripts/setup --with-test)")
endif()
device_column(opencl opencl:0 LACKS "${pocl_lacks}" ENVIRONMENT CATENARY_CACHE_DIR=${PROJECT_BINARY_DIR}/opencl-cache)
if(NOT pocl_lacks)
  # PoCL compiles for the greater part of these, and what it compiles is kept by itself; the others' kernels are kept and read
  foreach(room autograd functions links training vectors_functions vectors_nets vectors_optimizers)
    if(TEST opencl_${room})
      set_property(TEST opencl_${room} APPEND PROPERTY ENVIRONMENT CATENARY_KERNEL_CACHE=0)
    endif()
  endforeach()
endif()

# Two more of OpenCL's drivers, without a card either; the rest of their rooms and vectors by scripts/test_opencl
foreach(driver intel rusticl)
  file(GLOB icd CONFIGURE_DEPENDS build/opencl/${driver}/*.icd)
  set(lacks "")
  if(NOT CATENARY_OPENCL_LOADER OR NOT icd)
    set(lacks "OpenCL by ${driver} is not installed (scripts/setup --with-opencl)")
  endif()
  set(environment OCL_ICD_VENDORS=${PROJECT_SOURCE_DIR}/build/opencl/${driver} RUSTICL_ENABLE=llvmpipe CATENARY_CACHE_DIR=${PROJECT_BINARY_DIR}/opencl-cache)
  device_column(${driver} opencl:0 LACKS "${lacks}" ENVIRONMENT ${environment} ROOMS device)
  if(NOT lacks AND TARGET reference-check)
    add_test(NAME ${driver}_reference COMMAND reference-check ${PROJECT_SOURCE_DIR}/tests/data/reference/chainer/optimizers --device opencl:0)
    set_tests_properties(${driver}_reference PROPERTIES ENVIRONMENT "${environment}" TIMEOUT 900)
  endif()
endforeach()

# Programs as users run them, on a device.
if(TARGET programs)
  device_room(programs tests/programs/programs_test.cpp)
  target_link_libraries(test_programs PRIVATE nlohmann_json::nlohmann_json)
  add_dependencies(test_programs programs)
  if(NOT pocl_lacks)
    device_column(opencl opencl:0 ROOMS programs ENVIRONMENT CATENARY_CACHE_DIR=${PROJECT_BINARY_DIR}/opencl-cache)
  endif()
endif()

# Four ranks with a device each.
if(TARGET test_distributed AND NOT pocl_lacks)
  set(ranks catenary_command launch -n 4)
  set(environment "POCL_DEVICES=pthread pthread pthread pthread" CATENARY_GPU_INCLUDE_CPU=1 CATENARY_TEST_GPUS=4 CATENARY_NUM_THREADS=1
                  CATENARY_CACHE_DIR=${PROJECT_BINARY_DIR}/opencl-cache CATENARY_DATA=${PROJECT_SOURCE_DIR}/data GTEST_OUTPUT= ${CATENARY_WHOLE})
  add_test(NAME opencl_ranks COMMAND ${ranks} $<TARGET_FILE:test_distributed> --gtest_filter=GpusOfRanks.*)
  set(opencl_ranks opencl_ranks)
  foreach(name flat non_cuda_aware)
    add_test(NAME opencl_ranks_${name} COMMAND ${ranks} $<TARGET_FILE:train_mnist_mn> -g --communicator ${name} -e 1 -u 10 -b 25 -n 1000 -o
                                               ${PROJECT_BINARY_DIR}/opencl_ranks_${name})
    list(APPEND opencl_ranks opencl_ranks_${name})
  endforeach()
  set_tests_properties(${opencl_ranks} PROPERTIES ENVIRONMENT "${environment}" TIMEOUT 300)
endif()

include(cmake/simgpu.cmake)
include(cmake/simgpu_blas.cmake)
include(cmake/simgpu_dnn.cmake)
include(cmake/simgpu_nccl.cmake)
foreach(room tools reference)
  if(TARGET test_${room})
    add_dependencies(test_${room} simgpu) # by which check-kernels compiles there, and on which reference-check runs
  endif()
endforeach()
# the CPU's counts: of the rooms that name every operation, besides what others compare with
set(counted array device functions)
foreach(room ${counted})
  set_property(TEST ${room} APPEND PROPERTY ENVIRONMENT CATENARY_TRACE=counts CATENARY_TRACE_FILE=${CATENARY_TEST_RESULTS}/cpu.${room}.ops)
endforeach()
add_test(NAME op_table COMMAND ${PROJECT_SOURCE_DIR}/scripts/op_table ${CATENARY_TEST_RESULTS} cpu ${compared_columns})
set_tests_properties(op_table PROPERTIES DEPENDS "${counted};${compared_tests}")
