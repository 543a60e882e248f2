// `catenary launch` with 2 to 8 ranks: cooperation of ranks, and the end of a job after a failure.

#include "catenary/distributed/launch.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <thread>

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

using Clock = std::chrono::steady_clock;

/// Seconds, on a busy machine. Ranks that are not ended sleep for 60.
constexpr double kSoon = 30;

/// Returns the running processes that were started with this mark.
std::vector<std::string> running(const std::string& mark) {
  std::vector<std::string> found;
  for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
    std::ifstream file(entry.path() / "environ");
    const std::string environment((std::istreambuf_iterator<char>(file)), {});
    if (environment.find("CATENARY_TEST_MARK=" + mark) != std::string::npos) found.push_back(entry.path().filename());
  }
  return found;
}

struct Job {
  ct::os::ProcessResult result;
  double seconds;
};

/// Runs a command and expects that no process remains.
Job run(std::vector<std::string> command, std::vector<std::pair<std::string, std::string>> environment = {},
        double timeout = 600) {
  static int count = 0;
  const std::string mark = fmt::format("{}-{}", ct::os::process_id(), ++count);
  environment.emplace_back("CATENARY_TEST_MARK", mark);
  environment.emplace_back("CATENARY_NUM_THREADS", "1");
  environment.emplace_back("GTEST_OUTPUT", "");
  const auto begin = Clock::now();
  Job job{ct::os::run_process(command, {.timeout = timeout, .environment = environment}), 0};
  job.seconds = std::chrono::duration<double>(Clock::now() - begin).count();
  for (int i = 0; i < 200 && !running(mark).empty(); ++i) std::this_thread::sleep_for(std::chrono::milliseconds(10));
  EXPECT_EQ(running(mark), std::vector<std::string>()) << fmt::format("{}", fmt::join(command, " "));
  return job;
}

std::vector<std::string> launch(int ranks, std::vector<std::string> program) {
  std::vector<std::string> command = {tests::build_path("bin/catenary"), "launch", "-n", std::to_string(ranks)};
  command.insert(command.end(), program.begin(), program.end());
  return command;
}
Job ranks(int n, std::vector<std::string> arguments, std::vector<std::pair<std::string, std::string>> environment = {},
          double timeout = 600) {
  arguments.insert(arguments.begin(), tests::build_path("bin/ranks"));
  return run(launch(n, std::move(arguments)), std::move(environment), timeout);
}

std::int64_t count_of(const std::string& text, const std::string& piece) {
  std::int64_t n = 0;
  for (std::size_t at = 0; (at = text.find(piece, at)) != std::string::npos; at += piece.size()) ++n;
  return n;
}

class Ranks : public testing::TestWithParam<int> {};

TEST_P(Ranks, DoTogetherWhatOnRanksTests) {
  const Job job = run(launch(GetParam(), {ct::os::program_path(), "--gtest_filter=OnRanks.*"}));
  EXPECT_TRUE(job.result.ok()) << job.result.output << job.result.errors;
  EXPECT_EQ(count_of(job.result.output, "[  PASSED  ]"), GetParam());
}
INSTANTIATE_TEST_SUITE_P(Launch, Ranks, testing::Values(1, 2, 3, 4, 8));

TEST(Launch, HandsOnWholeLines) {
  const Job job = ranks(3, {"lines"});
  ASSERT_TRUE(job.result.ok()) << job.result.errors;
  std::istringstream lines(job.result.output);
  int whole = 0, rest = 0;
  for (std::string line; std::getline(lines, line);) {
    const bool of_one = line.size() == 200 && line.find_first_not_of(line[0]) == std::string::npos;
    whole += of_one;
    rest += !of_one;
  }
  EXPECT_EQ(whole, 6000);
  EXPECT_EQ(rest, 3);  // infinite loops end now
  EXPECT_EQ(count_of(job.result.output, "no end\n"), 3);
}

TEST(Launch, ARankThatDies) {
  for (const auto& [number, name] : {std::pair{"9", "SIGKILL"}, {"11", "SIGSEGV"}, {"6", "SIGABRT"}}) {
    const Job job = ranks(4, {"signal", "2", number});
    EXPECT_EQ(job.result.exit_code, 128 + std::atoi(number));
    EXPECT_LT(job.seconds, kSoon);
    EXPECT_TRUE(job.result.errors.starts_with("catenary launch: rank 2 of 4 on ")) << job.result.errors;
    EXPECT_TRUE(has(job.result.errors, fmt::format("was ended by {}, in or after allreduce of float64 (10,)", name)))
        << job.result.errors;
    EXPECT_EQ(count_of(job.result.errors, "\n"), 1) << job.result.errors;
  }
}

TEST(Launch, ARankThatIsKilledAtSomeInstant) {
  for (int seed = 0; seed < 6; ++seed) {
    const int rank = seed * 5 % 8;
    const Job job = ranks(8, {"killed", std::to_string(rank), std::to_string(seed)});
    EXPECT_EQ(job.result.exit_code, 137);
    EXPECT_TRUE(has(job.result.errors, fmt::format("catenary launch: rank {} of 8 on ", rank)) &&
                has(job.result.errors, " was ended by SIGKILL, in or after "))
        << job.result.errors;
    EXPECT_EQ(count_of(job.result.errors, "\n"), 1) << job.result.errors;
  }
}

TEST(Launch, ARankWhoseLetterCannotCome) {
  Job job = ranks(2, {"receive", "1", "end"});
  EXPECT_EQ(job.result.exit_code, 1);
  EXPECT_TRUE(has(job.result.errors, ", recv from rank 1: rank 1 has ended")) << job.result.errors;
  job = ranks(2, {"receive", "1", "barrier"});
  EXPECT_EQ(job.result.exit_code, 1);
  EXPECT_TRUE(has(job.result.errors, ", recv from rank 1: rank 1 sends nothing, it is in barrier"))
      << job.result.errors;
}

TEST(Launch, WithoutATimeLimit) {
  const Job job = ranks(2, {"who"}, {{"CATENARY_COLLECTIVE_TIMEOUT", "inf"}});
  EXPECT_TRUE(job.result.ok()) << job.result.errors;
}

TEST(Launch, ARankThatFails) {
  Job job = ranks(3, {"status", "1", "42"});
  EXPECT_EQ(job.result.exit_code, 42);
  EXPECT_TRUE(has(job.result.errors, "rank 1 of 3") && has(job.result.errors, "ended with status 42"))
      << job.result.errors;
  job = ranks(3, {"throw", "0"});
  EXPECT_EQ(job.result.exit_code, 128 + 6);
  EXPECT_TRUE(has(job.result.errors, "thrown by a rank") && has(job.result.errors, "rank 0 of 3")) << job.result.errors;
  EXPECT_LT(job.seconds, kSoon);
  job = ranks(3, {"abort", "2"});
  EXPECT_EQ(job.result.exit_code, 1);
  EXPECT_TRUE(has(job.result.errors, "rank 2 of 3 on ") && has(job.result.errors, ": it has had enough"))
      << job.result.errors;
  // the other ranks compute without looking at the job, so SIGTERM ends them
  job = ranks(2, {"compute", "0"});
  EXPECT_EQ(job.result.exit_code, 3);
  EXPECT_LT(job.seconds, kSoon);
}

TEST(Launch, ARankThatFailsInAnUpdate) {
  for (const char* const where : {"loss", "backward"}) {
    const Job job = ranks(3, {"update", "1", where});
    EXPECT_EQ(job.result.exit_code, 128 + 6);
    EXPECT_TRUE(has(job.result.errors, fmt::format("thrown in {}", where[0] == 'l' ? "the loss" : "backward")) &&
                has(job.result.errors, "rank 1 of 3"))
        << job.result.errors;
    EXPECT_LT(job.seconds, kSoon);
  }
  // a rank that continues with something else
  const Job job = ranks(3, {"update", "1", "caught"});
  EXPECT_NE(job.result.exit_code, 0);
  EXPECT_TRUE(has(job.result.errors, "calls barrier") && has(job.result.errors, "calls mean of gradients in 3 parts") &&
              has(job.result.errors, "an exception ended an earlier update of SGD"))
      << job.result.errors;
  EXPECT_LT(job.seconds, kSoon);
  EXPECT_TRUE(ranks(3, {"update"}).result.ok());
}

TEST(Launch, ARankThatEndsEarly) {
  const Job job = ranks(3, {"status", "1", "0"});
  EXPECT_EQ(job.result.exit_code, 1);
  EXPECT_TRUE(has(job.result.errors, "rank 1 has ended") && has(job.result.errors, "allreduce")) << job.result.errors;
  EXPECT_EQ(count_of(job.result.errors, "\n"), 1) << job.result.errors;
  EXPECT_LT(job.seconds, kSoon);
}

TEST(Launch, ARankThatHangs) {
  const Job job = ranks(3, {"hang", "2"}, {{"CATENARY_COLLECTIVE_TIMEOUT", "0.01"}});
  EXPECT_EQ(job.result.exit_code, 1);
  EXPECT_TRUE(has(job.result.errors, "waited 0.01 minutes for rank 2 (in or after: allreduce of float64 (10,)"))
      << job.result.errors;
  EXPECT_EQ(count_of(job.result.errors, "\n"), 1) << job.result.errors;
  EXPECT_LT(job.seconds, kSoon);
}

/// A rank that does not look at the job gets SIGTERM after 0.3 of the grace time, not earlier.
TEST(Launch, AGraceOfAnotherLength) {
  std::vector<std::string> command = launch(2, {tests::build_path("bin/ranks"), "compute", "1"});
  command.insert(command.begin() + 2, {"--grace", "8"});
  const Job job = run(command);
  EXPECT_EQ(job.result.exit_code, 3);
  EXPECT_GE(job.seconds, 2.4);
  EXPECT_LT(job.seconds, kSoon);
  command[3] = "0";
  EXPECT_TRUE(has(run(command).result.errors, "--grace")) << run(command).result.errors;
}

TEST(Launch, HandsOnSignals) {
  // a signal to the launcher only; the ranks save one after another and exit
  const tests::Folder folder;
  const std::string out = folder / "out";
  const std::string command = fmt::format(
      "{} launch -n 3 {} until-signal > {} & pid=$!; until [ $(grep -c waiting {}) = 3 ]; do sleep 0.05; done; "
      "kill -TERM $pid; wait $pid",
      tests::build_path("bin/catenary"), tests::build_path("bin/ranks"), out, out);
  const Job job = run({"sh", "-c", command});
  EXPECT_EQ(job.result.exit_code, 7) << job.result.errors;
  std::ifstream file(out);
  const std::string output((std::istreambuf_iterator<char>(file)), {});
  for (int r = 0; r < 3; ++r) EXPECT_TRUE(has(output, fmt::format("rank {} saves", r))) << output;
}

TEST(Launch, NothingOutlivesTheLauncher) {
  // after the time limit the launcher gets SIGKILL and cannot clean up
  EXPECT_TRUE(ranks(3, {"loop"}, {}, 1).result.timed_out);
  EXPECT_TRUE(ranks(2, {"no-communicator"}, {}, 1).result.timed_out);
  // ranks below a shell are not children of the launcher; the lifeline ends them
  const std::string program = tests::build_path("bin/ranks");
  EXPECT_TRUE(run(launch(2, {"sh", "-c", program + " loop; true"}), {}, 1).result.timed_out);
  // nor children of ranks that do not know the job
  EXPECT_TRUE(run(launch(2, {"sh", "-c", "sleep 50; true"}), {}, 1).result.timed_out);
  EXPECT_TRUE(run(launch(2, {"sh", "-c", "setsid sh -c 'sleep 50; true' & sleep 50"}), {}, 1).result.timed_out);
  // nor processes that a rank left in a separate session
  EXPECT_TRUE(run(launch(2, {"sh", "-c", "setsid sleep 50 & exit 0"})).result.ok());
}

/// A job that gets SIGTERM, after a shell command that can use the launcher's children $ranks.
Job terminated(const std::string& rank, const std::string& before = "") {
  const std::string command = fmt::format(
      "{} launch -n 2 --grace 0.4 {} & pid=$!; until ranks=$(pgrep -P $pid) && [ $(echo $ranks | wc -w) -ge 2 ]; do "
      "sleep 0.05; done; sleep 1; {} kill -TERM $pid; wait $pid",
      tests::build_path("bin/catenary"), rank, before);
  return run({"sh", "-c", command});
}

TEST(Launch, RanksThatDoNotEndAfterASignalAreKilled) {
  Job job = terminated("sh -c 'trap \"\" TERM; sleep 60; sleep 60'");
  EXPECT_EQ(job.result.exit_code, 137);
  EXPECT_LT(job.seconds, kSoon);
  EXPECT_EQ(job.result.errors,
            "catenary launch: 2 of 2 ranks did not end within 2 seconds of SIGTERM and are killed; they have 5 times "
            "--grace, which is 0.4\n");
  // a stopped process is continued so that it handles the signal
  job = terminated("sleep 60", "kill -STOP $(echo $ranks | cut -d' ' -f1);");
  EXPECT_EQ(job.result.exit_code, 143);
  EXPECT_LT(job.seconds, kSoon);
  EXPECT_EQ(job.result.errors, "");
}

TEST(Launch, HandsOnWhatHasNoLinesWithoutKeepingIt) {
  // 200 MB of output, while the launcher may use 256 MB of address space
  const Job job = run({"sh", "-c",
                       fmt::format("ulimit -v 262144; exec {} launch -n 2 sh -c \"head -c 100000000 /dev/zero | tr "
                                   "'\\0' a >&2\"",
                                   tests::build_path("bin/catenary"))});
  EXPECT_TRUE(job.result.ok()) << job.result.errors.substr(0, 200);
  EXPECT_GE(job.result.errors.size(), std::size_t{16} << 20);
}

std::string without_beginning(const std::string& text) {
  std::string rest;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);)
    if (!has(line, "begins")) rest += line + "\n";
  return rest;
}

TEST(Launch, AJobThatWasKilledGoesOnBitForBit) {
  const tests::Folder folder;
  Job job = ranks(3, {"train", "-1", folder / "whole"});
  ASSERT_TRUE(job.result.ok()) << job.result.errors;
  const std::string weights = without_beginning(sorted(job.result.output));
  EXPECT_TRUE(weights.starts_with("rank 0 has ")) << weights;
  for (int rank = 0; rank < 3; ++rank) {
    const std::string out = folder / fmt::format("killed-{}", rank);
    EXPECT_EQ(ranks(3, {"train", std::to_string(rank), out}).result.exit_code, 137);
    // the newest set is damaged on one rank, so all load the previous one
    if (rank == 1) ct::os::write_file(out + "/job.of.tests.2.15", std::string_view("nothing"));
    job = ranks(3, {"train", std::to_string(rank), out});
    EXPECT_TRUE(job.result.ok()) << job.result.errors;
    const std::string output = sorted(job.result.output);
    EXPECT_EQ(count_of(output, rank == 1 ? "begins at 10\n" : "begins at 15\n"), 3) << output;
    EXPECT_EQ(without_beginning(output), weights);
    // two sets are kept
    EXPECT_EQ(ct::os::list_directory(out),
              (std::vector<std::string>{"job.of.tests.0.25", "job.of.tests.0.30", "job.of.tests.1.25",
                                        "job.of.tests.1.30", "job.of.tests.2.25", "job.of.tests.2.30"}));
  }
  // a signal to one rank: all ranks learn of it in the next exchange and save after one iteration
  const std::string out = folder / "interrupted";
  job = ranks(3, {"train-sigterm", "1", out});
  EXPECT_EQ(job.result.exit_code, 5) << job.result.errors;
  EXPECT_EQ(count_of(job.result.output, "stops at 18\n"), 3) << job.result.output;
  job = ranks(3, {"train", "-1", out});
  EXPECT_EQ(count_of(job.result.output, "begins at 18\n"), 3) << job.result.output;
  EXPECT_EQ(without_beginning(sorted(job.result.output)), weights);
}

TEST(Launch, ASignalToOneRankWhereGradientsAreExchangedDuringBackward) {
  const tests::Folder folder;
  const Job job = ranks(3, {"train-sigterm-during-backward", "1", folder / "out"});
  EXPECT_EQ(job.result.exit_code, 5) << job.result.errors;
  EXPECT_EQ(count_of(job.result.output, "stops at 18\n"), 3) << job.result.output;
}

TEST(Launch, ASetStaysUntilTheNextIsComplete) {
  const tests::Folder folder;
  // killed while it saves the second set, after the other ranks have saved
  Job job = ranks(3, {"train-die-in-save", "2", folder / "out"});
  EXPECT_EQ(job.result.exit_code, 137) << job.result.errors;
  for (const char* const rank : {"0", "1"})
    EXPECT_TRUE(ct::os::exists(folder / fmt::format("out/job.of.tests.{}.10", rank)));
  EXPECT_FALSE(ct::os::exists(folder / "out/job.of.tests.2.10"));
  job = ranks(3, {"train", "-1", folder / "out"});
  EXPECT_TRUE(job.result.ok()) << job.result.errors;
  EXPECT_EQ(count_of(job.result.output, "begins at 5\n"), 3) << job.result.output << job.result.errors;
}

TEST(Launch, ASetOfAnotherNumberOfRanks) {
  const tests::Folder folder;
  ASSERT_TRUE(ranks(3, {"train", "-1", folder / "out"}).result.ok());
  for (const int n : {2, 4}) {
    const Job job = ranks(n, {"train", "-1", folder / "out"});
    EXPECT_NE(job.result.exit_code, 0);
    EXPECT_TRUE(has(
        job.result.errors,
        fmt::format("maybe_load: the snapshots in {} were made by 3 ranks, and there are {} now", folder / "out", n)))
        << job.result.errors;
  }
}

TEST(Launch, RanksWithOtherRates) {
  const tests::Folder folder;
  Job job = ranks(3, {"train-other-rate", "2", folder / "first"});
  EXPECT_EQ(job.result.exit_code, 1);
  // all ranks have the error, which is printed once
  EXPECT_EQ(count_of(job.result.errors,
                     "ranks: ranks would train apart: the first difference between their optimizers: rank 0 has "
                     "Adam: alpha 0.001 and rank 2 has Adam: alpha 0.01\n"),
            1)
      << job.result.errors;
  job = ranks(3, {"train-rate-later", "1", folder / "later"});
  EXPECT_EQ(job.result.exit_code, 1);
  EXPECT_TRUE(has(job.result.errors, " for Adam (alpha 0.001, settings ") &&
              has(job.result.errors, " for Adam (alpha 0.01, settings "))
      << job.result.errors;
}

TEST(Launch, ErrorsAreSaidOnceAndLogsAndPrefixesTellWhoseTheyAre) {
  const tests::Folder folder;
  const std::string rank = "r=${CATENARY_LAUNCH%%:*}; ";
  const std::string program = rank + "echo out $r; echo all >&2; echo all >&2; echo only $r >&2";
  const auto with = [&](std::vector<std::string> options) {
    options.insert(options.begin(), {tests::build_path("bin/catenary"), "launch", "-n", "3"});
    options.insert(options.end(), {"--", "sh", "-c", program});
    return run(options).result;
  };
  ct::os::ProcessResult result = with({});
  EXPECT_EQ(sorted(result.output), "out 0\nout 1\nout 2\n");
  EXPECT_EQ(sorted(result.errors), "all\nall\nonly 0\nonly 1\nonly 2\n");
  result = with({"--prefix", "--log-dir", folder / "logs/here"});
  EXPECT_EQ(sorted(result.output), "[0] out 0\n[1] out 1\n[2] out 2\n");
  EXPECT_EQ(count_of(result.errors, "] all\n"), 6) << result.errors;
  for (const char* const r : {"0", "1", "2"}) {
    std::ifstream file(folder / fmt::format("logs/here/rank-{}.log", r));
    const std::string text((std::istreambuf_iterator<char>(file)), {});
    EXPECT_EQ(sorted(text), fmt::format("all\nall\nonly {0}\nout {0}\n", r));
  }
  result = run({tests::build_path("bin/catenary"), "launch", "-n", "2", "--log-dir", "/proc/none", "true"}).result;
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_TRUE(has(result.errors, "/proc/none")) << result.errors;
}

TEST(Launch, ASignalToAllRanks) {
  // each rank gets the signal separately, as from a batch system: all save after one iteration
  const tests::Folder folder;
  const Job job = ranks(3, {"train-sigterm", "-2", folder / "out"});
  EXPECT_EQ(job.result.exit_code, 5) << job.result.errors;
  EXPECT_TRUE(has(job.result.output, "stops at 18\n")) << job.result.output;
  for (int rank = 0; rank < 3; ++rank)
    EXPECT_TRUE(ct::os::exists(folder / fmt::format("out/job.of.tests.{}.18", rank))) << job.result.errors;
}

TEST(Launch, ARankWhoseExtensionOrHookThrows) {
  const tests::Folder folder;
  for (const auto& [event, says] :
       {std::pair("train-throw-in-extension", "an extension's error"), {"train-throw-in-hook", "a hook's error"}}) {
    const Job job = ranks(3, {event, "1", folder / event});
    EXPECT_EQ(job.result.exit_code, 1);
    EXPECT_LT(job.seconds, kSoon);
    EXPECT_TRUE(has(job.result.errors, fmt::format("Exception in main training loop: {}\n", says)) &&
                has(job.result.errors, fmt::format("ranks: {}\n", says)))
        << job.result.errors;
    // the message of that rank only, and the launcher names the rank
    EXPECT_EQ(count_of(job.result.errors, says), 2) << job.result.errors;
    EXPECT_EQ(count_of(job.result.errors, "catenary launch: rank 1 of 3 on "), 1) << job.result.errors;
    EXPECT_TRUE(has(job.result.errors, " ended with status 1, in or after ")) << job.result.errors;
  }
}

TEST(Launch, ARankWithOtherParametersOrLessData) {
  const tests::Folder folder;
  Job job = ranks(3, {"train-other-parameters", "2", folder / "parameters"});
  EXPECT_EQ(job.result.exit_code, 1);
  EXPECT_LT(job.seconds, kSoon);
  EXPECT_TRUE(has(job.result.errors,
                  "ranks: bcast_data: rank 0 has 4 parameters and rank 2 has 4; the first difference: "
                  "/predictor/l1/W float32 (8, 4) and /predictor/l1/W float32 (9, 4)\n"))
      << job.result.errors;
  job = ranks(3, {"train-less-data", "1", folder / "data"});
  EXPECT_EQ(job.result.exit_code, 1);
  EXPECT_LT(job.seconds, kSoon);
  EXPECT_TRUE(
      has(job.result.errors,
          "ranks: ranks would train unequally: rank 0 has 40 examples in batches of 6 for 4 epochs and rank 1 "
          "has 29 examples in batches of 6 for 4 epochs: epoch 1 ends after iteration 7 and after iteration 5;"))
      << job.result.errors;
  EXPECT_FALSE(ct::os::exists(folder / "data/job.of.tests.0.5"));
}

TEST(Launch, ReferencesOfChainerMN) {
  for (const int n : {2, 4}) {
    const Job job =
        run(launch(n, {tests::build_path("bin/reference-check"), tests::source_path("tests/data/chainermn")}));
    EXPECT_TRUE(job.result.ok()) << job.result.output << job.result.errors;
    EXPECT_TRUE(has(job.result.output, fmt::format("{} passed, 0 failed", 8 * n))) << job.result.output;
  }
}

TEST(Launch, CommandLine) {
  const auto errors = [](std::vector<std::string> arguments, int status) {
    arguments.insert(arguments.begin(), {tests::build_path("bin/catenary"), "launch"});
    const Job job = run(arguments);
    EXPECT_EQ(job.result.exit_code, status) << job.result.errors;
    return job.result.errors + job.result.output;
  };
  EXPECT_TRUE(has(errors({"-n", "2", "/nowhere/program"}, 1), "/nowhere/program: cannot start the program"));
  EXPECT_TRUE(has(errors({"-n", "2"}, 1), "no program"));
  EXPECT_TRUE(has(errors({"-n", "0", "true"}, 2), "--ranks"));
  EXPECT_TRUE(has(errors({"true"}, 2), "--ranks"));
  EXPECT_EQ(sorted(errors({"-n", "2", "--", "echo", "-n", "x"}, 0)), "x\nx\n");
  EXPECT_EQ(errors({"-n", "1", "echo", "a", "--", "b"}, 0), "a -- b\n");
  EXPECT_EQ(errors({"-n", "1", "--", "echo", "--", "b"}, 0), "-- b\n");
  EXPECT_TRUE(has(errors({"-n", "2", "--"}, 1), "no program"));
  EXPECT_THROW(ct::distributed::launch({"true"}, {.ranks = 0}), ct::ValueError);
  EXPECT_THROW(ct::distributed::launch({}, {.ranks = 1}), ct::ValueError);
  const Job job = run({tests::build_path("bin/ranks"), "status"}, {{"CATENARY_LAUNCH", "0:55:56"}});
  EXPECT_TRUE(has(job.result.errors, "CATENARY_LAUNCH=0:55:56 says that this process is rank 0")) << job.result.errors;
}

TEST(Launch, TrainMnist) {
  const tests::Folder folder;
  const Job job = run(launch(4, {tests::build_path("bin/train_mnist_mn"), "--communicator", "naive", "-e", "2", "-u",
                                 "100", "-b", "25", "-n", "12000", "--seed", "1", "-o", folder / "out"}),
                      {{"CATENARY_DATA", tests::source_path("data")}});
  ASSERT_TRUE(job.result.ok()) << job.result.errors;
  const std::string line(42, '=');
  EXPECT_TRUE(job.result.output.starts_with(
      line +
      "\nNum process (COMM_WORLD): 4\nUsing naive communicator\nNum unit: 100\nNum Minibatch-size: 25\n"
      "Num epoch: 2\n" +
      line +
      "\nepoch       main/loss   validation/main/loss  main/accuracy  validation/main/accuracy  elapsed_time\n1 "))
      << job.result.output;
  const auto log = nlohmann::json::parse(std::ifstream(folder / "out/log"));
  EXPECT_GT(log.at(1).at("validation/main/accuracy").get<double>(), 0.87);
  EXPECT_EQ(log.at(1).at("iteration").get<int>(), 240);
}

TEST(Launch, TrainMnistGoesOnFromItsCheckpoints) {
  const tests::Folder folder;
  const std::string catenary = tests::build_path("bin/catenary"), example = tests::build_path("bin/train_mnist_mn");
  const std::vector<std::string> options = {"--communicator", "naive", "-u", "10", "-b", "25", "-n", "600",
                                            "--seed",         "1"};
  const auto train = [&](int n, const std::string& out, std::vector<std::string> more) {
    more.insert(more.begin(), {example, "-o", folder / out});
    more.insert(more.end(), options.begin(), options.end());
    return run(launch(n, more), {{"CATENARY_DATA", tests::source_path("data")}}).result;
  };
  ct::os::ProcessResult result = train(2, "whole", {"-e", "2"});
  ASSERT_TRUE(result.ok()) << result.errors;
  result = train(2, "begun", {"-e", "1"});
  ASSERT_TRUE(result.ok()) << result.errors;
  const std::vector<std::string> files = ct::os::list_directory(folder / "begun");
  for (const char* const name : {"mnist.0.12", "mnist.1.12", "model.npz", "log"})
    EXPECT_EQ(std::count(files.begin(), files.end(), name), 1) << name;
  result = train(2, "resumed", {"-e", "2", "--resume", folder / "begun"});
  ASSERT_TRUE(result.ok()) << result.errors;
  const auto weights = [&](const std::string& out) { return ct::os::read_file(folder / (out + "/model.npz")); };
  EXPECT_EQ(weights("resumed"), weights("whole"));
  EXPECT_NE(weights("begun"), weights("whole"));

  result = train(3, "three", {"-e", "2", "--resume", folder / "begun"});
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_EQ(
      result.errors.rfind(fmt::format("train_mnist_mn: maybe_load: the snapshots in {} were made by 2 ranks, and there "
                                      "are 3 now: start 2, or give another folder\n",
                                      folder / "begun"),
                          0),
      0U)
      << result.errors;
  result = train(2, "none", {"-e", "2", "-r", folder / "nothing"});
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_TRUE(has(result.errors, "contains no complete set of checkpoints")) << result.errors;

  // SIGTERM to one rank: following the printed advice works
  const std::string stopped = folder / "stopped";
  const std::string command = fmt::format(
      "{} launch -n 2 -- sh -c 'echo $$ >{}/pid.${{CATENARY_LAUNCH%%:*}}; exec \"$@\"' sh {} -e 100000 -o {} {} & "
      "until [ -e {}/mnist.1.12 ]; do sleep 0.01; done; kill -TERM $(cat {}/pid.1); wait $!",
      catenary, folder.path, example, stopped, fmt::join(options, " "), stopped, folder.path);
  result = run({"sh", "-c", command}, {{"CATENARY_DATA", tests::source_path("data")}}).result;
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_EQ(count_of(result.errors, "; resume with --resume " + stopped + "\n"), 1) << result.errors;
  result = train(2, "stopped", {"-e", "1", "--resume", stopped});
  EXPECT_TRUE(result.ok()) << result.errors;
}

}  // namespace
