// The communicator for catenary.chainermn, on arrays and bytes. Python decides which objects become bytes and which
// arrays are NumPy's.

#include "catenary/distributed/communicator.h"

#include <string>
#include <utility>
#include <vector>

#include "catenary/links/link.h"
#include "core.h"

namespace catenary_python {

namespace {

using ct::distributed::Communicator;

/// The scope of a call to other ranks: releases the GIL, and places received data on the host.
struct Talking {
  const Released released;
  const ct::DeviceScope host{ct::Device()};
};

template <class R, class... A>
auto talking(R (Communicator::*f)(A...) const) {
  return [f](const Communicator& self, std::decay_t<A>... a) -> R {
    const Talking scope;
    return (self.*f)(a...);
  };
}

std::string text_of(const nb::bytes& x) { return {x.c_str(), x.size()}; }
nb::bytes bytes_of(const std::string& x) { return nb::bytes(x.data(), x.size()); }
nb::list bytes_of(const std::vector<std::string>& xs) {
  nb::list all;
  for (const std::string& x : xs) all.append(bytes_of(x));
  return all;
}

/// Named parameters as a link, for Communicator.
class GivenParameters final : public ct::Link {
 public:
  GivenParameters(const std::vector<std::string>& names, const std::vector<Array>& values) {
    if (names.size() != values.size()) throw ct::ValueError("names and arrays of parameters differ in number");
    for (std::size_t i = 0; i < names.size(); ++i)
      parameters_.emplace_back(names[i], ct::Parameter::from_array(values[i], names[i]));
  }
  void visit_members(ct::MemberVisitor& visitor) const override {
    for (auto& [name, parameter] : parameters_) visitor.parameter(name, parameter);
  }
  std::vector<std::pair<std::string, ct::Parameter>>& parameters() { return parameters_; }

 private:
  mutable std::vector<std::pair<std::string, ct::Parameter>> parameters_;
};

void bcast_data(const Communicator& self, const std::vector<std::string>& names, const std::vector<Array>& values) {
  const Talking scope;
  self.bcast_data(GivenParameters(names, values));
}

std::vector<Array> mean_grads(const Communicator& self, const std::vector<std::string>& names,
                              const std::vector<Array>& values, const std::vector<Array>& grads) {
  const Talking scope;
  GivenParameters model(names, values);
  for (std::size_t i = 0; i < grads.size(); ++i) model.parameters().at(i).second.set_grad(grads[i]);
  self.multi_node_mean_grad(model);
  std::vector<Array> means;
  for (const auto& entry : model.parameters()) means.push_back(entry.second.grad());
  return means;
}

/// Registers messages of arrays.
void register_arrays(nb::class_<Communicator>& type) {
  type.def("send", talking(&Communicator::send), nb::arg("x"), nb::arg("dest"), nb::arg("tag"))
      .def("recv", talking(&Communicator::recv), nb::arg("source"), nb::arg("tag"))
      .def(
          "bcast",
          [](const Communicator& self, const std::optional<Array>& x, int root) {
            const Talking scope;
            return self.bcast(x.value_or(Array()), root);
          },
          nb::arg("x").none(), nb::arg("root"))
      .def("gather", talking(&Communicator::gather), nb::arg("x"), nb::arg("root"))
      .def("allgather", talking(&Communicator::allgather), nb::arg("x"))
      .def("scatter", talking(&Communicator::scatter), nb::arg("xs"), nb::arg("root"))
      .def("alltoall", talking(&Communicator::alltoall), nb::arg("xs"))
      .def("allreduce", talking(&Communicator::allreduce), nb::arg("x"))
      .def("allreduce_mean", talking(&Communicator::allreduce_mean), nb::arg("x"))
      .def("barrier", talking(&Communicator::barrier));
}

/// Registers messages of bytes.
void register_bytes(nb::class_<Communicator>& type) {
  type.def(
          "send_bytes",
          [](const Communicator& self, const nb::bytes& x, int dest, int tag) {
            const std::string text = text_of(x);
            const Talking scope;
            self.send_obj(text, dest, tag);
          },
          nb::arg("x"), nb::arg("dest"), nb::arg("tag"))
      .def(
          "recv_bytes",
          [](const Communicator& self, int source, int tag) {
            return bytes_of([&] {
              const Talking scope;
              return self.recv_obj<std::string>(source, tag);
            }());
          },
          nb::arg("source"), nb::arg("tag"))
      .def(
          "bcast_bytes",
          [](const Communicator& self, const std::optional<nb::bytes>& x, int root) {
            const std::string text = x ? text_of(*x) : std::string();
            return bytes_of([&] {
              const Talking scope;
              return self.bcast_obj(text, root);
            }());
          },
          nb::arg("x").none(), nb::arg("root"))
      .def(
          "gather_bytes",
          [](const Communicator& self, const nb::bytes& x, int root) {
            const std::string text = text_of(x);
            return bytes_of([&] {
              const Talking scope;
              return self.gather_obj(text, root);
            }());
          },
          nb::arg("x"), nb::arg("root"))
      .def(
          "allgather_bytes",
          [](const Communicator& self, const nb::bytes& x) {
            const std::string text = text_of(x);
            return bytes_of([&] {
              const Talking scope;
              return self.allgather_obj(text);
            }());
          },
          nb::arg("x"))
      .def(
          "scatter_bytes",
          [](const Communicator& self, const std::vector<nb::bytes>& xs, int root) {
            std::vector<std::string> texts;
            for (const nb::bytes& x : xs) texts.push_back(text_of(x));
            return bytes_of([&] {
              const Talking scope;
              return self.scatter_obj(texts, root);
            }());
          },
          nb::arg("xs"), nb::arg("root"));
}

/// Registers the exchange of models, and settings.
void register_models(nb::class_<Communicator>& type) {
  type.def("bcast_data", bcast_data, nb::arg("names"), nb::arg("values"))
      .def("mean_grads", mean_grads, nb::arg("names"), nb::arg("values"), nb::arg("grads"))
      .def(
          "set_config",
          [](const Communicator& self, const std::string& name, double value) { self.set_config(name, value); },
          nb::arg("name"), nb::arg("value"))
      .def(
          "get_config", [](const Communicator& self, const std::string& name) { return self.get_config(name); },
          nb::arg("name"))
      .def("finalize", talking(&Communicator::finalize));
}

}  // namespace

void register_communicator(nb::module_& m) {
  nb::class_<Communicator> type(m, "Communicator",
                                "A communicator of the ranks of a job, or some of them (catenary::distributed).");
  type.def_static(
          "create",
          [](const std::string& name, const std::vector<int>& ranks) {
            const Talking scope;
            return ct::distributed::create_communicator(name, {.ranks = ranks});
          },
          nb::arg("name"), nb::arg("ranks"))
      .def_prop_ro("name", &Communicator::name)
      .def_prop_ro("transport", &Communicator::transport)
      .def_prop_ro("rank", &Communicator::rank)
      .def_prop_ro("size", &Communicator::size)
      .def_prop_ro("intra_rank", &Communicator::intra_rank)
      .def_prop_ro("intra_size", &Communicator::intra_size)
      .def_prop_ro("inter_rank", &Communicator::inter_rank)
      .def_prop_ro("inter_size", &Communicator::inter_size)
      .def("split", talking(&Communicator::split), nb::arg("color"), nb::arg("key"))
      .def(
          "as_named",
          [](const Communicator& self, const std::string& name, DtypeArg dtype) {
            const ct::distributed::CommunicatorOptions options{.allreduce_grad_dtype = dtype.get()};
            const Talking scope;
            return self.as(name, options);
          },
          nb::arg("name"), nb::arg("allreduce_grad_dtype").none() = nb::none());
  register_arrays(type);
  register_bytes(type);
  register_models(type);
  type.attr("any_tag") = Communicator::any_tag;
  m.def(
      "abort_job",
      [](const std::string& why) {
        const Talking scope;
        ct::distributed::abort_job(why);
      },
      nb::arg("why"), "Ends this process's job with all ranks at once.");
  m.def(
      "host_array", [](nb::object x) { return from_numpy(x.ptr(), std::nullopt, ct::Device()); }, nb::arg("x"),
      "Copies a NumPy array to the processor, whatever device is current.");
}

}  // namespace catenary_python
