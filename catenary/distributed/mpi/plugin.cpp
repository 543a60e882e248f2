#include "plugin.h"

#include <mpi.h>
#include <string.h>

#include <vector>

namespace {

MPI_Comm ranks = MPI_COMM_NULL;
bool begun_here = false;
std::vector<MPI_Request> requests;
std::vector<int64_t> unused;  // numbers of finished requests, for reuse

void copy_text(char* to, int size, const char* from) {
  strncpy(to, from, static_cast<size_t>(size));
  to[size - 1] = '\0';
}

void library(char* text, int size) {
  char version[MPI_MAX_LIBRARY_VERSION_STRING] = "";
  int length = 0;
  MPI_Get_library_version(version, &length);
  copy_text(text, size, version);
}

void message(int code, char* text, int size) {
  char reason[MPI_MAX_ERROR_STRING] = "";
  int length = 0;
  MPI_Error_string(code, reason, &length);
  copy_text(text, size, reason);
}

int start(int* rank, int* size, int* any_thread, int* ours) {
  int begun = 0, level = MPI_THREAD_SINGLE;
  int code = MPI_Initialized(&begun);
  if (code == MPI_SUCCESS && !begun) {
    code = MPI_Init_thread(nullptr, nullptr, MPI_THREAD_SERIALIZED, &level);
    begun_here = code == MPI_SUCCESS;
  } else if (code == MPI_SUCCESS) {
    code = MPI_Query_thread(&level);
  }
  // Threads take turns in calling MPI. An MPI that accepts only its initialising thread works while only this thread
  // calls.
  if (code == MPI_SUCCESS && level < MPI_THREAD_FUNNELED) code = MPI_ERR_OTHER;
  *any_thread = level >= MPI_THREAD_SERIALIZED;
  *ours = begun_here;
  if (code == MPI_SUCCESS) code = MPI_Comm_dup(MPI_COMM_WORLD, &ranks);
  if (code == MPI_SUCCESS) code = MPI_Comm_set_errhandler(ranks, MPI_ERRORS_RETURN);
  if (code == MPI_SUCCESS) code = MPI_Comm_rank(ranks, rank);
  if (code == MPI_SUCCESS) code = MPI_Comm_size(ranks, size);
  return code;
}

int64_t new_number() {
  if (unused.empty()) {
    requests.push_back(MPI_REQUEST_NULL);
    return static_cast<int64_t>(requests.size()) - 1;
  }
  const int64_t number = unused.back();
  unused.pop_back();
  return number;
}

int send(int to, int channel, const void* data, int64_t bytes, int64_t* transfer) {
  *transfer = new_number();
  return MPI_Isend(const_cast<void*>(data), static_cast<int>(bytes), MPI_BYTE, to, channel, ranks,
                   &requests[static_cast<size_t>(*transfer)]);
}

int receive(int from, int channel, void* data, int64_t bytes, int64_t* transfer) {
  *transfer = new_number();
  return MPI_Irecv(data, static_cast<int>(bytes), MPI_BYTE, from, channel, ranks,
                   &requests[static_cast<size_t>(*transfer)]);
}

int done(int64_t transfer, int* is_done) {
  const int code = MPI_Test(&requests[static_cast<size_t>(transfer)], is_done, MPI_STATUS_IGNORE);
  if (code == MPI_SUCCESS && *is_done) unused.push_back(transfer);
  return code;
}

int probe(int from, int channel, int* source) {
  int has = 0;
  MPI_Status status;
  const int code = MPI_Iprobe(from < 0 ? MPI_ANY_SOURCE : from, channel, ranks, &has, &status);
  *source = code == MPI_SUCCESS && has ? status.MPI_SOURCE : -1;
  return code;
}

int is_over() {
  int ended = 0;
  return MPI_Finalized(&ended) != MPI_SUCCESS || ended;
}

int finish() { return begun_here && !is_over() ? MPI_Finalize() : MPI_SUCCESS; }

void abort_all(int status) { MPI_Abort(MPI_COMM_WORLD, status); }

}  // namespace

const CatenaryMpi* catenary_mpi() {
  static const CatenaryMpi table = {CT_MPI_INTERFACE, library, message,  start, send, receive, done, probe,
                                    is_over,          finish,  abort_all};
  return &table;
}
