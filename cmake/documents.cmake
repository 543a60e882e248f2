# The room of documents: their C++ code is compiled into it and run, on a simulated card where it asks for one.
set(documents README.md)
foreach(name tutorial training from-chainer gpus adding-a-function)
  list(APPEND documents docs/${name}.md)
endforeach()
set(document_code ${PROJECT_BINARY_DIR}/generated/document_code.cpp)
set(document_script scripts/document_code scripts/data/document_code.awk)
add_custom_command(OUTPUT ${document_code} COMMAND scripts/document_code ${document_code} ${documents} DEPENDS ${documents} ${document_script}
                   WORKING_DIRECTORY ${PROJECT_SOURCE_DIR} VERBATIM)
target_sources(test_documents PRIVATE ${document_code})
# Code that shows something may leave it unused; nobody waits for it to run, but for its compilation.
set_source_files_properties(${document_code} PROPERTIES SKIP_PRECOMPILE_HEADERS ON COMPILE_OPTIONS "-O0;-Wno-unused-variable;-Wno-unused-but-set-variable")
add_dependencies(test_documents simgpu)
set_property(TEST documents APPEND PROPERTY ENVIRONMENT CATENARY_GPU_INCLUDE_CPU=1 LD_LIBRARY_PATH=${PROJECT_BINARY_DIR}/simgpu/cuda
                                                        CATENARY_CACHE_DIR=${PROJECT_BINARY_DIR}/simgpu/cache)
