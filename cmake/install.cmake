# Installs the library, its public headers, the programs, the data, a CMake package and a pkg-config file.
# The components library, development and tools become Debian packages (packages.cmake). Without --component all are installed.
include(CMakePackageConfigHelpers)

# Installed programs find the library, and the library its plugins, even if the installation is moved.
set_target_properties(catenary PROPERTIES INSTALL_RPATH "$ORIGIN")
foreach(plugin catenary_onednn catenary_mpi)
  if(TARGET ${plugin})
    set_target_properties(${plugin} PROPERTIES INSTALL_RPATH "$ORIGIN")
    install(TARGETS ${plugin} LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT library)
  endif()
endforeach()
# install_programs(FOLDER TARGET…)
function(install_programs folder)
  file(RELATIVE_PATH lib_from_folder ${CMAKE_INSTALL_PREFIX}/${folder} ${CMAKE_INSTALL_FULL_LIBDIR})
  set_target_properties(${ARGN} PROPERTIES INSTALL_RPATH "$ORIGIN/${lib_from_folder}")
  install(TARGETS ${ARGN} RUNTIME DESTINATION ${folder} COMPONENT tools)
endfunction()
# The only program in bin is catenary. Other packages may have programs with the names of the examples (gpt, gemm, nms).
if(TARGET catenary_command)
  install_programs(${CMAKE_INSTALL_BINDIR} catenary_command)
endif()
if(CATENARY_EXAMPLES)
  install_programs(${CMAKE_INSTALL_LIBEXECDIR}/catenary ${CATENARY_EXAMPLES})
endif()
install(TARGETS catenary EXPORT CatenaryTargets
        LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT library NAMELINK_COMPONENT development
        ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT development
        INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})

file(GLOB_RECURSE headers CONFIGURE_DEPENDS RELATIVE ${PROJECT_SOURCE_DIR} catenary/*.h catenary/*.def)
catenary_public(headers)
foreach(header IN LISTS headers)
  get_filename_component(folder ${header} DIRECTORY)
  install(FILES ${header} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/${folder} COMPONENT development)
endforeach()
install(FILES ${PROJECT_BINARY_DIR}/include/catenary/catenary.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/catenary COMPONENT development)

install(DIRECTORY data/mnist catenary/distributed/mpi catenary/backends/cpu/onednn DESTINATION ${CMAKE_INSTALL_DATADIR}/catenary COMPONENT library)
# The documents and the sources of the examples lie as in the tree, so that links between them work. scripts/data/dead_links checks the links.
set(documents ${CMAKE_INSTALL_DATADIR}/doc/catenary)
install(FILES LICENSE README.md CONTRIBUTING.md CHANGELOG.md DESTINATION ${documents} COMPONENT tools)
install(DIRECTORY docs examples docker DESTINATION ${documents} COMPONENT tools)
install(FILES data/mnist/README.md DESTINATION ${documents}/data/mnist COMPONENT tools)

set(package ${CMAKE_INSTALL_LIBDIR}/cmake/Catenary)
install(EXPORT CatenaryTargets NAMESPACE Catenary:: DESTINATION ${package} COMPONENT development)
configure_package_config_file(cmake/CatenaryConfig.cmake.in ${PROJECT_BINARY_DIR}/CatenaryConfig.cmake INSTALL_DESTINATION ${package})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/CatenaryConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/CatenaryConfig.cmake ${PROJECT_BINARY_DIR}/CatenaryConfigVersion.cmake DESTINATION ${package} COMPONENT development)

# The prefix is relative to catenary.pc, so that a moved installation still works.
file(RELATIVE_PATH prefix_from_pc ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig ${CMAKE_INSTALL_PREFIX})
string(REGEX REPLACE "/$" "" prefix_from_pc "${prefix_from_pc}")
configure_file(cmake/catenary.pc.in ${PROJECT_BINARY_DIR}/catenary.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/catenary.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT development)
