# Read by cpack. CPack asks dpkg-shlibdeps for all files of a package together, but the plugins are loaded only where their libraries
# are installed: libcatenary depends on the libraries of libcatenary.so, recommends oneDNN's and suggests MPI's.
if(NOT CPACK_GENERATOR STREQUAL "DEB")
  return()
endif()
find_program(DPKG_SHLIBDEPS dpkg-shlibdeps)
if(NOT DPKG_SHLIBDEPS)
  message(FATAL_ERROR "dpkg-shlibdeps was not found (Debian and Ubuntu: dpkg-dev)")
endif()

# needed_by(VARIABLE LIBRARY): appends the packages of the shared libraries that LIBRARY needs to the list in VARIABLE, but for
# those on which the package depends already
function(needed_by variable library)
  if(NOT EXISTS ${CPACK_CATENARY_LIBRARIES}/${library})
    return()
  endif()
  set(folder ${CPACK_CATENARY_LIBRARIES}/../package_dependencies)
  file(WRITE ${folder}/debian/control "Source: catenary\n\nPackage: libcatenary\nArchitecture: any\n")  # which dpkg-shlibdeps asks for
  execute_process(COMMAND ${DPKG_SHLIBDEPS} -O ${CPACK_CATENARY_LIBRARIES}/${library} WORKING_DIRECTORY ${folder}
                  OUTPUT_VARIABLE found ERROR_VARIABLE errors RESULT_VARIABLE status OUTPUT_STRIP_TRAILING_WHITESPACE)
  if(NOT status EQUAL 0)
    message(FATAL_ERROR "dpkg-shlibdeps of ${library}: ${errors}")
  endif()
  string(REGEX REPLACE "^.*Depends=" "" found "${found}")
  string(REPLACE ", " ";" found "${found}")
  set(packages ${${variable}})
  foreach(package IN LISTS found)
    string(REGEX REPLACE " .*" "" name "${package}")
    string(FIND ", ${CPACK_DEBIAN_LIBRARY_PACKAGE_DEPENDS} " ", ${name} " place)
    if(place EQUAL -1)
      list(APPEND packages "${package}")
    endif()
  endforeach()
  list(JOIN packages ", " packages)
  set(${variable} "${packages}" PARENT_SCOPE)
endfunction()

needed_by(CPACK_DEBIAN_LIBRARY_PACKAGE_DEPENDS libcatenary.so)
needed_by(CPACK_DEBIAN_LIBRARY_PACKAGE_RECOMMENDS libcatenary_onednn.so)
needed_by(CPACK_DEBIAN_LIBRARY_PACKAGE_SUGGESTS libcatenary_mpi.so)
