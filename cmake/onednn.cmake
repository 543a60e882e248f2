# libcatenary_onednn.so: the one file that links oneDNN, loaded at run time from beside the library. Left out where oneDNN is not found.
option(CATENARY_ONEDNN "Build the oneDNN plugin where oneDNN is installed" ON)
if(CATENARY_ONEDNN)
  # Not by its own CMake file, which in some builds asks for OpenCL's headers.
  find_path(DNNL_INCLUDE_DIR oneapi/dnnl/dnnl.h)
  find_library(DNNL_LIBRARY dnnl)
  find_package(OpenMP COMPONENTS CXX) # whose threads oneDNN has
  if(DNNL_INCLUDE_DIR AND DNNL_LIBRARY AND OpenMP_CXX_FOUND)
    add_library(catenary_onednn MODULE catenary/backends/cpu/onednn/plugin.cpp)
    target_include_directories(catenary_onednn PRIVATE ${PROJECT_SOURCE_DIR} ${DNNL_INCLUDE_DIR})
    target_compile_options(catenary_onednn PRIVATE ${CATENARY_WARNINGS})
    set_target_properties(catenary_onednn PROPERTIES CXX_VISIBILITY_PRESET hidden)
    target_link_libraries(catenary_onednn PRIVATE ${DNNL_LIBRARY} OpenMP::OpenMP_CXX)
    add_dependencies(catenary catenary_onednn)
  else()
    message(STATUS "oneDNN not found: no plugin; products are computed by Catenary's own kernels")
  endif()
endif()
