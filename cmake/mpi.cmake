# libcatenary_mpi.so: the one file that is compiled against an MPI, loaded at run time by ranks that an MPI started. Left out where no MPI is
# found; its source is installed, and a line of mpicxx makes one for another MPI.
option(CATENARY_MPI "Build the MPI plugin where an MPI is installed" ON)
if(CATENARY_MPI)
  find_package(MPI COMPONENTS C)  # the plugin calls MPI's C functions
  if(MPI_C_FOUND)
    add_library(catenary_mpi MODULE catenary/distributed/mpi/plugin.cpp)
    target_compile_options(catenary_mpi PRIVATE ${CATENARY_WARNINGS} -Wno-old-style-cast -Wno-cast-function-type)  # macros of mpi.h
    target_compile_definitions(catenary_mpi PRIVATE OMPI_SKIP_MPICXX MPICH_SKIP_MPICXX)
    set_target_properties(catenary_mpi PROPERTIES CXX_VISIBILITY_PRESET hidden)
    target_link_libraries(catenary_mpi PRIVATE MPI::MPI_C)
    add_dependencies(catenary catenary_mpi)
  else()
    message(STATUS "MPI not found: no plugin; `catenary launch` starts ranks on one machine")
  endif()
endif()
