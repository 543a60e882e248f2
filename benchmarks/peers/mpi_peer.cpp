// Measures MPI_Allreduce alone and prints JSON lines like the other peers. Build it with mpicxx -O2 mpi_peer.cpp.
#include <mpi.h>

#include <cstdio>
#include <vector>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (const int count : {1'800'000, 25'000'000}) {
    std::vector<float> x(static_cast<std::size_t>(count), 1.0f);
    constexpr int kRuns = 10;
    std::vector<double> samples;
    for (int i = 0; i <= kRuns; ++i) {
      MPI_Barrier(MPI_COMM_WORLD);
      const double start = MPI_Wtime();
      MPI_Allreduce(MPI_IN_PLACE, x.data(), count, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
      if (i > 0) samples.push_back(MPI_Wtime() - start);
      for (float& value : x) value = 1.0f;
    }
    if (rank != 0) continue;
    std::printf("{\"row\": \"M %g MB\", \"who\": \"MPI_Allreduce\", \"samples\": [", count * 4e-6);
    for (int i = 0; i < kRuns; ++i) std::printf("%s%g", i ? ", " : "", samples[static_cast<std::size_t>(i)]);
    std::puts("]}");
  }
  MPI_Finalize();
}
