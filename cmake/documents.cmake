# test_documents compiles and runs the C++ code of the documents, on a simulated card if the code needs one.
set(documents README.md)
foreach(name guide/tutorial guide/training guide/precision guide/from-chainer guide/from-pytorch guide/language-models guide/onnx guide/gpus guide/distributed
             reference/tokenizers design/adding-a-function)
  list(APPEND documents docs/${name}.md)
endforeach()
set(document_code ${PROJECT_BINARY_DIR}/generated/document_code.cpp)
set(document_script scripts/document_code scripts/data/document_code.awk)
add_custom_command(OUTPUT ${document_code} COMMAND scripts/document_code ${document_code} ${documents} DEPENDS ${documents} ${document_script}
                   WORKING_DIRECTORY ${PROJECT_SOURCE_DIR} VERBATIM)
target_sources(test_documents PRIVATE ${document_code})
# Examples may have unused variables. They run shortly, so they are compiled without optimisation.
set_source_files_properties(${document_code} PROPERTIES SKIP_PRECOMPILE_HEADERS ON COMPILE_OPTIONS "-O0;-Wno-unused-variable;-Wno-unused-but-set-variable")
add_dependencies(test_documents simgpu)
set_property(TEST documents APPEND PROPERTY ENVIRONMENT CATENARY_GPU_INCLUDE_CPU=1 LD_LIBRARY_PATH=${PROJECT_BINARY_DIR}/simgpu/cuda
                                                        CATENARY_CACHE_DIR=${PROJECT_BINARY_DIR}/simgpu/cache)

# The documents say that Clang compiles them too.
find_program(CATENARY_CLANG NAMES clang++-14 clang++-15 clang++)
if(CATENARY_CLANG AND NOT CMAKE_CXX_COMPILER_ID MATCHES Clang)
  add_test(NAME documents_clang COMMAND ${CATENARY_CLANG} -std=c++20 -fsyntax-only -Wall -Wextra -Werror -Wno-unused-variable
                                        -Wno-unused-but-set-variable -I ${PROJECT_SOURCE_DIR} -I ${PROJECT_BINARY_DIR}/include ${document_code})
endif()
