// Measures allreduce from 40 bytes to 100 MB with several processes, for docs/measurements/performance.md: catenary
// launch -n RANKS bench_ranks [json], or over MPI: mpiexec -n RANKS bench_ranks

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <string>
#include <vector>

#include "catenary/catenary.h"

namespace ct = catenary;

int main(int argc, char** argv) {
  const bool as_json = argc > 1 && std::string(argv[1]) == "json";
  const ct::distributed::Communicator comm = ct::distributed::create_communicator("flat");
  for (const int count : {10, 10'000, 250'000, 1'800'000, 25'000'000}) {
    const int runs = count < 1'000'000 ? 200 : 10;
    const ct::Array x = ct::ones({count}, ct::Dtype::float32).eval();
    std::vector<double> samples;
    for (int i = 0; i <= runs; ++i) {
      comm.barrier();
      const auto start = std::chrono::steady_clock::now();
      const ct::Array sum = comm.allreduce(x);
      if (i > 0) samples.push_back(std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
    }
    if (comm.rank() != 0) continue;
    const double bytes = 4.0 * count;
    const std::string row = bytes < 1e3   ? fmt::format("M {:g} B", bytes)
                            : bytes < 1e6 ? fmt::format("M {:g} KB", bytes / 1e3)
                                          : fmt::format("M {:g} MB", bytes / 1e6);
    if (as_json) {
      fmt::print("{{\"row\": \"{}\", \"who\": \"Catenary, {}\", \"samples\": [{}]}}\n", row, comm.transport(),
                 fmt::join(samples, ", "));
    } else {
      std::sort(samples.begin(), samples.end());
      fmt::print("{:24}{:10.4g} ms by {} ranks over {}\n", row, samples[samples.size() / 2] * 1e3, comm.size(),
                 comm.transport());
    }
  }
}
