// The job scripts, with simulated batch system, MPI and bundle.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "catenary/core/os/file.h"
#include "catenary/core/os/process.h"
#include "tests/folder.h"
#include "tests/paths.h"

namespace ct = catenary;

namespace {

class Jobs : public testing::Test {
 protected:
  Jobs() {
    const std::string share = folder_ / "bundle/share/doc/catenary/examples";
    ct::os::make_directories(share);
    std::filesystem::create_symlink(tests::source_path("examples/jobs"), share + "/jobs");
    folder_.write("bundle/share/catenary/mpi/plugin.cpp", "");
    program("bundle/libexec/catenary/train_mnist_mn",
            "echo \"rank: $* ; plugin $CATENARY_MPI_PLUGIN\"; mkdir -p \"$5\"; touch \"$5/log\"");
    // each prints its arguments, and runs the given program as one rank
    program("bin/mpicxx", "echo \"mpicxx $*\"; touch \"${@: -1}\"");
    program("bin/mpiexec", "echo \"mpiexec $*\"; while [ \"$1\" != bash ]; do shift; done; \"$@\"");
    program("bin/srun", "echo \"srun $*\"; while [ \"$1\" != bash ]; do shift; done; \"$@\"");
    ct::os::make_directories(folder_ / "work");
  }

  void program(const std::string& name, const std::string& text) const {
    const std::string path = folder_.write(name, "#!/bin/bash\n" + text + "\n");
    std::filesystem::permissions(path, std::filesystem::perms::owner_exec, std::filesystem::perm_options::add);
  }

  /// Runs a copy of a script in the job's folder, as batch systems do.
  ct::os::ProcessResult run(const std::string& script, std::vector<std::pair<std::string, std::string>> environment) {
    const std::string copy = folder_ / ("spool-" + script);
    std::filesystem::copy_file(tests::source_path("examples/jobs/" + script), copy,
                               std::filesystem::copy_options::overwrite_existing);
    environment.emplace_back("PATH", folder_ / "bin" + ":" + std::getenv("PATH"));
    return ct::os::run_process({"bash", "-c", fmt::format("cd {}/work && bash {}", folder_.path, copy)},
                               {.timeout = 60, .environment = environment});
  }

  const tests::Folder folder_;
};

TEST_F(Jobs, GridEngine) {
  const std::string bundle = folder_ / "bundle", work = folder_ / "work";
  const std::string jobs = bundle + "/share/doc/catenary/examples/jobs";
  for (const bool first : {true, false}) {
    const auto result =
        run("grid_engine.sh", {{"CATENARY", bundle}, {"NHOSTS", "3"}, {"PPN", "2"}, {"JOB_ID", "4711"}});
    EXPECT_TRUE(result.ok()) << result.errors;
    const std::string made =
        fmt::format("mpicxx -std=c++17 -O2 -shared -fPIC {}/share/catenary/mpi/plugin.cpp -o {}/libcatenary_mpi.so\n",
                    bundle, work);
    EXPECT_EQ(result.output,
              (first ? made : "") +
                  fmt::format("mpiexec -npernode 2 -n 6 -x LD_LIBRARY_PATH -x CATENARY -x CATENARY_MPI_PLUGIN bash "
                              "{}/run.sh -o result.4711\n"
                              "rank: -g --communicator flat -o result.4711 ; plugin {}/libcatenary_mpi.so\n",
                              jobs, work));
    EXPECT_TRUE(ct::os::exists(work + "/result.4711/log"));
  }
  const auto result = run("grid_engine.sh", {{"NHOSTS", "3"}, {"JOB_ID", "1"}});
  EXPECT_NE(result.exit_code, 0);
  EXPECT_NE(result.errors.find("the folder that the bundle was unpacked to"), std::string::npos) << result.errors;
}

TEST_F(Jobs, Slurm) {
  const auto result = run("slurm.sh", {{"CATENARY", folder_ / "bundle"},
                                       {"SLURM_JOB_ID", "12"},
                                       {"SLURM_CPUS_PER_TASK", "8"},
                                       {"COMMUNICATOR", "naive"},
                                       {"CATENARY_MPI_PLUGIN", "/bin/sh"}});
  EXPECT_TRUE(result.ok()) << result.errors;
  EXPECT_EQ(result.output, fmt::format("srun --mpi=pmix --cpus-per-task=8 bash "
                                       "{}/bundle/share/doc/catenary/examples/jobs/run.sh -o result.12\n"
                                       "rank: -g --communicator naive -o result.12 ; plugin /bin/sh\n",
                                       folder_.path));
}

}  // namespace
