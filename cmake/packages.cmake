# cpack -G DEB: the Debian packages libcatenary, libcatenary-dev and catenary-tools, one for each component of install.cmake.
set(CPACK_GENERATOR DEB)
set(CPACK_VERBATIM_VARIABLES ON)
set(CPACK_PACKAGE_NAME catenary)
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "")  # CPack would put it before the first line of each description
set(CPACK_PACKAGE_VENDOR "The Catenary authors")
# The project has no mailbox. Whoever publishes packages gives an address: -DCPACK_PACKAGE_CONTACT="Name <address>".
set(CPACK_PACKAGE_CONTACT "The Catenary authors <noreply@catenary.invalid>" CACHE STRING "Maintainer of the packages that cpack makes")
set(CPACK_STRIP_FILES ON)
set(CPACK_COMPONENTS_ALL library development tools)
set(CPACK_COMPONENTS_GROUPING IGNORE)
set(CPACK_COMPONENT_DEVELOPMENT_DEPENDS library)
set(CPACK_COMPONENT_TOOLS_DEPENDS library)

set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_ENABLE_COMPONENT_DEPENDS ON)  # on exactly this version of the library
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS ${CMAKE_LIBRARY_OUTPUT_DIRECTORY})

set(CPACK_DEBIAN_LIBRARY_PACKAGE_NAME libcatenary)
set(CPACK_DEBIAN_LIBRARY_PACKAGE_SECTION libs)
set(CPACK_DEBIAN_LIBRARY_DESCRIPTION "Deep-learning framework for CPUs and GPUs of any vendor (library)
Catenary computes arrays and trains networks on processors, NVIDIA, AMD and OpenCL devices. It finds drivers at run time and needs no GPU toolkit.
.
This package contains the shared library, its plugins for oneDNN and MPI, and the MNIST data set.")
# The dependencies on shared libraries: package_dependencies.cmake.
set(CPACK_PROJECT_CONFIG_FILE ${PROJECT_SOURCE_DIR}/cmake/package_dependencies.cmake)
set(CPACK_CATENARY_LIBRARIES ${CMAKE_LIBRARY_OUTPUT_DIRECTORY})
set(CPACK_DEBIAN_LIBRARY_PACKAGE_RECOMMENDS "ocl-icd-libopencl1 | libopencl-1")
set(CPACK_DEBIAN_LIBRARY_PACKAGE_SUGGESTS "pocl-opencl-icd, g++ (>= 4:12)")  # kernels in CUDA C++ on the processor
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS ON)
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS_POLICY "=")

set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_NAME libcatenary-dev)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_DEVELOPMENT_DESCRIPTION "Deep-learning framework for CPUs and GPUs of any vendor (headers)
Catenary computes arrays and trains networks on processors, NVIDIA, AMD and OpenCL devices.
.
This package contains the C++20 headers and the files that CMake's find_package and pkg-config read.")
# Public headers include the C++ standard library only. The sources of the examples also use CLI11 and fmt.
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_RECOMMENDS "g++ (>= 4:12) | clang (>= 1:14), pkg-config, cmake")
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SUGGESTS "catenary-tools, libcli11-dev, libfmt-dev")

set(CPACK_DEBIAN_TOOLS_PACKAGE_NAME catenary-tools)
set(CPACK_DEBIAN_TOOLS_PACKAGE_SECTION science)
set(CPACK_DEBIAN_TOOLS_DESCRIPTION "Deep-learning framework for CPUs and GPUs of any vendor (programs)
Catenary computes arrays and trains networks on processors, NVIDIA, AMD and OpenCL devices.
.
This package contains the command catenary, which lists devices, generates text and starts several processes, and programs in /usr/libexec/catenary that train on MNIST, tables, images and texts. The documentation and the sources of these programs are in /usr/share/doc/catenary.")
set(CPACK_DEBIAN_TOOLS_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_TOOLS_PACKAGE_RECOMMENDS "libcurl4 | libcurl4t64, ca-certificates")  # catenary data fetch

# Debian's policy: a package has its terms and its changes in a folder of its own. cmake --install leaves these out.
foreach(component library development tools)
  string(TOUPPER ${component} upper)
  install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/${CPACK_DEBIAN_${upper}_PACKAGE_NAME} RENAME copyright
          COMPONENT ${component} EXCLUDE_FROM_ALL)
endforeach()
include(CPack)
