# Data, and sources that a user compiles, are looked for in share/catenary beside the library's own folder; in a build tree links stand
# there, so that one rule serves a build, an installation and a bundle.
if(IS_SYMLINK ${PROJECT_BINARY_DIR}/share/catenary)
  file(REMOVE ${PROJECT_BINARY_DIR}/share/catenary)
endif()
file(MAKE_DIRECTORY ${PROJECT_BINARY_DIR}/share/catenary)
foreach(folder data/mnist catenary/distributed/mpi catenary/backends/cpu/onednn)
  get_filename_component(name ${folder} NAME)
  if(NOT EXISTS ${PROJECT_BINARY_DIR}/share/catenary/${name})
    file(CREATE_LINK ${PROJECT_SOURCE_DIR}/${folder} ${PROJECT_BINARY_DIR}/share/catenary/${name} COPY_ON_ERROR SYMBOLIC)
  endif()
endforeach()
