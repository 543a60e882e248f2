#pragma once
// Private. The C interface between libcatenary and libcatenary_mpi.so. Only the plugin is compiled against an MPI:
// handles differ between MPIs, so one plugin serves one family (Open MPI 3 to 5; MPICH, Intel MPI, MVAPICH; …).
// plugin.h and plugin.cpp are self-contained, so that a user's mpicxx compiles them. Increase the number with every
// change here.

#include <stdint.h>

#define CT_MPI_INTERFACE 3

extern "C" {
/// Functions return 0 or an MPI error code, which message() explains. Only one thread at a time may call them.
struct CatenaryMpi {
  int interface;  // CT_MPI_INTERFACE
  /// Returns the version text of the loaded MPI library. Callable before start().
  void (*library)(char* text, int size);
  void (*message)(int code, char* text, int size);
  /// Initialises MPI, unless the program has, and duplicates a communicator over all ranks. Sets `any_thread` if
  /// threads other than the initialising thread may call, one at a time, and `ours` if MPI was initialised here.
  int (*start)(int* rank, int* ranks, int* any_thread, int* ours);
  /// Start transfers of up to 2 GiB - 1. The number of a transfer becomes free when the transfer is found done.
  /// Transfers of one channel match in order.
  int (*send)(int to, int channel, const void* data, int64_t bytes, int64_t* transfer);
  int (*receive)(int from, int channel, void* data, int64_t bytes, int64_t* transfer);
  int (*done)(int64_t transfer, int* is_done);
  /// Checks for a message on a channel without a started receive, from one rank or any (-1). Sets the source, or -1.
  int (*probe)(int from, int channel, int* source);
  /// Returns whether the program has finalised MPI.
  int (*is_over)(void);
  /// Finalises MPI if it was initialised here. Waits until all ranks do.
  int (*finish)(void);
  /// Ends all ranks. May not return, or only later.
  void (*abort)(int status);
};
/// Returns the table of functions, the plugin's only symbol.
__attribute__((visibility("default"))) const struct CatenaryMpi* catenary_mpi(void);
}
