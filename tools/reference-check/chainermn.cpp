// Vectors of ChainerMN: DIR/ranks_<n>.npz, checked by n ranks together (catenary launch -n 2 reference-check DIR).

#include <fmt/format.h>

#include <cmath>
#include <functional>
#include <numeric>

#include "catenary/catenary.h"
#include "catenary/core/os/file.h"
#include "catenary/io/npz.h"
#include "report.h"

namespace reference {

namespace {

namespace ct = catenary;
namespace D = ct::distributed;
namespace F = ct::functions;
namespace L = ct::links;

constexpr double kClose = 1e-5;

struct TwoLayers : ct::ChainList {
  TwoLayers() : ChainList(L::Linear(6, 5), L::Linear(5, 3)) {}
  ct::Variable operator()(const ct::Variable& x) { return (*this)[1](F::relu((*this)[0](x))); }
};

class Ranks {
 public:
  Ranks(const D::Communicator& comm, const std::string& path) : comm_(comm), file_(path) {}

  Report run() {
    check("collectives", [&] { collectives(); });
    check("scatter_index, scatter_dataset", [&] { scattering(); });
    for (const bool full : {false, true}) {
      check(full ? "SGD, a full first step" : "SGD", [&] { training(ct::optimizers::SGD(), "SGD", full); });
      check(full ? "Adam, a full first step" : "Adam", [&] { training(ct::optimizers::Adam(), "Adam", full); });
    }
    check("MultiNodeBatchNormalization", [&] { normalization(); });
    check("create_multi_node_evaluator", [&] { evaluation(); });
    Report report;
    std::vector<std::array<std::string, 2>> mine;
    for (const auto& line : lines_) mine.push_back(line);
    for (const auto& of : comm_.gather_obj(mine)) {
      const int rank = rank_++;
      for (const auto& [what, detail] : of)
        report.lines.push_back(
            {fmt::format("rank {}", rank), what, detail.empty() ? Verdict::passed : Verdict::failed, detail});
    }
    return report;
  }

 private:
  void check(const std::string& what, const std::function<void()>& f) {
    detail_.clear();
    try {
      f();
    } catch (const std::exception& error) {
      detail_ = error.what();
      // print now, because the other ranks may be waiting for this one
      fmt::print(stderr, "rank {}: {}: {}\n", comm_.rank(), what, detail_);
    }
    lines_.push_back({what, detail_});
  }

  std::string own(const std::string& name) const { return fmt::format("{}_{}", name, comm_.rank()); }
  ct::Array array(const std::string& name) const { return ct::from_host(file_.read_array(name)); }

  void expect(const std::string& name, const ct::Array& got, double tolerance = 0) {
    const ct::Array expected = array(name);
    if (!detail_.empty()) return;
    if (got.shape() != expected.shape()) {
      detail_ = fmt::format("{}: shape {}, expected {}", name, got.shape().str(), expected.shape().str());
      return;
    }
    const std::vector<double> a = got.to_vector<double>(), b = expected.to_vector<double>();
    for (std::size_t i = 0; i < a.size(); ++i)
      // gradients that were never cleared are NaN in both programs
      if (!(std::abs(a[i] - b[i]) <= tolerance * (1 + std::abs(b[i]))) && !(std::isnan(a[i]) && std::isnan(b[i])) &&
          detail_.empty())
        detail_ = fmt::format("{}: element {} is {}, expected {}", name, i, a[i], b[i]);
  }

  void collectives() {
    const int n = comm_.size();
    const ct::Array x = array(own("x"));
    std::vector<ct::Array> parts;
    for (int i = 0; i < n; ++i) parts.push_back(x(ct::slice(), ct::slice(2 * i, 2 * i + 2)));
    expect(own("allreduce"), comm_.allreduce(x), 1e-6);
    expect(own("bcast"), comm_.bcast(comm_.rank() == 1 ? x : ct::Array(), 1));
    expect(own("allgather"), ct::stack(comm_.allgather(x)));
    const std::vector<ct::Array> gathered = comm_.gather(x);
    if (comm_.rank() == 0) expect("gather_0", ct::stack(gathered));
    expect(own("scatter"), comm_.scatter(comm_.rank() == 0 ? parts : std::vector<ct::Array>()));
    expect(own("alltoall"), ct::stack(comm_.alltoall(parts)));
  }

  void scattering() {
    for (const std::int64_t total : {10, 11, 3}) {
      for (const bool equal : {true, false}) {
        const auto [begin, end] = D::scatter_index(total, comm_, {.force_equal_length = equal});
        const std::int64_t range[] = {begin, end};
        expect(own(fmt::format("index_{}_{}", total, equal ? 1 : 0)),
               ct::Array::from_host(range, {2}, ct::Dtype::int64));
      }
      std::vector<std::int64_t> numbers(static_cast<std::size_t>(total)), mine;
      std::iota(numbers.begin(), numbers.end(), 0);
      const ct::Dataset part = D::scatter_dataset(comm_.rank() == 0 ? ct::Dataset(numbers) : ct::Dataset(), comm_);
      for (std::int64_t i = 0; i < part.size(); ++i) mine.push_back(part[i].values[0].item<std::int64_t>());
      expect(own(fmt::format("scatter_{}", total)),
             ct::Array::from_host(mine.data(), {static_cast<std::int64_t>(mine.size())}, ct::Dtype::int64));
    }
  }

  /// Rank 0 starts with the file's weights, the others with different ones.
  template <class Optimizer>
  void training(const Optimizer& plain, const std::string& name, bool full) {
    TwoLayers net;
    if (comm_.rank() == 0)
      for (const auto& [path, p] : net.namedparams()) ct::copyto(p.array(), array("w" + path));
    const Optimizer optimizer = D::create_multi_node_optimizer(plain, comm_, {.first_update_broadcasts_only = !full});
    optimizer.setup(net);
    const ct::Array data = array(own("data")), label = array(own("label"));
    std::vector<double> losses;
    for (int k = 0; k < 20; ++k) {
      const auto batch = ct::slice(5 * (k % 6), 5 * (k % 6) + 5);
      ct::Variable loss;
      optimizer.update([&] { return loss = F::softmax_cross_entropy(net(data(batch)), label(batch)); });
      losses.push_back(loss.array().template item<double>());
    }
    const std::string which = full ? "full_" + name : name;
    for (const auto& [path, p] : net.namedparams()) expect(which + "_f" + path, p.array(), kClose);
    const std::vector<double> expected = array(full ? which + "_loss" : own(name + "_loss")).to_vector<double>();
    for (std::size_t k = 0; k < losses.size(); ++k) {
      const double loss = full ? comm_.allreduce_obj(losses[k]) / comm_.size() : losses[k];
      // without a full first step, each rank's first loss depends on its own weights
      const bool known = full || k > 0 || comm_.rank() == 0;
      if (known && !(std::abs(loss - expected.at(k)) <= kClose) && detail_.empty())
        detail_ = fmt::format("loss {} is {}, expected {}", k, loss, expected[k]);
    }
  }

  void normalization() {
    const D::MultiNodeBatchNormalization link(4, comm_);
    ct::Variable x(array(own("bx")), true);
    const ct::Variable y = link(x);
    y.set_grad(array(own("bgy")));
    y.backward();
    expect(own("by"), y.array(), kClose);
    expect(own("bgx"), x.grad(), kClose);
    expect(own("bggamma"), link.gamma.grad(), kClose);
    expect(own("bgbeta"), link.beta.grad(), kClose);
    expect(own("avg_mean"), link.avg_mean.array(), kClose);
    expect(own("avg_var"), link.avg_var.array(), kClose);
  }

  struct Value : ct::Chain {
    L::Linear unused{1, 1};
    CT_LINKS(unused)
    ct::Variable operator()(const ct::Variable& v) {
      ct::report({{"value", F::mean(v)}}, *this);
      return v;
    }
  };

  void evaluation() {
    const auto iterator = ct::iterators::SerialIterator(ct::datasets::TupleDataset(array(own("data"))), 7,
                                                        {.repeat = false, .shuffle = false});
    ct::training::extensions::Evaluator evaluator(iterator, Value(), {.weigh_batches_equally = true});
    const auto value = [](auto&& e) { return ct::full({}, e().at(0).second, ct::Dtype::float64); };
    expect(own("eval"), value(evaluator), kClose);
    expect("evalall_0", value(D::create_multi_node_evaluator(evaluator, comm_)), kClose);
  }

  D::Communicator comm_;
  ct::io::NpzReader file_;
  std::vector<std::array<std::string, 2>> lines_;
  std::string detail_;
  int rank_ = 0;
};

}  // namespace

Report run_chainermn(const std::string& directory) {
  const D::Communicator comm = D::create_communicator("naive");
  const std::string path = fmt::format("{}/ranks_{}.npz", directory, comm.size());
  if (!ct::os::exists(path))
    throw ct::FileError(fmt::format("{}: not there, so there is nothing that {} ranks can check", path, comm.size()));
  return Ranks(comm, path).run();
}

}  // namespace reference
