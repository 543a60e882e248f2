# libcatenary_onednn.so is the only file that links oneDNN. The library loads it at run time from its own folder. It is not built if oneDNN is missing.
option(CATENARY_ONEDNN "Build the oneDNN plugin, if oneDNN is installed" ON)
if(CATENARY_ONEDNN)
  # Found without oneDNN's own CMake file, which requires OpenCL's headers in some builds.
  find_path(DNNL_INCLUDE_DIR oneapi/dnnl/dnnl.h)
  find_library(DNNL_LIBRARY dnnl)
  find_package(OpenMP COMPONENTS CXX) # oneDNN uses its threads
  if(DNNL_INCLUDE_DIR AND DNNL_LIBRARY AND OpenMP_CXX_FOUND)
    add_library(catenary_onednn MODULE catenary/backends/cpu/onednn/plugin.cpp)
    target_include_directories(catenary_onednn PRIVATE ${PROJECT_SOURCE_DIR} ${DNNL_INCLUDE_DIR})
    target_compile_options(catenary_onednn PRIVATE ${CATENARY_WARNINGS})
    set_target_properties(catenary_onednn PROPERTIES CXX_VISIBILITY_PRESET hidden)
    target_link_libraries(catenary_onednn PRIVATE ${DNNL_LIBRARY} OpenMP::OpenMP_CXX)
    add_dependencies(catenary catenary_onednn)
  else()
    message(STATUS "oneDNN not found: its plugin is not built; Catenary's own kernels compute matrix products")
  endif()
endif()
