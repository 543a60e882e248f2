# libcatenary_mpi.so: the one file that is compiled against an MPI, loaded at run time by ranks that an MPI started. Left out where no MPI is
# found; its source is installed, and a line of mpicxx makes one for another MPI.
option(CATENARY_MPI "Build the MPI plugin where an MPI is installed" ON)
if(CATENARY_MPI)
  set(MPI_CXX_SKIP_MPICXX ON)  # the plugin calls MPI's C functions
  find_package(MPI COMPONENTS CXX)
  if(MPI_CXX_FOUND)
    add_library(catenary_mpi MODULE catenary/distributed/mpi/plugin.cpp)
    target_compile_options(catenary_mpi PRIVATE ${CATENARY_WARNINGS} -Wno-old-style-cast -Wno-cast-function-type)  # macros of mpi.h
    set_target_properties(catenary_mpi PROPERTIES CXX_VISIBILITY_PRESET hidden)
    target_link_libraries(catenary_mpi PRIVATE MPI::MPI_CXX)
    add_dependencies(catenary catenary_mpi)
  else()
    message(STATUS "MPI not found: no plugin; `catenary launch` starts ranks on one machine")
  endif()
endif()
