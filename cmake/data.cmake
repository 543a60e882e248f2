# The library looks for data, and for sources that users compile, in share/catenary beside its own folder. A build tree has links there, so
# one rule serves a build, an installation and a bundle.
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
