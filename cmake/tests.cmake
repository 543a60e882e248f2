# Each folder of tests is one program ("room"): tests/<room>/*.cpp becomes bin/test_<room>. Exceptions: data (files that tests read), fuzz (one fuzzer
# per file), consumer (a project outside the tree), simgpu and programs (cmake/devices.cmake).
find_package(GTest REQUIRED)
# Compile time matters more than speed here: tests are compiled more often than they run.
set(test_options ${CATENARY_WARNINGS} $<$<CONFIG:Release>:-Og>)
set(test_libraries catenary GTest::gtest fmt::fmt nlohmann_json::nlohmann_json ZLIB::ZLIB PkgConfig::LIBZIP PNG::PNG JPEG::JPEG Threads::Threads)
# Headers that every test includes, precompiled. Sources must include them all the same.
file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/generated/test_headers.cpp CONTENT "")
add_library(test_headers OBJECT ${PROJECT_BINARY_DIR}/generated/test_headers.cpp)
target_compile_options(test_headers PRIVATE ${test_options})
target_link_libraries(test_headers PRIVATE ${test_libraries})
catenary_precompile(test_headers PRIVATE <gtest/gtest.h> <catenary/autograd/variable.h> <catenary/core/format.h>)
set(CATENARY_TEST_RESULTS ${PROJECT_BINARY_DIR}/test-results)
# All tests on the CPU run. A share of the tests (tests/share.h) is only for devices and sanitizers.
set(CATENARY_WHOLE CATENARY_TEST_SHARE=1)
if(CATENARY_SANITIZE)
  set(CATENARY_WHOLE)
endif()
file(GLOB rooms CONFIGURE_DEPENDS LIST_DIRECTORIES true RELATIVE ${PROJECT_SOURCE_DIR}/tests tests/*)
list(REMOVE_ITEM rooms data fuzz consumer simgpu programs)
if(NOT TARGET reference-check)
  list(REMOVE_ITEM rooms reference) # it runs the program reference-check
endif()
if(NOT TARGET programs)
  list(REMOVE_ITEM rooms examples tools distributed) # these run programs too
endif()
if(CATENARY_SANITIZE OR CATENARY_FUZZ)
  list(REMOVE_ITEM rooms documents) # the code of the documents uses simulated devices
endif()
add_library(test_main STATIC tests/main.cpp)
target_include_directories(test_main PRIVATE ${PROJECT_SOURCE_DIR})
target_compile_definitions(test_main PRIVATE CT_SOURCE_DIR="${PROJECT_SOURCE_DIR}" CT_BINARY_DIR="${PROJECT_BINARY_DIR}")
target_compile_options(test_main PRIVATE ${test_options})
target_link_libraries(test_main PRIVATE catenary GTest::gtest)
if(CATENARY_SANITIZE)  # tests whose own reference computations take long
  set_source_files_properties(tests/backends/sort_test.cpp PROPERTIES COMPILE_OPTIONS -O1 SKIP_PRECOMPILE_HEADERS ON)
endif()
foreach(room IN LISTS rooms)
  file(GLOB sources CONFIGURE_DEPENDS tests/${room}/*.cpp)
  if(NOT sources)
    continue()
  endif()
  add_executable(test_${room} ${sources})
  target_include_directories(test_${room} PRIVATE ${PROJECT_SOURCE_DIR})
  target_compile_options(test_${room} PRIVATE ${test_options})
  target_link_libraries(test_${room} PRIVATE test_main ${test_libraries})
  catenary_precompile(test_${room} REUSE_FROM test_headers)
  catenary_unity(test_${room})
  add_test(NAME ${room} COMMAND test_${room})
  set_tests_properties(${room} PROPERTIES ENVIRONMENT "GTEST_OUTPUT=xml:${CATENARY_TEST_RESULTS}/${room}.xml;${CATENARY_WHOLE}" TIMEOUT 2400)
endforeach()
if(TARGET test_array)
  # Linear algebra without LAPACK, which the test `array` uses where it is installed.
  add_test(NAME array_without_lapack COMMAND test_array --gtest_filter=Solver.*:*Linalg*:Decompositions.*:Eigenvalues.*)
  set_tests_properties(array_without_lapack PROPERTIES ENVIRONMENT "CATENARY_SOLVER=own" TIMEOUT 2400)
endif()
if(TARGET test_ops)
  target_include_directories(test_ops PRIVATE ${PROJECT_BINARY_DIR}/generated)  # derived texts of ops/
endif()
if(TARGET test_backends)
  set_tests_properties(backends PROPERTIES COST 1000) # the longest with a sanitizer, so it starts first
endif()

if(TARGET test_functions)
  # The list of all public names, for tests of all functions.
  file(GLOB_RECURSE headers CONFIGURE_DEPENDS catenary/*.h catenary/*.def)
  set(coverage ${PROJECT_SOURCE_DIR}/scripts/make_coverage)
  add_custom_command(OUTPUT ${PROJECT_BINARY_DIR}/coverage.md COMMAND ${coverage} ${PROJECT_BINARY_DIR}/coverage.md
                     DEPENDS ${coverage} ${PROJECT_SOURCE_DIR}/scripts/data/coverage.awk ${headers} VERBATIM)
  add_custom_target(coverage_list DEPENDS ${PROJECT_BINARY_DIR}/coverage.md)
  add_dependencies(test_functions coverage_list)
endif()
if(TARGET test_reference)
  add_dependencies(test_reference reference-check)
endif()
if(TARGET test_distributed)
  # a rank that misbehaves on request, which `catenary launch` starts
  add_executable(ranks tests/distributed/ranks/ranks.cpp)
  target_compile_options(ranks PRIVATE ${test_options})
  target_link_libraries(ranks PRIVATE catenary)
  add_test(NAME kill_ranks COMMAND ${PROJECT_SOURCE_DIR}/scripts/kill_ranks ${PROJECT_BINARY_DIR} 1)
  set_tests_properties(kill_ranks PROPERTIES TIMEOUT 300 RUN_SERIAL ON)  # it counts the segments in /dev/shm
  add_dependencies(test_distributed ranks catenary_command train_mnist_mn reference-check)
endif()
if(TARGET test_examples)
  add_dependencies(test_examples programs)
endif()
if(TARGET test_tools)
  # Libraries for tests of `catenary doctor`, each in a folder of its own: an OpenCL that kills the process that loads it, an NVML and an MPI.
  set(stand_ins opencl nvml mpi)
  set(sonames libOpenCL.so.1 libnvidia-ml.so.1 libmpi.so.40)
  foreach(name soname IN ZIP_LISTS stand_ins sonames)
    add_library(stand_in_${name} SHARED tests/tools/stand_ins/${name}.cpp)
    set_target_properties(stand_in_${name} PROPERTIES PREFIX "" SUFFIX "" OUTPUT_NAME ${soname} NO_SONAME ON
                                                      LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/stand_ins/${name})
    add_dependencies(test_tools stand_in_${name})
  endforeach()
  add_dependencies(test_tools programs)
endif()

if(TARGET test_documents)
  include(cmake/documents.cmake)
endif()

include(cmake/fuzz.cmake)
if(NOT CATENARY_SANITIZE AND NOT CATENARY_FUZZ)  # kernels made at run time and fibers do not work with these
  include(cmake/devices.cmake)
endif()

# Tests with ranks that an MPI starts.
if(TARGET test_distributed AND TARGET catenary_mpi AND MPIEXEC_EXECUTABLE)
  add_executable(test_mpi tests/distributed/mpi/mpi_test.cpp)
  target_include_directories(test_mpi PRIVATE ${PROJECT_SOURCE_DIR})
  target_compile_options(test_mpi PRIVATE ${test_options})
  target_compile_definitions(test_mpi PRIVATE CT_MPIEXEC="${MPIEXEC_EXECUTABLE}")
  target_link_libraries(test_mpi PRIVATE test_main ${test_libraries})
  add_dependencies(test_mpi test_distributed)
  if(TARGET simgpu)
    add_dependencies(test_mpi simgpu)
  endif()
  add_test(NAME mpi_distributed COMMAND test_mpi)
  set_tests_properties(mpi_distributed PROPERTIES ENVIRONMENT "GTEST_OUTPUT=xml:${CATENARY_TEST_RESULTS}/mpi_distributed.xml;${CATENARY_WHOLE}" TIMEOUT 2400)
  # The same tests with MPICH, whose plugin is built as users build it. The programs have Debian's names. These variables can name others.
  find_program(CATENARY_MPICH_CXX mpicxx.mpich DOC "MPICH's C++ compiler")
  find_program(CATENARY_MPICH_EXEC mpiexec.mpich DOC "MPICH's mpiexec")
  if(CATENARY_MPICH_CXX AND CATENARY_MPICH_EXEC)
    set(plugin ${PROJECT_BINARY_DIR}/mpich/libcatenary_mpi.so)
    set(source ${PROJECT_SOURCE_DIR}/catenary/distributed/mpi/plugin.cpp)
    add_custom_command(OUTPUT ${plugin} COMMAND ${CMAKE_COMMAND} -E make_directory ${PROJECT_BINARY_DIR}/mpich
                       COMMAND ${CATENARY_MPICH_CXX} -std=c++17 -O2 -shared -fPIC ${source} -o ${plugin} DEPENDS ${source} VERBATIM)
    add_custom_target(mpich_plugin DEPENDS ${plugin})
    add_dependencies(test_mpi mpich_plugin)
    # MPICH's mpiexec may lose the last output of a rank that ends early
    add_test(NAME mpich_distributed COMMAND test_mpi --gtest_filter=*MpiRanks*:Mpi.ARank*:Mpi.TheExampleTrains-Mpi.ARankThatEndsEarly)
    set_tests_properties(mpich_distributed PROPERTIES TIMEOUT 2400 ENVIRONMENT
                         "GTEST_OUTPUT=xml:${CATENARY_TEST_RESULTS}/mpich_distributed.xml;CATENARY_TEST_MPIEXEC=${CATENARY_MPICH_EXEC};CATENARY_MPI_PLUGIN=${plugin};${CATENARY_WHOLE}")
  else()
    file(APPEND ${PROJECT_BINARY_DIR}/columns "mpich: MPICH is not installed (scripts/setup --with-dev)\n")
  endif()
elseif(TARGET test_distributed)
  file(APPEND ${PROJECT_BINARY_DIR}/columns "mpi: no MPI is installed (scripts/setup --with-dev)\n")
endif()

# Scripts that check the source tree, and a project outside the tree that uses an installed copy.
add_test(NAME layers COMMAND ${PROJECT_SOURCE_DIR}/scripts/check_layers)
add_test(NAME forbidden COMMAND ${PROJECT_SOURCE_DIR}/scripts/check_forbidden)
add_test(NAME coverage COMMAND ${PROJECT_SOURCE_DIR}/scripts/make_coverage --check)
add_test(NAME folders COMMAND ${PROJECT_SOURCE_DIR}/scripts/draw_folders --check)
add_test(NAME measurements COMMAND ${PROJECT_SOURCE_DIR}/scripts/make_measurements --check)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64" AND NOT CATENARY_SANITIZE)
  add_test(NAME vectorised COMMAND ${PROJECT_SOURCE_DIR}/scripts/check_vectorised ${CMAKE_CXX_COMPILER}) # reads GCC's report
  set_tests_properties(vectorised PROPERTIES TIMEOUT 600)
endif()
add_test(NAME contributing COMMAND ${PROJECT_SOURCE_DIR}/scripts/test_patches ${PROJECT_BINARY_DIR} ${CMAKE_CXX_COMPILER})
if(CATENARY_INSTALL AND BUILD_SHARED_LIBS AND NOT CATENARY_SANITIZE AND NOT CATENARY_FUZZ)
  add_test(NAME consumer COMMAND ${PROJECT_SOURCE_DIR}/scripts/test_consumer ${PROJECT_BINARY_DIR} ${CMAKE_CXX_COMPILER})
  set_tests_properties(consumer PROPERTIES TIMEOUT 600)
endif()
