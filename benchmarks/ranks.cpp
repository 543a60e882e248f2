// catenary launch -n RANKS bench_ranks [json]: the rows of docs/performance.md about several processes: an all-reduce
// of 7.2 and of 100 MB. By `mpiexec -n RANKS bench_ranks` the same over MPI.

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
  for (const int count : {1'800'000, 25'000'000}) {
    const ct::Array x = ct::ones({count}, ct::Dtype::float32).eval();
    std::vector<double> samples;
    for (int i = 0; i <= 10; ++i) {
      comm.barrier();
      const auto start = std::chrono::steady_clock::now();
      const ct::Array sum = comm.allreduce(x);
      if (i > 0) samples.push_back(std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
    }
    if (comm.rank() != 0) continue;
    const std::string row = fmt::format("M {:g} MB", count * 4e-6);
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
