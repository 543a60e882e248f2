// Simulates libmpi.so.40: an MPI that accepts memory of AMD's GPUs.

#include <cstring>

extern "C" {

int MPI_Get_library_version(char* text, int* length) {
  std::strcpy(text, "Some MPI v1.2, built for tests\nand more");
  *length = static_cast<int>(std::strlen(text));
  return 0;
}

int MPIX_Query_rocm_support() { return 1; }
}
