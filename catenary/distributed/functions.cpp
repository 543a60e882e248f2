#include "catenary/distributed/functions.h"

#include <utility>

#include "catenary/array/creation.h"
#include "catenary/array/elementwise_core.h"
#include "catenary/autograd/attributes.h"
#include "catenary/autograd/function_node.h"

namespace catenary::distributed {
static void visit_fields(const Communicator& communicator, auto&& visit) {
  visit("ranks", communicator.defined() ? communicator.size() : 1);
}
}  // namespace catenary::distributed

namespace catenary::distributed::functions {

namespace {

/// Placeholder for a value on another rank. It has one element, so that backward can start from it without a gradient.
/// As an input, it makes a function's backward run even if no other input requires a gradient.
Array nothing() { return zeros({}, Dtype::float32); }
Variable delegate_of_nothing() { return Variable(nothing(), true); }

/// Base of the functions here. The last input is a delegate.
class Communication : public FunctionNode {
 public:
  explicit Communication(Communicator communicator) : comm_(std::move(communicator)) {}

 protected:
  Arrays forward(Inputs in) final {
    for (int i = 0; i < in.size(); ++i) devices_.push_back(in[i].device());
    std::vector<Array> xs;
    for (int i = 0; i + 1 < in.size(); ++i) xs.push_back(in[i]);
    Arrays ys;
    for (const Array& y : communicate(xs)) {
      outputs_.push_back(y);
      ys.push_back(y);
    }
    return ys;
  }
  Variables backward(Targets targets, Grads grads) final {
    std::vector<Array> gys;
    for (std::size_t i = 0; i < outputs_.size(); ++i)
      gys.push_back(grads[i].defined() ? grads[i].array() : zeros_like(outputs_[i]));
    const std::vector<Array> gxs = communicate_back(gys);
    return gradients(targets, [&](int i) {
      const auto k = static_cast<std::size_t>(i);
      return Variable((k < gxs.size() ? gxs[k] : nothing()).to_device(devices_[k]), false);
    });
  }
  virtual std::vector<Array> communicate(const std::vector<Array>& xs) = 0;
  /// Computes the gradients of all inputs except the delegate from the outputs' gradients.
  virtual std::vector<Array> communicate_back(const std::vector<Array>& gys) = 0;

  Communicator comm_;

 private:
  std::vector<Device> devices_;
  std::vector<Array> outputs_;
};

Array sum_of(const std::vector<Array>& xs) {
  Array sum = xs.at(0);
  for (std::size_t i = 1; i < xs.size(); ++i) sum = sum + xs[i];
  return sum;
}

class Send final : public Communication {
 public:
  Send(Communicator communicator, int rank, int tag) : Communication(std::move(communicator)), peer_(rank), tag_(tag) {}
  const char* name() const override { return "Send"; }
  CT_ATTRIBUTES(comm_, peer_, tag_)
  std::vector<Array> communicate(const std::vector<Array>& xs) override {
    comm_.send(xs[0], peer_, tag_);
    return {nothing()};
  }
  std::vector<Array> communicate_back(const std::vector<Array>&) override { return {comm_.recv(peer_, tag_)}; }

 private:
  int peer_, tag_;
};

class Recv final : public Communication {
 public:
  Recv(Communicator communicator, int rank, int tag) : Communication(std::move(communicator)), peer_(rank), tag_(tag) {}
  const char* name() const override { return "Recv"; }
  CT_ATTRIBUTES(comm_, peer_, tag_)
  std::vector<Array> communicate(const std::vector<Array>&) override { return {comm_.recv(peer_, tag_)}; }
  std::vector<Array> communicate_back(const std::vector<Array>& gys) override {
    comm_.send(gys[0], peer_, tag_);
    return {};
  }

 private:
  int peer_, tag_;
};

class PseudoConnect final : public Communication {
 public:
  PseudoConnect() : Communication({}) {}
  const char* name() const override { return "PseudoConnect"; }
  CT_ATTRIBUTES()
  std::vector<Array> communicate(const std::vector<Array>& xs) override { return xs; }
  std::vector<Array> communicate_back(const std::vector<Array>& gys) override { return gys; }
};

/// Communication with a root rank.
class Rooted : public Communication {
 public:
  Rooted(Communicator communicator, int root) : Communication(std::move(communicator)), root_(root) {}

 protected:
  bool is_root() const { return comm_.rank() == root_; }
  int root_;
};

class Bcast final : public Rooted {
 public:
  using Rooted::Rooted;
  const char* name() const override { return "Bcast"; }
  CT_ATTRIBUTES(comm_, root_)
  std::vector<Array> communicate(const std::vector<Array>& xs) override {
    return {comm_.bcast(is_root() ? xs[0].copy() : Array(), root_)};
  }
  std::vector<Array> communicate_back(const std::vector<Array>& gys) override {
    const std::vector<Array> all = comm_.gather(gys[0], root_);
    return is_root() ? std::vector<Array>{sum_of(all)} : all;
  }
};

class Gather final : public Rooted {
 public:
  using Rooted::Rooted;
  const char* name() const override { return "Gather"; }
  CT_ATTRIBUTES(comm_, root_)
  std::vector<Array> communicate(const std::vector<Array>& xs) override {
    const std::vector<Array> all = comm_.gather(xs[0], root_);
    return is_root() ? all : std::vector<Array>{nothing()};
  }
  std::vector<Array> communicate_back(const std::vector<Array>& gys) override { return {comm_.scatter(gys, root_)}; }
};

class Scatter final : public Rooted {
 public:
  using Rooted::Rooted;
  const char* name() const override { return "Scatter"; }
  CT_ATTRIBUTES(comm_, root_)
  std::vector<Array> communicate(const std::vector<Array>& xs) override { return {comm_.scatter(xs, root_)}; }
  std::vector<Array> communicate_back(const std::vector<Array>& gys) override { return comm_.gather(gys[0], root_); }
};

class AllToAll final : public Communication {
 public:
  using Communication::Communication;
  const char* name() const override { return "AllToAll"; }
  CT_ATTRIBUTES(comm_)
  std::vector<Array> communicate(const std::vector<Array>& xs) override { return comm_.alltoall(xs); }
  std::vector<Array> communicate_back(const std::vector<Array>& gys) override { return comm_.alltoall(gys); }
};

class AllGather final : public Communication {
 public:
  using Communication::Communication;
  const char* name() const override { return "AllGather"; }
  CT_ATTRIBUTES(comm_)
  std::vector<Array> communicate(const std::vector<Array>& xs) override { return comm_.allgather(xs[0]); }
  std::vector<Array> communicate_back(const std::vector<Array>& gys) override { return {sum_of(comm_.alltoall(gys))}; }
};

template <class F>
std::vector<Variable> applied(const Ref<F>& function, std::vector<Variable> inputs, const Variable& delegate = {}) {
  inputs.push_back(delegate.defined() ? delegate : delegate_of_nothing());
  const Variables outputs = function->apply(inputs);
  return {outputs.begin(), outputs.end()};
}

}  // namespace

Variable send(const Variable& x, const Communicator& communicator, int rank, int tag) {
  return applied(node<Send>(communicator, rank, tag), {x})[0];
}

Variable recv(const Communicator& communicator, int rank, const Variable& delegate, int tag) {
  return applied(node<Recv>(communicator, rank, tag), {}, delegate)[0];
}

Variable pseudo_connect(const Variable& delegate, const Variable& actual) {
  return applied(node<PseudoConnect>(), {actual}, delegate)[0];
}

std::vector<Variable> pseudo_connect(const Variable& delegate, const std::vector<Variable>& actual) {
  return applied(node<PseudoConnect>(), actual, delegate);
}

Variable bcast(const Communicator& communicator, const Variable& x, int root) {
  const bool given = communicator.rank() == root;
  return applied(node<Bcast>(communicator, root), given ? std::vector<Variable>{x} : std::vector<Variable>())[0];
}

std::vector<Variable> gather(const Communicator& communicator, const Variable& x, int root) {
  return applied(node<Gather>(communicator, root), {x});
}

Variable scatter(const Communicator& communicator, const std::vector<Variable>& xs, int root) {
  const bool given = communicator.rank() == root;
  return applied(node<Scatter>(communicator, root), given ? xs : std::vector<Variable>())[0];
}

std::vector<Variable> alltoall(const Communicator& communicator, const std::vector<Variable>& xs) {
  return applied(node<AllToAll>(communicator), xs);
}

std::vector<Variable> allgather(const Communicator& communicator, const Variable& x) {
  return applied(node<AllGather>(communicator), {x});
}

}  // namespace catenary::distributed::functions
