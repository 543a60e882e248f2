// A rank that behaves as its first argument says, for launch_test.cpp and scripts/kill_ranks.

#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>

#include "catenary/catenary.h"
#include "catenary/core/os/signals.h"
#include "catenary/core/sha256.h"
#include "catenary/distributed/launch.h"
#include "catenary/distributed/transport.h"

namespace ct = catenary;
namespace D = ct::distributed;

namespace {

void sleep(double seconds) { std::this_thread::sleep_for(std::chrono::duration<double>(seconds)); }

/// Kills this process at a random time within milliseconds.
void kill_soon(std::uint64_t seed) {
  std::thread([seed] {
    std::this_thread::sleep_for(std::chrono::microseconds(seed * 2654435761U % 20000));
    ::raise(SIGKILL);
  }).detach();
}

/// Runs collectives of all kinds and sizes forever.
void loop(const D::Communicator& comm, const std::string& which) {
  const bool all = which == "all";
  for (int i = 0;; ++i) {
    const ct::Array x = ct::full({i % 7 ? 1000 : 1 << 20}, 1.0f);
    if (all || which == "allreduce") comm.allreduce(x);
    if (all || which == "bcast") comm.bcast(x, i % comm.size());
    if (all || which == "gather") comm.gather(x, i % comm.size());
    if (all || which == "allgather") comm.allgather(x);
    if (all || which == "scatter") comm.scatter(std::vector<ct::Array>(static_cast<std::size_t>(comm.size()), x));
    if (all || which == "alltoall") comm.alltoall(std::vector<ct::Array>(static_cast<std::size_t>(comm.size()), x));
    if (all || which == "barrier") comm.barrier();
    if (all || which == "send") {
      if (comm.rank() > 0) comm.send(x, 0);
      for (int r = 1; comm.rank() == 0 && r < comm.size(); ++r) comm.recv(r);
    }
    if (i == 0) {
      std::printf("rank %d is %d\n", comm.rank(), ::getpid());
      std::fflush(stdout);
    }
  }
}

struct Net : ct::Chain {
  ct::links::Linear l1, l2{3};
  explicit Net(int units) : l1(units) {}
  CT_LINKS(l1, l2)
  ct::Variable operator()(const ct::Variable& x) { return l2(ct::functions::dropout(ct::functions::relu(l1(x)))); }
};

/// Calls a function in every update.
class Hook final : public ct::OptimizerHook {
 public:
  explicit Hook(std::function<void()> f) : f_(std::move(f)) {}
  std::string name() const override { return "Hook"; }
  void operator()(const ct::Optimizer&) override { f_(); }

 private:
  std::function<void()> f_;
};

/// Is killed while it saves, after all other ranks have saved and wait.
class DiesInSave final : public ct::training::Extension {
 public:
  DiesInSave(const D::Communicator& comm, const ct::training::Trainer& trainer) : comm_(comm), trainer_(&trainer) {}
  std::string default_name() const override { return "DiesInSave"; }
  void operator()(ct::training::Trainer&) override {}
  void serialize(ct::Serializer& serializer) override {
    if (serializer.loading() || trainer_->updater()->iteration() < 10) return;
    for (int r = 0; r < comm_.size(); ++r)
      while (r != comm_.rank() && !D::connect()->noted(r).starts_with("barrier")) sleep(0.001);
    ::raise(SIGKILL);
  }

 private:
  D::Communicator comm_;
  const ct::training::Trainer* trainer_;
};

/// Runs 30 iterations with a checkpoint every 5. In iteration 17, unless resumed from a checkpoint, rank `which` (all
/// ranks for -2) does `event`, or differs from the start. Finally prints the weights.
int train(const D::Communicator& comm, int which, const std::string& event, const std::string& folder) {
  namespace T = ct::training;
  const bool chosen = comm.rank() == which || which == -2;
  ct::random::seed(static_cast<std::uint64_t>(10 + comm.rank()));
  const auto model = ct::links::Classifier(Net(chosen && event == "other-parameters" ? 9 : 8));
  const bool during_backward = event == "sigterm-during-backward";
  const auto optimizer = D::create_multi_node_optimizer(
      ct::optimizers::Adam(), during_backward ? D::create_communicator("flat") : comm, {.overlap = during_backward});
  optimizer.setup(model);
  if (chosen && event == "other-rate") optimizer.hyperparam().set("alpha", 0.01);
  const std::int64_t n = chosen && event == "less-data" ? 29 : 40;
  const ct::datasets::TupleDataset examples(ct::random::standard_normal({n, 4}, {.dtype = ct::Dtype::float32}),
                                            ct::random::randint(0, 3, ct::Shape{n}, {.dtype = ct::Dtype::int32}));
  const T::Trainer trainer(T::StandardUpdater(ct::iterators::SerialIterator(examples, 6), optimizer),
                           event == "less-data" ? T::Trigger(4, "epoch") : T::Trigger(30, "iteration"), folder);
  const bool dies_in_save = event == "die-in-save";
  if (dies_in_save && chosen) trainer.extend(std::make_shared<DiesInSave>(comm, trainer), {.name = "dies"});
  auto checkpointer = D::create_multi_node_checkpointer("job.of.tests", comm, {.n_retains = dies_in_save ? 1 : 2});
  const bool loaded = checkpointer.maybe_load(trainer);
  std::printf("rank %d begins at %d\n", comm.rank(), static_cast<int>(trainer.updater()->iteration()));
  trainer.extend(checkpointer, {.trigger = T::Trigger(5, "iteration")});
  trainer.extend(
      [&](T::Trainer& t) {
        if (loaded || !chosen || t.updater()->iteration() != 17) return;
        if (event == "sigkill") ::raise(SIGKILL);
        if (event.starts_with("sigterm")) ::raise(SIGTERM);
        if (event == "rate-later") optimizer.hyperparam().set("alpha", 0.01);
        if (event == "throw-in-extension") throw ct::ValueError("an extension's error");
      },
      {.name = "event", .trigger = T::Trigger(1, "iteration")});
  if (event == "throw-in-hook")
    optimizer.add_hook(Hook([&] {
      if (chosen && optimizer.t() == 17) throw ct::ValueError("a hook's error");
    }));
  try {
    trainer.run();
  } catch (const T::Interrupted&) {
    std::printf("rank %d stops at %d\n", comm.rank(), static_cast<int>(trainer.updater()->iteration()));
    std::fflush(stdout);
    comm.barrier();  // the launcher ends all ranks as soon as one has failed
    return 5;
  } catch (const ct::Error& error) {  // as in a program's main
    std::fprintf(stderr, "ranks: %s\n", error.what());
    return 1;
  }
  D::Packer packer;
  for (const auto& [name, p] : model.namedparams()) packer(p.array());
  std::printf("rank %d has %s\n", comm.rank(), ct::sha256(packer.bytes()).c_str());
  return 0;
}

/// Updates a model whose gradients are exchanged in the background. In the third update, rank `which` throws in the
/// loss or (where) in backward. If the exception is caught, it continues with something else.
void fail_in_update(const D::Communicator& comm, bool chosen, const std::string& where) {
  struct Throws : ct::FunctionHook {
    std::string name() const override { return "Throws"; }
    void backward_preprocess(ct::FunctionNode&, ct::Inputs, ct::Grads) override {
      if (++calls == 3) throw std::runtime_error("thrown in backward");
    }
    int calls = 0;
  };
  const ct::links::Linear first(600, 600), second(600, 600), third(600, 3);
  const ct::Sequential model(first, second, third);
  const auto optimizer = D::create_multi_node_optimizer(ct::optimizers::SGD(0.01), comm, {.overlap = true});
  optimizer.setup(model);
  const ct::Variable x(ct::ones({2, 600}, ct::Dtype::float32));
  for (int i = 0; i < 5; ++i) {
    const bool now = chosen && i == 2;
    Throws hook;
    std::optional<ct::HookScope> scope;
    if (now && where == "backward") scope.emplace(hook);
    try {
      optimizer.update([&] {
        if (now && where != "backward") throw std::runtime_error("thrown in the loss");
        return ct::functions::sum(ct::Model(model)(x));
      });
    } catch (const std::runtime_error& error) {
      if (where != "caught") throw;
      std::fprintf(stderr, "%s\n", error.what());
      if (!now) continue;  // the next update reports that it is impossible
      try {
        comm.barrier();
      } catch (const ct::ValueError& different) {
        std::fprintf(stderr, "%s\n", different.what());
      }
      comm.recv(0);  // rank 0 never sends
    }
  }
}

/// Sends an object of more than 2^31 bytes to rank 1 and to all. Run it by hand, since it takes 7 GB per rank:
///   catenary launch -n 2 build/release/bin/ranks huge
int huge(const D::Communicator& comm) {
  const auto element = [](std::size_t i) { return static_cast<std::uint8_t>(i * 2654435761U >> 7); };
  std::vector<std::uint8_t> values((std::size_t{1} << 31) + 12345);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = element(i);
  const auto is_whole = [&](const std::vector<std::uint8_t>& got, const char* function) {
    bool same = got.size() == values.size();
    for (std::size_t i = 0; same && i < got.size(); ++i) same = got[i] == element(i);
    std::printf("rank %d, %s: %zu bytes, %s\n", comm.rank(), function, got.size(), same ? "as sent" : "WRONG");
    return same;
  };
  bool fine = true;
  if (comm.rank() == 0) comm.send_obj(values, 1);
  if (comm.rank() == 1) fine = is_whole(comm.recv_obj<std::vector<std::uint8_t>>(0), "send_obj");
  const std::vector<std::uint8_t> given = comm.rank() == 0 ? std::move(values) : std::vector<std::uint8_t>();
  values.resize((std::size_t{1} << 31) + 12345);
  fine = is_whole(comm.bcast_obj(given), "bcast_obj") && fine;
  return fine ? 0 : 1;
}

int run(const std::string& what, int which, const std::string& how) {
  if (what == "lines") {  // without a communicator, since any program can be launched
    const int rank = D::LaunchedRank::parse(std::getenv("CATENARY_LAUNCH")).rank;
    for (int i = 0; i < 2000; ++i) std::printf("%s\n", std::string(200, static_cast<char>('a' + rank)).c_str());
    std::printf("no end");
    return 0;
  }
  if (what == "no-communicator") {
    sleep(60);
    return 0;
  }
  const D::Communicator comm = D::create_communicator("naive");
  const bool chosen = comm.rank() == which;
  if (what == "huge") return huge(comm);
  if (what == "killed" && chosen) kill_soon(std::strtoull(how.c_str(), nullptr, 10));
  if (what == "killed") loop(comm, "all");
  if (what == "loop") loop(comm, how);
  if (what == "receive") {  // from a rank that exits or does something else
    if (!chosen) comm.recv(which);
    if (chosen && how == "barrier") comm.barrier();
    return 0;
  }
  if (what == "who") {
    std::printf("rank %d is %d of %d on host %d of %d, exchanges %s backward\n", comm.rank(), comm.intra_rank(),
                comm.intra_size(), comm.inter_rank(), comm.inter_size(),
                D::create_communicator("flat").overlaps() ? "during" : "after");
    return 0;
  }
  if (what == "compute-on") {
    const ct::DeviceScope scope(ct::get_device(how));
    std::printf("rank %d has %g\n", comm.rank(), ct::sum(ct::full({10}, 1.5f) * 2.0f).item<double>());
    return 0;
  }
  if (what == "update") {
    fail_in_update(D::create_communicator("flat"), chosen, how);
    return 0;
  }
  if (what == "train") return train(comm, which, "sigkill", how);
  if (what.starts_with("train-")) return train(comm, which, what.substr(6), how);
  comm.allreduce(ct::full({10}, 1.0f));
  if (what == "signal" && chosen) {
    ::signal(std::atoi(how.c_str()), SIG_DFL);  // a sanitizer installs a handler
    ::raise(std::atoi(how.c_str()));
  }
  if (what == "status" && chosen) return std::atoi(how.c_str());
  if (what == "throw" && chosen) throw std::runtime_error("thrown by a rank");
  if (what == "abort" && chosen) D::abort_job("it has had enough");
  if (what == "abort") sleep(60);
  if (what == "hang" && chosen) sleep(60);
  if (what == "compute" && !chosen) sleep(60);  // does not look at the job while another rank fails
  if (what == "compute") return 3;
  if (what == "until-signal") {
    const ct::os::ScopedSignals signals;
    std::printf("waiting\n");
    std::fflush(stdout);
    while (!signals.received()) sleep(0.01);
    sleep(0.05 * comm.rank());
    std::printf("rank %d saves\n", comm.rank());
    return 7;
  }
  for (int i = 0; i < 3; ++i) comm.allreduce(ct::full({10}, 1.0f));
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  return run(argc > 1 ? argv[1] : "", argc > 2 ? std::atoi(argv[2]) : -1, argc > 3 ? argv[3] : "all");
}
