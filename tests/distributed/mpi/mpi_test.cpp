// Ranks started by an MPI: runs the tests of `catenary launch`, and tests the end of a job after a failure.

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <sstream>
#include <string>
#include <vector>

#include "catenary/core/error.h"
#include "catenary/core/os/file.h"
#include "catenary/core/os/process.h"
#include "tests/distributed/texts.h"
#include "tests/folder.h"
#include "tests/paths.h"
#include "tests/texts.h"

namespace ct = catenary;

namespace {

using tests::has;
using tests::sorted;

using Environment = std::vector<std::pair<std::string, std::string>>;

struct Job {
  ct::os::ProcessResult result;
  double seconds;
};

/// For machines with fewer cores than ranks. Open MPI's files go into a folder of the job.
Environment environment_of(const tests::Folder& folder) {
  return {{"OMPI_ALLOW_RUN_AS_ROOT", "1"},
          {"OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1"},
          {"OMPI_MCA_rmaps_base_oversubscribe", "1"},
          {"OMPI_MCA_hwloc_base_binding_policy", "none"},
          {"OMPI_MCA_btl_vader_single_copy_mechanism", "none"},
          {"OMPI_MCA_orte_tmpdir_base", folder.path},
          {"OMPI_MCA_btl_vader_backing_directory", folder.path},
          {"CATENARY_NUM_THREADS", "1"},
          {"GTEST_OUTPUT", ""}};
}

/// The mpiexec of another MPI than the detected one, for the test of MPICH. It ends all ranks, including the process
/// that reports a rank's death, and uses other exit statuses.
const char* other_mpiexec() { return std::getenv("CATENARY_TEST_MPIEXEC"); }

/// mpiexec with these arguments.
Job mpiexec(std::vector<std::string> command, const Environment& more = {}, double timeout = 600) {
  const tests::Folder folder;
  command.insert(command.begin(), other_mpiexec() ? other_mpiexec() : CT_MPIEXEC);
  Environment environment = environment_of(folder);
  environment.insert(environment.end(), more.begin(), more.end());
  const auto begin = std::chrono::steady_clock::now();
  Job job{ct::os::run_process(command, {.timeout = timeout, .environment = environment}), 0};
  job.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  return job;
}

/// Runs a program as so many ranks on this machine.
Job mpiexec(int ranks, std::vector<std::string> program, const Environment& more = {}) {
  program.insert(program.begin(), {"-n", std::to_string(ranks)});
  return mpiexec(program, more);
}

Job ranks(int n, std::vector<std::string> arguments, const Environment& environment = {}) {
  arguments.insert(arguments.begin(), tests::build_path("bin/ranks"));
  return mpiexec(n, std::move(arguments), environment);
}

int count_of(const std::string& text, const std::string& piece) {
  int n = 0;
  for (std::size_t at = 0; (at = text.find(piece, at)) != std::string::npos; at += piece.size()) ++n;
  return n;
}

/// Seconds, on a busy machine. Ranks that are not ended sleep for 60.
constexpr double kSoon = 30;

class MpiRanks : public testing::TestWithParam<int> {};

TEST_P(MpiRanks, DoTogetherWhatOnRanksTests) {
  // on a machine with fewer cores, eight ranks would wait too long in 300 updates
  const std::string but = GetParam() == 8 ? "-OnRanks.LossesOfMnist*" : "";
  const Job job = mpiexec(GetParam(), {tests::build_path("bin/test_distributed"), "--gtest_filter=OnRanks.*" + but});
  EXPECT_TRUE(job.result.ok()) << job.result.output << job.result.errors;
  EXPECT_EQ(count_of(job.result.output, "[  PASSED  ]"), GetParam());
}
INSTANTIATE_TEST_SUITE_P(Mpi, MpiRanks, testing::Values(1, 2, 3, 4, 8));

TEST(Mpi, ARankThatDiesEndsTheJob) {
  for (const char* const number : {"9", "11"}) {
    const Job job = ranks(3, {"signal", "1", number});
    EXPECT_LT(job.seconds, kSoon);
    EXPECT_NE(job.result.exit_code, 0) << job.result.errors;
    if (other_mpiexec()) continue;
    EXPECT_EQ(job.result.exit_code, 128 + std::stoi(number)) << job.result.errors;
    EXPECT_EQ(
        count_of(job.result.errors,
                 fmt::format("rank 1 of 3 on {} has died, in or after allreduce of float64 (10,) (collective 3)\n",
                             ct::os::host_name())),
        1)
        << job.result.errors;
    EXPECT_EQ(count_of(job.result.errors, "has died"), 1)
        << job.result.errors;  // ranks that are ended because of it print nothing
  }
}

TEST(Mpi, ARankThatFailsDoesNotWaitForTheOthers) {
  Job job = ranks(3, {"status", "1", "42"});
  EXPECT_EQ(job.result.exit_code, 42) << job.result.errors;
  if (!other_mpiexec()) {  // which may lose the last output of the ranks that it ends
    EXPECT_TRUE(has(job.result.errors,
                    fmt::format("rank 1 of 3 on {} ended with status 42, in or after allreduce of float64 (10,)",
                                ct::os::host_name())))
        << job.result.errors;
  }
  EXPECT_FALSE(has(job.result.errors, "has died")) << job.result.errors;
  EXPECT_LT(job.seconds, kSoon);
  job = ranks(3, {"throw", "0"});
  EXPECT_NE(job.result.exit_code, 0);
  EXPECT_TRUE(has(job.result.errors, "thrown by a rank")) << job.result.errors;
  EXPECT_LT(job.seconds, kSoon);
}

TEST(Mpi, ARankThatEndsEarly) {
  Job job = ranks(3, {"status", "1", "0"});
  EXPECT_NE(job.result.exit_code, 0);
  EXPECT_TRUE(has(job.result.errors, ", allreduce of float64 (10,) (collective 4): rank 1 has ended\n"))
      << job.result.errors;
  EXPECT_FALSE(has(job.result.errors, "has died")) << job.result.errors;
  job = ranks(2, {"receive", "1", "end"});
  EXPECT_NE(job.result.exit_code, 0);
  EXPECT_TRUE(has(job.result.errors, ", recv from rank 1: rank 1 has ended\n")) << job.result.errors;
  job = ranks(2, {"receive", "1", "barrier"});
  EXPECT_NE(job.result.exit_code, 0);
  EXPECT_TRUE(has(job.result.errors, ", recv from rank 1: rank 1 sends nothing, it is in barrier\n"))
      << job.result.errors;
}

TEST(Mpi, ARankThatIsKilledAtSomeInstant) {
  for (int seed = 0; seed < 4; ++seed) {
    const int rank = seed * 3 % 4;
    const Job job = ranks(4, {"killed", std::to_string(rank), std::to_string(seed)});
    EXPECT_FALSE(job.result.timed_out);
    EXPECT_NE(job.result.exit_code, 0) << job.result.errors;
    if (other_mpiexec()) continue;
    EXPECT_EQ(job.result.exit_code, 137) << job.result.errors;
    EXPECT_EQ(count_of(job.result.errors,
                       fmt::format("rank {} of 4 on {} has died, in or after ", rank, ct::os::host_name())),
              1)
        << job.result.errors;
  }
}

TEST(Mpi, ARankThatHangsIsNamed) {
  const Job job = ranks(3, {"hang", "2"}, {{"CATENARY_COLLECTIVE_TIMEOUT", "0.01"}});
  EXPECT_NE(job.result.exit_code, 0);
  EXPECT_TRUE(has(job.result.errors, "waited 0.01 minutes for rank ")) << job.result.errors;
  EXPECT_LT(job.seconds, kSoon);
}

TEST(Mpi, APluginThatIsNotThereOrOfAnotherMpi) {
  const tests::Folder folder;
  const auto alone = [&](const Environment& more) {
    Environment environment = environment_of(folder);
    environment.insert(environment.end(), more.begin(), more.end());
    return ct::os::run_process({tests::build_path("bin/ranks"), "loop", "0", "barrier"},
                               {.timeout = 120, .environment = environment});
  };
  ct::os::ProcessResult result =
      alone({{"OMPI_COMM_WORLD_SIZE", "2"}, {"CATENARY_MPI_PLUGIN", "/nowhere/libcatenary_mpi.so"}});
  EXPECT_NE(result.exit_code, 0);
  EXPECT_TRUE(has(result.errors, "Open MPI's mpiexec started this process, but there is no plugin for its MPI: ") &&
              has(result.errors, "mpicxx -std=c++17 -O2 -shared -fPIC "))
      << result.errors;
  result = alone({{"OMPI_COMM_WORLD_SIZE", "2"}, {"CATENARY_MPI_PLUGIN", tests::build_path("lib/libcatenary.so")}});
  EXPECT_TRUE(has(result.errors, "is no plugin of Catenary's")) << result.errors;
  // four processes started by MPICH's mpiexec, each of which is alone for Open MPI
  result = alone({{"PMI_SIZE", "4"}});
  EXPECT_NE(result.exit_code, 0);
  EXPECT_TRUE(has(result.errors, "mpiexec of MPICH's kin says that it started 4 ranks, but Open MPI ") &&
              has(result.errors, "sees 1: they are of two MPIs"))
      << result.errors;
}

// srun without PMIx: Open MPI ends the process and advises to rebuild it, or each rank is alone.
TEST(Mpi, SrunWithoutPmix) {
  const tests::Folder folder;
  for (const bool in_job : {true, false}) {
    Environment environment = environment_of(folder);
    environment.insert(environment.end(), {{"SLURM_PROCID", "0"}, {"SLURM_STEP_NUM_TASKS", "2"}});
    if (in_job)
      environment.insert(environment.end(), {{"SLURM_JOBID", "1"},
                                             {"SLURM_JOB_ID", "1"},
                                             {"SLURM_STEPID", "0"},
                                             {"SLURM_STEP_ID", "0"},
                                             {"SLURM_NODELIST", "localhost"}});
    // cat waits for all possible writers, including the rank's obituary
    const auto result = ct::os::run_process(
        {"bash", "-o", "pipefail", "-c", R"("$0" loop 0 barrier 2>&1 | cat >&2)", tests::build_path("bin/ranks")},
        {.timeout = 120, .environment = environment});
    EXPECT_FALSE(result.ok() || result.timed_out);
    EXPECT_EQ(count_of(result.errors,
                       "srun has not told the ranks how they find each other. Start them by "
                       "`srun --mpi=pmix`"),
              1)
        << result.errors;
  }
}

// hipRTC is tried in a forked process, which must happen before MPI is initialised.
TEST(Mpi, KernelsOfACardWhoseCompilerIsTriedBefore) {
  const tests::Folder cache;
  const Job job = ranks(2, {"compute-on", "-1", "hip:0"},
                        {{"LD_LIBRARY_PATH", tests::build_path("simgpu/hip")}, {"CATENARY_CACHE_DIR", cache.path}});
  EXPECT_TRUE(job.result.ok()) << job.result.errors;
  for (const char* const line : {"rank 0 has 30\n", "rank 1 has 30\n"})
    EXPECT_TRUE(has(job.result.output, line)) << job.result.output;
}

TEST(Mpi, TheLineThatTheErrorPrintsMakesAPlugin) {
  const tests::Folder folder;
  const std::string plugin = folder / "libcatenary_mpi.so";
  const ct::os::ProcessResult made =
      ct::os::run_process({"mpicxx", "-std=c++17", "-O2", "-shared", "-fPIC",
                           tests::build_path("share/catenary/mpi/plugin.cpp"), "-o", plugin});
  ASSERT_TRUE(made.ok()) << made.errors;
  const Job job = mpiexec(2, {tests::build_path("bin/test_distributed"), "--gtest_filter=OnRanks.WhoIsWho"},
                          {{"CATENARY_MPI_PLUGIN", plugin}});
  EXPECT_TRUE(job.result.ok()) << job.result.output << job.result.errors;
}

/// Returns whether this machine allows namespaces with separate host names.
bool has_namespaces() {
  try {
    return ct::os::run_process({"unshare", "-u", "true"}).ok();
  } catch (const ct::FileError&) {
    return false;
  }
}

// Two hosts with two ranks each: namespaces with separate host names, in which a replacement of ssh starts mpiexec's
// daemons. On machines without namespaces, ranks are told that they run on two hosts.
TEST(Mpi, TwoHosts) {
  const tests::Folder folder;
  const std::string agent = folder.write(
      "agent", "#!/bin/sh\nhost=$1; shift\nexec unshare -u sh -c 'hostname \"$0\"; eval \"$1\"' $host \"$*\"\n");
  std::filesystem::permissions(agent, std::filesystem::perms::owner_exec, std::filesystem::perm_options::add);
  const std::string program = tests::build_path("bin/ranks");
  const bool namespaces = has_namespaces();
  const auto on_two_hosts = [&](const std::vector<std::string>& arguments) {
    std::vector<std::string> command;
    if (namespaces) command = {"--mca", "plm_rsh_agent", agent, "-H", "nodea:2,nodeb:2"};
    for (const char* const host : {"nodea", "nodeb"}) {
      if (namespaces && host == std::string("nodeb")) break;
      if (!namespaces && host == std::string("nodeb")) command.emplace_back(":");
      command.insert(command.end(), {"-n", namespaces ? "4" : "2"});
      if (!namespaces) command.insert(command.end(), {"-x", std::string("CATENARY_HOST_ID=") + host});
      command.push_back(program);
      command.insert(command.end(), arguments.begin(), arguments.end());
    }
    return mpiexec(command);
  };
  Job job = on_two_hosts({"who"});
  ASSERT_TRUE(job.result.ok()) << job.result.errors;
  EXPECT_EQ(sorted(job.result.output),
            "rank 0 is 0 of 2 on host 0 of 2, exchanges during backward\n"
            "rank 1 is 1 of 2 on host 0 of 2, exchanges during backward\n"
            "rank 2 is 0 of 2 on host 1 of 2, exchanges during backward\n"
            "rank 3 is 1 of 2 on host 1 of 2, exchanges during backward\n");
  // the weights equal those of a training on one host bit for bit
  job = on_two_hosts({"train", "-1", folder / "two"});
  ASSERT_TRUE(job.result.ok()) << job.result.errors;
  const Job one = ranks(4, {"train", "-1", folder / "one"});
  EXPECT_EQ(count_of(one.result.output, " has "), 4) << one.result.output << one.result.errors;
  EXPECT_EQ(sorted(job.result.output), sorted(one.result.output));
}

TEST(Mpi, TheExampleTrains) {
  const tests::Folder folder;
  const Job job = mpiexec(2, {tests::build_path("bin/train_mnist_mn"), "--communicator", "naive", "-u", "20", "-e", "1",
                              "-o", folder / "result"});
  ASSERT_TRUE(job.result.ok()) << job.result.errors;
  EXPECT_TRUE(has(job.result.output, "Num process (COMM_WORLD): 2\n")) << job.result.output;
  EXPECT_EQ(count_of(job.result.output, "main/accuracy"), 2) << job.result.output;  // one table: two columns
  EXPECT_TRUE(ct::os::exists(folder / "result/log"));
}

}  // namespace
