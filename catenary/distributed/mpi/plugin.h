#pragma once
// Private. The C interface between libcatenary and libcatenary_mpi.so, which alone is compiled against an MPI: each MPI
// has handles of its own, so one plugin serves one family (Open MPI 3 to 5; MPICH, Intel MPI, MVAPICH; …). plugin.h and
// plugin.cpp stand alone, so that a user's mpicxx compiles them. Raise the number when anything here changes.

#include <stdint.h>

#define CT_MPI_INTERFACE 3

extern "C" {
/// Functions return 0 or an error code of MPI's, which message() explains. All are called by one thread at a time.
struct CatenaryMpi {
  int interface;  // CT_MPI_INTERFACE
  /// What the loaded MPI library says of itself; may be called before start().
  void (*library)(char* text, int size);
  void (*message)(int code, char* text, int size);
  /// Begins to use MPI, unless the program has already, on a communicator of our own over all ranks. `any_thread`: may
  /// others than the thread that began call, one at a time? `ours`: was it begun here?
  int (*start)(int* rank, int* ranks, int* any_thread, int* ours);
  /// Transfers of up to 2 GiB - 1, by a number that is free again once it was found done. Those of one channel meet in
  /// order.
  int (*send)(int to, int channel, const void* data, int64_t bytes, int64_t* transfer);
  int (*receive)(int from, int channel, void* data, int64_t bytes, int64_t* transfer);
  int (*done)(int64_t transfer, int* is_done);
  /// Has something come on a channel that no receive was started for, from a rank or from any (-1)? The source, or -1.
  int (*probe)(int from, int channel, int* source);
  /// Has the program ended the use of MPI?
  int (*is_over)(void);
  /// Ends the use of MPI, if it was begun here: waits until all ranks do.
  int (*finish)(void);
  /// Ends all ranks; may not return, or not soon.
  void (*abort)(int status);
};
/// The only symbol of the plugin.
__attribute__((visibility("default"))) const struct CatenaryMpi* catenary_mpi(void);
}
