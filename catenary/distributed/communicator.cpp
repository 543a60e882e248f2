#include "catenary/distributed/communicator.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <limits>
#include <utility>

#include "catenary/array/creation.h"
#include "catenary/array/elementwise_core.h"
#include "catenary/array/random_detail.h"
#include "catenary/autograd/walk.h"
#include "catenary/core/environment.h"
#include "catenary/core/format.h"
#include "catenary/core/once.h"
#include "catenary/core/os/process.h"
#include "catenary/core/parallel.h"
#include "catenary/distributed/collectives.h"
#include "catenary/distributed/device_exchange.h"
#include "catenary/distributed/gradients.h"
#include "catenary/distributed/objects.h"

namespace catenary::distributed {

namespace {

enum class Exchange { each, packed, by_devices, none };

struct Name {
  const char* name;
  Exchange exchange;
  const char* alias_of = "";
};
constexpr Name kNames[] = {
    {"naive", Exchange::each},
    {"flat", Exchange::packed},
    {"non_cuda_aware", Exchange::packed},
    {"pure_nccl", Exchange::by_devices},
    {"dummy", Exchange::none},
    {"hierarchical", Exchange::packed, "flat"},
    {"two_dimensional", Exchange::packed, "flat"},
    {"single_node", Exchange::packed, "flat"},
};

constexpr BucketSizes kOneByOne{0, 0};
constexpr BucketSizes kAtOnce{std::numeric_limits<std::size_t>::max(), std::numeric_limits<std::size_t>::max()};
/// A small first bucket starts the exchange early. Later buckets are large, because each costs an agreement.
constexpr BucketSizes kWhileBackwardComputes{std::size_t{1} << 20, std::size_t{8} << 20};

/// Returns the values in host memory, C-contiguous.
Array on_host(const Array& x) { return x.to_device(Device()).contiguous(); }

std::string text_of(const Array& x) { return fmt::format("{} {}", x.dtype(), x.shape()); }

Part part_of(const Array& host) {
  Part part{{.bytes = host.nbytes(), .dtype = static_cast<std::int32_t>(host.dtype()), .ndim = host.ndim()}, nullptr};
  std::copy(host.shape().begin(), host.shape().end(), part.head.shape.begin());
  if (host.nbytes() > 0) part.data = host.raw_data();
  return part;
}

/// Allocates a host array for the message that a head announces.
Array room_for(const Head& head, const char* function, int from) {
  if (head.type != 0) fail<ValueError>("{}: rank {} sent an object, not an array", function, from);
  return Array::empty(Shape(head.shape.data(), head.ndim), static_cast<Dtype>(head.dtype), Device());
}

void* address(const Array& host) { return host.nbytes() > 0 ? host.raw_mutable_data() : nullptr; }

std::optional<int> wanted(int tag) { return tag == Communicator::any_tag ? std::nullopt : std::optional<int>(tag); }

/// Returns the number of cores for each of `intra_size` ranks on this machine.
int own_processors(int intra_size) {
  const int usable = os::usable_processors();
  // if the process sees fewer cores than the machine has, the launcher has divided them already
  return usable < os::online_processors() ? usable : std::max(1, usable / intra_size);
}

void set_default_threads(int intra_size) {
  static Once once;
  once([&] {
    if (environment::number("CATENARY_NUM_THREADS") || environment::number("OMP_NUM_THREADS")) return;
    set_num_threads(own_processors(intra_size));
  });
}

}  // namespace

struct Communicator::Strategy {
  std::string name;
  Exchange exchange;
  std::optional<Dtype> dtype;
  std::shared_ptr<DeviceExchange> devices;  // for pure_nccl; null for other communicators
  bool overlaps = false;
  bool on_device(const Array& x, int rank) const { return devices && DeviceExchange::takes(x.device(), rank); }
  /// Returns the function that begins the exchange of a bucket: by the vendor's library, or in this thread through the
  /// host.
  BeginExchange begins(Group& group) const {
    return [&group, this, through_the_host = exchange_now(group)](const std::shared_ptr<Bucket>& bucket,
                                                                  const std::vector<Array>& gradients) {
      if (!on_device(gradients.front(), group.rank())) return through_the_host(bucket, gradients);
      return devices->begin_mean(group, bucket, gradients);
    };
  }
};

Communicator::Communicator(std::shared_ptr<Group> group, std::shared_ptr<const Strategy> strategy)
    : group_(std::move(group)), strategy_(std::move(strategy)) {}

Communicator create_communicator(const std::string& name, const CommunicatorOptions& options) {
  const Communicator communicator =
      Communicator::made(options.ranks.empty() ? Group::world() : Group::of(options.ranks), name, options);
  if (options.ranks.empty()) random::detail::set_rank(static_cast<std::uint64_t>(communicator.rank()));
  return communicator;
}

Communicator Communicator::as(const std::string& name, const CommunicatorOptions& options) const {
  group();
  if (!options.ranks.empty())
    fail<ValueError>("as: ranks cannot be chosen, but {} are given; split() divides ranks", options.ranks.size());
  return made(group_, name, options);
}

Communicator Communicator::made(const std::shared_ptr<Group>& group, const std::string& name,
                                const CommunicatorOptions& options) {
  const auto* const found =
      std::find_if(std::begin(kNames), std::end(kNames), [&](const Name& n) { return name == n.name; });
  if (found == std::end(kNames)) {
    std::vector<std::string> names;
    for (const Name& n : kNames) names.emplace_back(n.name);
    fail<ValueError>("create_communicator: '{}' is unknown; expected one of {}", name, fmt::join(names, ", "));
  }
  if (options.allreduce_grad_dtype && !is_floating(*options.allreduce_grad_dtype))
    fail<DtypeError>("create_communicator: allreduce_grad_dtype is {}; expected a floating dtype",
                     *options.allreduce_grad_dtype);
  const auto strategy = std::make_shared<Communicator::Strategy>(
      Communicator::Strategy{name, found->exchange, options.allreduce_grad_dtype,
                             found->exchange == Exchange::by_devices ? std::make_shared<DeviceExchange>() : nullptr});
  const Communicator communicator(group, strategy);
  static std::atomic<bool> warned{false};
  if (*found->alias_of && group->rank() == 0 && !warned.exchange(true))
    fmt::print(stderr, "create_communicator: '{}' is an older name; it is {} now\n", name, found->alias_of);
  set_default_threads(communicator.intra_size());
  const bool has_time = communicator.inter_size() > 1 || own_processors(communicator.intra_size()) > num_threads();
  const std::string in_dtype =
      options.allreduce_grad_dtype ? fmt::format(", gradients as {}", *options.allreduce_grad_dtype) : "";
  strategy->overlaps = group->agree("create_communicator " + name + in_dtype, has_time) != 0 &&
                       communicator.size() > 1 && communicator.exchanges_in_background();
  return communicator;
}

Group& Communicator::group() const {
  if (!group_) throw ValueError("this Communicator is undefined: make one with create_communicator()");
  return *group_;
}

const std::string& Communicator::name() const {
  group();
  return strategy_->name;
}
std::string Communicator::transport() const { return group().wire().transport().name(); }
int Communicator::rank() const { return group().rank(); }
int Communicator::size() const { return group().size(); }

int Communicator::intra_rank() const {
  const std::vector<std::string>& hosts = group().hosts();
  const auto self = hosts.begin() + rank();
  return static_cast<int>(std::count(hosts.begin(), self, *self));
}
int Communicator::intra_size() const {
  const std::vector<std::string>& hosts = group().hosts();
  return static_cast<int>(std::count(hosts.begin(), hosts.end(), hosts[static_cast<std::size_t>(rank())]));
}

namespace {
/// Returns the distinct hosts in the order of their first ranks.
std::vector<std::string> different(const std::vector<std::string>& hosts) {
  std::vector<std::string> found;
  for (const std::string& host : hosts)
    if (std::find(found.begin(), found.end(), host) == found.end()) found.push_back(host);
  return found;
}
}  // namespace

int Communicator::inter_rank() const {
  const std::vector<std::string> all = different(group().hosts());
  return static_cast<int>(std::find(all.begin(), all.end(), group().hosts()[static_cast<std::size_t>(rank())]) -
                          all.begin());
}
int Communicator::inter_size() const { return static_cast<int>(different(group().hosts()).size()); }

Device Communicator::gpu() const {
  const std::vector<Device> found = gpus();
  if (found.empty()) return get_device("gpu:0");  // throws with the reason
  return found[static_cast<std::size_t>(intra_rank()) % found.size()];
}

Communicator Communicator::split(int color, int key) const {
  std::shared_ptr<Group> part = group().split(color, key);
  if (!strategy_->devices) return {std::move(part), strategy_};
  auto strategy = std::make_shared<Strategy>(*strategy_);
  strategy->devices = std::make_shared<DeviceExchange>();  // other ranks mean other cards
  return {std::move(part), std::move(strategy)};
}

namespace {

void check_peer(const Group& group, const char* function, int rank) {
  if (rank < 0 || rank >= group.size())
    fail<ValueError>("{}: rank {} does not exist; the communicator has {} ranks", function, rank, group.size());
  if (rank == group.rank()) fail<ValueError>("{}: rank {} is this rank itself; name another rank", function, rank);
}
void check_root(const Group& group, const char* function, int root) {
  if (root < 0 || root >= group.size())
    fail<ValueError>("{}: root {} does not exist; the communicator has {} ranks", function, root, group.size());
}
void check_count(const Group& group, const char* function, std::size_t n) {
  if (n != static_cast<std::size_t>(group.size()))
    fail<ValueError>("{}: {} parts for {} ranks; expected one for each rank", function, n, group.size());
}

void check_type(std::uint64_t expected, const Head& head, const char* function, int from) {
  if (head.type != expected)
    fail<ValueError>("{}: rank {} sent {}; receive it with the matching function and type", function, from,
                     head.type == 0 ? "an array" : "an object of another type");
}

}  // namespace

void Communicator::send(const Array& x, int dest, int tag) const {
  check_peer(group(), "send", dest);
  const Array host = on_host(x);
  group().send(fmt::format("send of {} to rank {}", text_of(x), dest), part_of(host), dest, tag);
}

Array Communicator::recv(int source, int tag) const {
  check_peer(group(), "recv", source);
  const Letter letter = group().receive(fmt::format("recv from rank {}", source), source, wanted(tag));
  const Array host = room_for(letter.frame.head, "recv", source);
  if (host.nbytes() > 0) std::memcpy(address(host), letter.bytes.get(), host.nbytes());
  return host.to_device(current_device());
}

Array Communicator::bcast(const Array& x, int root) const {
  check_root(group(), "bcast", root);
  Array host = rank() == root ? on_host(x) : Array();
  group().bcast(fmt::format("bcast of an array from rank {}", root), host.defined() ? part_of(host) : Part(), root,
                [&](int from, const Head& head) {
                  host = room_for(head, "bcast", from);
                  return address(host);
                });
  return rank() == root ? x : host.to_device(current_device());
}

namespace {

/// Arrays received from each rank, on the current device.
class Arrivals {
 public:
  Arrivals(const Group& group, const char* function)
      : function_(function), hosts_(static_cast<std::size_t>(group.size())) {}
  Group::Place place() {
    return [this](int from, const Head& head) {
      Array& host = hosts_[static_cast<std::size_t>(from)];
      host = room_for(head, function_, from);
      return address(host);
    };
  }
  std::vector<Array> arrays() const {
    std::vector<Array> result;
    for (const Array& host : hosts_)
      if (host.defined()) result.push_back(host.to_device(current_device()));
    return result;
  }

 private:
  const char* function_;
  std::vector<Array> hosts_;
};

}  // namespace

std::vector<Array> Communicator::gather(const Array& x, int root) const {
  check_root(group(), "gather", root);
  const Array host = on_host(x);
  Arrivals arrivals(group(), "gather");
  const Part part = part_of(host);
  group().exchange(fmt::format("gather of arrays to rank {}", root), copies(part, flags(group(), root)),
                   rank() == root ? flags(group(), -1) : std::vector<bool>(nothing(group()).size()), arrivals.place());
  return arrivals.arrays();
}

std::vector<Array> Communicator::allgather(const Array& x) const {
  const Array host = on_host(x);
  Arrivals arrivals(group(), "allgather");
  const Part part = part_of(host);
  group().exchange("allgather of arrays", copies(part, flags(group(), -1)), flags(group(), -1), arrivals.place());
  return arrivals.arrays();
}

Array Communicator::scatter(const std::vector<Array>& xs, int root) const {
  check_root(group(), "scatter", root);
  std::vector<Array> hosts;
  std::vector<Part> parts;
  if (rank() == root) {
    check_count(group(), "scatter", xs.size());
    for (const Array& x : xs) parts.push_back(part_of(hosts.emplace_back(on_host(x))));
  }
  Arrivals arrivals(group(), "scatter");
  group().exchange(fmt::format("scatter of arrays from rank {}", root),
                   rank() == root ? addresses(parts) : nothing(group()), flags(group(), root), arrivals.place());
  return arrivals.arrays().at(0);
}

std::vector<Array> Communicator::alltoall(const std::vector<Array>& xs) const {
  check_count(group(), "alltoall", xs.size());
  std::vector<Array> hosts;
  std::vector<Part> parts;
  for (const Array& x : xs) parts.push_back(part_of(hosts.emplace_back(on_host(x))));
  Arrivals arrivals(group(), "alltoall");
  group().exchange("alltoall of arrays", addresses(parts), flags(group(), -1), arrivals.place());
  return arrivals.arrays();
}

Array Communicator::reduced(const Array& x, const char* name, int divisor) const {
  const Array host = on_host(x);
  const Array result = Array::empty(host.shape(), host.dtype(), Device());
  group().allreduce(fmt::format("{} of {}", name, text_of(x)), host.nbytes() > 0 ? host.raw_data() : nullptr,
                    address(result), host.size(), host.dtype(), divisor);
  return result.to_device(x.device());
}

Array Communicator::allreduce(const Array& x) const { return reduced(x, "allreduce", 1); }

Array Communicator::allreduce_mean(const Array& x) const {
  if (!is_floating(x.dtype())) fail<DtypeError>("allreduce_mean: {}; a floating dtype is expected", x.dtype());
  return reduced(x, "allreduce_mean", size());
}

void Communicator::barrier() const { group().agree("barrier"); }

std::uint64_t Communicator::number_of_type(const char* name) { return std::hash<std::string>()(name) | 1; }

void Communicator::send_object(const Object& object, int dest, int tag) const {
  check_peer(group(), "send_obj", dest);
  group().send(fmt::format("send_obj of {} bytes to rank {}", object.bytes.size(), dest),
               {{.bytes = object.bytes.size(), .type = object.type}, object.bytes.data()}, dest, tag);
}

Object Communicator::receive_object(std::uint64_t type, int source, int tag) const {
  check_peer(group(), "recv_obj", source);
  const Letter letter = group().receive(fmt::format("recv_obj from rank {}", source), source, wanted(tag));
  check_type(type, letter.frame.head, "recv_obj", source);
  return {type, {letter.bytes.get(), letter.bytes.get() + letter.frame.head.bytes}};
}

Object Communicator::bcast_object(Object object, int root) const {
  check_root(group(), "bcast_obj", root);
  return distributed::bcast_object(group(), std::move(object), root);
}

std::vector<Object> Communicator::gather_objects(const Object& object, int root) const {
  if (root >= 0) check_root(group(), "gather_obj", root);
  return distributed::gather_objects(group(), object, root);
}

Object Communicator::scatter_objects(const std::vector<Object>& objects, std::uint64_t type, int root) const {
  check_root(group(), "scatter_obj", root);
  if (rank() == root) check_count(group(), "scatter_obj", objects.size());
  return distributed::scatter_objects(group(), objects, type, root);
}

void Communicator::bcast_data(const Link& model) const {
  const auto parameters = model.namedparams();
  const auto quantized = quantized_blocks(model);
  std::vector<std::string> here = description(parameters);
  for (const auto& entry : quantized) here.push_back(entry.first);
  const auto all = allgather_obj(here);
  for (std::size_t r = 1; r < all.size(); ++r) {
    if (all[r] == all[0]) continue;
    const auto missing = std::string("nothing");
    std::size_t i = 0;
    while (i < all[0].size() && i < all[r].size() && all[0][i] == all[r][i]) ++i;
    fail<ValueError>("bcast_data: rank 0 has {} parameters and rank {} has {}; the first difference: {} and {}",
                     all[0].size(), r, all[r].size(), i < all[0].size() ? all[0][i] : missing,
                     i < all[r].size() ? all[r][i] : missing);
  }
  for (const auto& [name, p] : parameters)
    if (!p.is_initialized())
      fail<ValueError>("bcast_data: {} is not initialised: run the model once before, or give its size", name);
  if (size() == 1) return;
  const auto send = [&](const Array& array) {
    if (strategy_->on_device(array, rank())) {
      strategy_->devices->bcast(group(), "bcast_data of " + text_of(array), array);
      return;
    }
    const Array values = bcast(array);
    if (rank() != 0) copyto(array, values.to_device(array.device()));
  };
  for (const auto& entry : parameters) send(entry.second.array());
  for (const auto& entry : quantized) send(entry.second);
}

int Communicator::multi_node_mean_grad(const Link& model, bool zero_fill, int vote) const {
  return mean_grad(model, zero_fill, vote, {});
}

int Communicator::mean_grad(const Link& model, bool zero_fill, int vote, const std::string& settings) const {
  if (size() == 1) return vote;
  NamedParameters exchanged;
  const std::optional<Number> of_zeros = walk::scale_of_zeros(model.params(false));
  for (const auto& entry : model.namedparams(false)) {
    const Parameter& p = entry.second;
    if (strategy_->exchange == Exchange::none) break;
    if (!p.grad().defined() && zero_fill) {
      p.zerograd();
      p.set_loss_scale(of_zeros);
    }
    if (p.grad().defined()) exchanged.push_back(entry);
  }
  std::vector<Bucket> buckets =
      buckets_of(exchanged, strategy_->dtype, strategy_->exchange == Exchange::each ? kOneByOne : kAtOnce);
  const int agreed = agree_on_gradients(buckets.size(), vote, settings);
  const BeginExchange begin = strategy_->begins(group());
  for (Bucket& bucket : buckets) {
    std::vector<Array> gradients;
    for (const auto& entry : bucket.parameters()) gradients.push_back(entry.second.grad());
    begin(std::make_shared<Bucket>(std::move(bucket)), gradients)->finish();
  }
  return agreed;
}

int Communicator::agree_on_gradients(std::size_t buckets, int vote, const std::string& settings) const {
  return group().agree(fmt::format("mean of gradients in {} parts{}", buckets, settings), vote);
}

bool Communicator::overlaps() const {
  group();
  return strategy_->overlaps;
}

bool Communicator::exchanges_in_background() const {
  return strategy_->exchange == Exchange::packed && group().background();
}

bool Communicator::exchanges_by_devices() const { return strategy_->exchange == Exchange::by_devices; }

std::unique_ptr<Flight> Communicator::begin_flight(const Link& model) const {
  NamedParameters parameters = model.namedparams(false);
  if (parameters.empty()) return nullptr;
  if (exchanges_by_devices())
    return std::make_unique<Flight>(strategy_->begins(group()), std::move(parameters), strategy_->dtype, kAtOnce);
  if (!exchanges_in_background()) return nullptr;
  return std::make_unique<Flight>(exchange_in_background(group().background()), std::move(parameters), strategy_->dtype,
                                  kWhileBackwardComputes);
}

void Communicator::set_config(const std::string& name, double value) const {
  if (name != "collective_timeout")
    fail<ValueError>("set_config: '{}' is unknown; expected 'collective_timeout'", name);
  if (!(value > 0)) fail<ValueError>("set_config: collective_timeout of {} minutes; it must be above 0", value);
  group().wire().set_limit(value);
}

double Communicator::get_config(const std::string& name) const {
  if (name != "collective_timeout")
    fail<ValueError>("get_config: '{}' is unknown; expected 'collective_timeout'", name);
  return group().wire().limit_in_minutes();
}

void Communicator::finalize() const {
  group().agree("finalize");
  if (strategy_->devices) strategy_->devices->leave(group());
}

void abort_job(const std::string& why) { Wire::job()->abort(why); }

}  // namespace catenary::distributed
