# libcatenary_mpi.so is the only file compiled against an MPI. Ranks that an MPI starts load it at run time. It is not built if no MPI is found. Its
# source is installed, so that users can build it for another MPI with mpicxx.
option(CATENARY_MPI "Build the MPI plugin, if an MPI is installed" ON)
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
    message(STATUS "MPI not found: its plugin is not built; `catenary launch` starts ranks on one machine")
  endif()
endif()
