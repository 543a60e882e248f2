# Data is looked for in share/catenary beside the library's own folder; in a build tree a link stands there, so that one rule
# serves a build, an installation and a bundle.
file(MAKE_DIRECTORY ${PROJECT_BINARY_DIR}/share)
if(NOT EXISTS ${PROJECT_BINARY_DIR}/share/catenary)
  file(CREATE_LINK ${PROJECT_SOURCE_DIR}/data ${PROJECT_BINARY_DIR}/share/catenary COPY_ON_ERROR SYMBOLIC)
endif()
