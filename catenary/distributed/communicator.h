#pragma once
// distributed/: training one model with several processes. A Communicator is a set of ranks and their communication.
// Optimizers, datasets, evaluators and extensions build on it. (chainermn)

#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <typeinfo>
#include <vector>

#include "catenary/distributed/packing.h"
#include "catenary/links/model.h"

namespace catenary::distributed {

class Flight;
class Group;
struct Letter;

/// Options of create_communicator.
struct CommunicatorOptions {
  /// Exchange gradients in this dtype. Default: each gradient's dtype.
  std::optional<Dtype> allreduce_grad_dtype = {};
  /// Ranks of the job in the communicator, in this order. Exactly these must call create_communicator(). Default:
  /// all.
  std::vector<int> ranks = {};
};

/// All ranks of a job, or some of them. Copies are handles of one communicator. All ranks must call the same functions
/// in the same order; otherwise all get a ValueError that names two ranks and their calls. The job ends if an operation
/// takes longer than CATENARY_COLLECTIVE_TIMEOUT (minutes, default 30) or needs a rank that has exited.
///
/// Arrays may have any dtype, memory layout and device. They travel through the host, except gradients and parameters
/// of pure_nccl. Received arrays are on the current device. (chainermn.CommunicatorBase)
class CT_API Communicator {
 public:
  Communicator() = default;
  bool defined() const { return group_ != nullptr; }

  /// Returns the name: "naive", "flat", …
  const std::string& name() const;
  /// Returns the transport of the bytes: "shared memory", "one process", …
  std::string transport() const;
  int rank() const;
  int size() const;
  /// Returns this rank's number among the ranks on its machine, and the number of ranks there.
  int intra_rank() const;
  int intra_size() const;
  /// Returns the number of this rank's machine (ordered by the lowest rank on each machine), and the number of
  /// machines.
  int inter_rank() const;
  int inter_size() const;

  /// Returns whether gradients are exchanged during backward by default. True for flat and non_cuda_aware with ranks on
  /// several machines, or with more cores than computing threads. Equal on all ranks.
  bool overlaps() const;

  /// Returns the GPU of this rank: `gpu:intra_rank` modulo the number of visible GPUs, so that a rank whose scheduler
  /// shows it a single card gets gpu:0. Throws DeviceError if there is no GPU.
  Device gpu() const;

  /// Returns a communicator of the ranks that pass this color, ordered by their keys. (CommunicatorBase.split)
  Communicator split(int color, int key) const;
  /// Returns a communicator of these ranks with another name or other options, as from create_communicator(); `ranks`
  /// must be empty. All ranks must call it.
  Communicator as(const std::string& name, const CommunicatorOptions& options = {}) const;

  /// Sends an array to one rank. May return before the receiver has it. Throws ValueError for a rank that does not
  /// exist or is this rank.
  void send(const Array& x, int dest, int tag = 0) const;
  /// Tag for recv() that accepts a message with any tag.
  static constexpr int any_tag = std::numeric_limits<int>::min();
  /// Receives the next array that a rank sent with this tag. Throws ValueError if the message is an object.
  Array recv(int source, int tag = 0) const;
  /// Returns the root's array on every rank. Other ranks' x is ignored.
  Array bcast(const Array& x, int root = 0) const;
  /// Returns all ranks' arrays on the root (any shapes and dtypes), and an empty vector elsewhere.
  std::vector<Array> gather(const Array& x, int root = 0) const;
  std::vector<Array> allgather(const Array& x) const;
  /// Returns this rank's entry of the root's arrays. Other ranks' xs is ignored. Throws ValueError unless the root
  /// passes size() arrays.
  Array scatter(const std::vector<Array>& xs, int root = 0) const;
  /// Sends xs[i] to rank i and returns one array from each rank. Throws ValueError unless there are size() arrays.
  std::vector<Array> alltoall(const std::vector<Array>& xs) const;
  /// Returns the sum over all ranks, on x's device. Shapes and dtypes must be equal. The bits depend only on the values
  /// and the order of ranks. 16-bit floats are summed in float32 and rounded once. For bool, computes the logical or.
  Array allreduce(const Array& x) const;
  /// Returns allreduce(x) divided by size(). Throws DtypeError unless x is floating.
  Array allreduce_mean(const Array& x) const;
  /// Waits until all ranks have called it.
  void barrier() const;

  // Sends or receives objects: all types of packing.h, and types with overloads of pack and unpack. The functions
  // ending in _obj correspond to the functions for arrays.
  template <Packable T>
  void send_obj(const T& x, int dest, int tag = 0) const {
    send_object(packed(x), dest, tag);
  }
  template <Packable T>
  T recv_obj(int source, int tag = 0) const {
    return unpacked<T>(receive_object(type_of<T>(), source, tag));
  }
  template <Packable T>
  T bcast_obj(const T& x, int root = 0) const {
    return unpacked<T>(bcast_object(rank() == root ? packed(x) : Object{type_of<T>(), {}}, root));
  }
  template <Packable T>
  std::vector<T> gather_obj(const T& x, int root = 0) const {
    return unpacked_all<T>(gather_objects(packed(x), root));
  }
  template <Packable T>
  std::vector<T> allgather_obj(const T& x) const {
    return unpacked_all<T>(gather_objects(packed(x), -1));
  }
  template <Packable T>
  T scatter_obj(const std::vector<T>& xs, int root = 0) const {
    std::vector<Object> objects;
    if (rank() == root)
      for (const T& x : xs) objects.push_back(packed(x));
    return unpacked<T>(scatter_objects(objects, type_of<T>(), root));
  }
  /// Combines the ranks' objects with `combine`, or `+` by default, in the order of ranks.
  template <Packable T>
  T allreduce_obj(
      const T& x, const std::function<T(const T&, const T&)>& combine = [](const T& a, const T& b) {
        return static_cast<T>(a + b);
      }) const {
    const std::vector<T> all = allgather_obj(x);
    T result = all[0];
    for (std::size_t i = 1; i < all.size(); ++i) result = combine(result, all[i]);
    return result;
  }

  /// Copies rank 0's parameters to every rank. Throws ValueError on every rank, naming two of them, if the models'
  /// parameters differ in names, shapes or dtypes. (bcast_data, broadcast_data)
  void bcast_data(const Link& model) const;
  void bcast_data(const Model& model) const { bcast_data(model.link()); }
  /// Sets every gradient to its mean over all ranks. With zero_fill, a missing gradient counts as zeros. Without it, a
  /// parameter must have a gradient on all ranks or on none; otherwise throws ValueError. Returns the maximum of all
  /// ranks' `vote`, which travels with the gradients. (multi_node_mean_grad, allreduce_grad)
  int multi_node_mean_grad(const Link& model, bool zero_fill = false, int vote = 0) const;
  int multi_node_mean_grad(const Model& model, bool zero_fill = false, int vote = 0) const {
    return multi_node_mean_grad(model.link(), zero_fill, vote);
  }

  /// Sets "collective_timeout" in minutes. Throws ValueError for other names and for invalid values.
  void set_config(const std::string& name, double value) const;
  double get_config(const std::string& name) const;
  /// Waits until all ranks have called it. Nothing may be sent afterwards.
  void finalize() const;

 private:
  friend class GradientExchange;  // for multi-node optimizers
  friend CT_API Communicator create_communicator(const std::string& name, const CommunicatorOptions& options);
  struct Strategy;
  Communicator(std::shared_ptr<Group> group, std::shared_ptr<const Strategy> strategy);
  static Communicator made(const std::shared_ptr<Group>& group, const std::string& name,
                           const CommunicatorOptions& options);
  Group& group() const;

  template <class T>
  static std::uint64_t type_of() {
    static const std::uint64_t number = number_of_type(typeid(T).name());
    return number;
  }
  static std::uint64_t number_of_type(const char* name);
  template <class T>
  static Object packed(const T& x) {
    Packer packer;
    pack(packer, x);
    return {type_of<T>(), packer.bytes()};
  }
  template <class T>
  static T unpacked(const Object& object) {
    Unpacker unpacker(object.bytes);
    T value{};
    unpack(unpacker, value);
    return value;
  }
  template <class T>
  static std::vector<T> unpacked_all(const std::vector<Object>& objects) {
    std::vector<T> values;
    for (const Object& object : objects) values.push_back(unpacked<T>(object));
    return values;
  }
  /// Returns whether a background thread exchanges the gradients. False if gradients are not exchanged or are exchanged
  /// one by one, and for transports that serve only one thread.
  bool exchanges_in_background() const;
  /// Returns whether the devices exchange gradients, on separate streams.
  bool exchanges_by_devices() const;
  /// Begins the exchange of all gradients; null if there is nothing to exchange.
  std::unique_ptr<Flight> begin_flight(const Link& model) const;
  /// Agrees with all ranks to exchange gradients in `buckets` parts for updates with these `settings`. Returns the
  /// maximum vote.
  int agree_on_gradients(std::size_t buckets, int vote, const std::string& settings) const;
  int mean_grad(const Link& model, bool zero_fill, int vote, const std::string& settings) const;

  void send_object(const Object& object, int dest, int tag) const;
  Object receive_object(std::uint64_t type, int source, int tag) const;
  Object bcast_object(Object object, int root) const;
  /// Collects objects on the root, or on all ranks if it is -1.
  std::vector<Object> gather_objects(const Object& object, int root) const;
  Object scatter_objects(const std::vector<Object>& objects, std::uint64_t type, int root) const;
  Array reduced(const Array& x, const char* name, int divisor) const;

  std::shared_ptr<Group> group_;
  std::shared_ptr<const Strategy> strategy_;
};

/// Returns a communicator of the ranks that `catenary launch` or MPI (mpiexec, srun) started together with this
/// process, or of this process alone. All ranks must call it.
///
/// | name | gradients are exchanged |
/// |---|---|
/// | naive | one parameter at a time |
/// | flat | all in one buffer, or by an optimizer in buckets during backward |
/// | non_cuda_aware | like flat |
/// | pure_nccl | all in one buffer between cards by NCCL or RCCL; on other devices like flat |
/// | dummy | not at all, to measure the cost of the exchange |
///
/// hierarchical, two_dimensional and single_node are aliases of flat and print a note once.
///
/// The first communicator also sets the number of threads unless an environment variable sets it: all cores that this
/// process is bound to, or its share of the machine's cores. After random::seed(s), rank 0 draws the random numbers of
/// a single process, and each other rank draws different numbers.
///
/// Throws ValueError for an unknown name. pure_nccl loads its library at the first exchange on a CUDA or HIP device. It
/// throws DeviceError on all ranks if a rank has no library or if two ranks share a card.
/// (chainermn.create_communicator)
CT_API Communicator create_communicator(const std::string& name = "flat", const CommunicatorOptions& options = {});

/// Ends this process and all other ranks of the job at once. Prints `why` once, prefixed with this rank's name.
/// (global_except_hook, MPI_Abort)
[[noreturn]] CT_API void abort_job(const std::string& why);

}  // namespace catenary::distributed
