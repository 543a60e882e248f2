#pragma once
// distributed/: several processes that train one model. A Communicator is the ranks and what they say to each other;
// optimizers, datasets, evaluators and extensions build on it. (chainermn)

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
  /// Gradients are exchanged in this dtype: none: in their own.
  std::optional<Dtype> allreduce_grad_dtype = {};
  /// The ranks of the job that it has, in this order, all of which call it, and no others; none: all.
  std::vector<int> ranks = {};
};

/// The ranks of a job, or some of them. A handle. All ranks call the same functions in the same order; where they do
/// not, all get a ValueError that names two of them and what they called. What takes longer than
/// CATENARY_COLLECTIVE_TIMEOUT (minutes, 30 by default) or meets a rank that has ended ends the job.
///
/// Arrays may be of any dtype, in any memory layout, on any device; they are sent through the host (gradients and
/// parameters of pure_nccl are not). What arrives lies on the current device. (chainermn.CommunicatorBase)
class CT_API Communicator {
 public:
  Communicator() = default;
  bool defined() const { return group_ != nullptr; }

  /// "naive", "flat", …
  const std::string& name() const;
  /// What carries the bytes: "shared memory", "one process", …
  std::string transport() const;
  int rank() const;
  int size() const;
  /// The number of this rank among those of its machine, and how many these are.
  int intra_rank() const;
  int intra_size() const;
  /// The number of this rank's machine, in the order of each one's first rank, and how many there are.
  int inter_rank() const;
  int inter_size() const;

  /// Are gradients exchanged while backward still computes others, unless an optimizer's options say so? Where there
  /// is time for it: with ranks on several machines, or more cores than threads that compute; and by flat and
  /// non_cuda_aware. The same on all ranks.
  bool overlaps() const;

  /// The GPU of this rank among those that it sees: `gpu:intra_rank`, modulo their number, so that each rank gets gpu:0
  /// where a scheduler shows it one card. Throws DeviceError where there is none.
  Device gpu() const;

  /// The ranks that give the same color, in the order of their keys. (CommunicatorBase.split)
  Communicator split(int color, int key) const;
  /// The same ranks as a communicator of another name or other options, as create_communicator() makes it; `ranks` must
  /// be empty. Called by all of them.
  Communicator as(const std::string& name, const CommunicatorOptions& options = {}) const;

  /// To one rank; it may return before the other has received. Throws ValueError for a rank that is not there, or one's
  /// own.
  void send(const Array& x, int dest, int tag = 0) const;
  /// As the tag of what is received: whatever tag it has.
  static constexpr int any_tag = std::numeric_limits<int>::min();
  /// What a rank sent with this tag, in order. Throws ValueError where it sent an object.
  Array recv(int source, int tag = 0) const;
  /// The root's array, on every rank. On the others x is not looked at.
  Array bcast(const Array& x, int root = 0) const;
  /// All ranks' arrays, which may differ in shape and dtype, on the root; nothing elsewhere.
  std::vector<Array> gather(const Array& x, int root = 0) const;
  std::vector<Array> allgather(const Array& x) const;
  /// The root's arrays, one for each rank. Elsewhere xs is not looked at. Throws ValueError unless there are size().
  Array scatter(const std::vector<Array>& xs, int root = 0) const;
  /// xs[i] goes to rank i; from each rank comes one. Throws ValueError unless there are size().
  std::vector<Array> alltoall(const std::vector<Array>& xs) const;
  /// The sum over all ranks, whose arrays must have one shape and dtype; it lies where x does. Bits depend on the
  /// values and on the order of ranks only; 16-bit floats are summed in float32 and rounded once, of bool it is `or`.
  Array allreduce(const Array& x) const;
  /// The same divided by size(). Throws DtypeError unless floating.
  Array allreduce_mean(const Array& x) const;
  /// Returns when all ranks have come here.
  void barrier() const;

  // The same with objects: all that packing.h knows, and what users overload pack and unpack for.
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
  /// The ranks' objects put together by `combine`, in the order of ranks; by `+` where none is given.
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

  /// Gives every rank rank 0's parameters. Throws ValueError on every rank, naming two, where models differ in the
  /// names, shapes or dtypes of parameters. (bcast_data, broadcast_data)
  void bcast_data(const Link& model) const;
  void bcast_data(const Model& model) const { bcast_data(model.link()); }
  /// Gives every parameter the mean over all ranks of its gradients. Where a rank has none for a parameter, zeros are
  /// taken with zero_fill; else the parameter keeps what it has, and must have none on any rank (ValueError).
  /// `vote` rides along: the largest of all ranks' is returned. (multi_node_mean_grad, allreduce_grad)
  int multi_node_mean_grad(const Link& model, bool zero_fill = false, int vote = 0) const;
  int multi_node_mean_grad(const Model& model, bool zero_fill = false, int vote = 0) const {
    return multi_node_mean_grad(model.link(), zero_fill, vote);
  }

  /// Settings: "collective_timeout", minutes. Throws ValueError for others and for values that make no sense.
  void set_config(const std::string& name, double value) const;
  double get_config(const std::string& name) const;
  /// Returns when all ranks have come here; nothing may be sent afterwards.
  void finalize() const;

 private:
  friend class GradientExchange;  // of multi-node optimizers
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
  /// Does a thread of its own exchange gradients? Not where none are exchanged, or parameter by parameter, and
  /// not over what carries bytes for one thread only.
  bool exchanges_in_background() const;
  /// Do the cards exchange gradients, in streams of their own?
  bool exchanges_by_devices() const;
  /// Such an exchange of all gradients; null where there is none to do.
  std::unique_ptr<Flight> begin_flight(const Link& model) const;
  /// All ranks exchange gradients now, in so many parts, for updates by what `settings` says. Gives the largest vote.
  int agree_on_gradients(std::size_t buckets, int vote, const std::string& settings) const;
  int mean_grad(const Link& model, bool zero_fill, int vote, const std::string& settings) const;

  void send_object(const Object& object, int dest, int tag) const;
  Object receive_object(std::uint64_t type, int source, int tag) const;
  Object bcast_object(Object object, int root) const;
  /// To the root, or to all where it is -1.
  std::vector<Object> gather_objects(const Object& object, int root) const;
  Object scatter_objects(const std::vector<Object>& objects, std::uint64_t type, int root) const;
  Array reduced(const Array& x, const char* name, int divisor) const;

  std::shared_ptr<Group> group_;
  std::shared_ptr<const Strategy> strategy_;
};

/// The ranks that were started together with this process by `catenary launch` or by MPI (mpiexec, srun), or this
/// process alone. Called by all.
///
/// | name | gradients are exchanged |
/// |---|---|
/// | naive | parameter by parameter |
/// | flat | all in one buffer; by an optimizer in buckets, while backward still computes others |
/// | non_cuda_aware | the same |
/// | pure_nccl | all in one buffer, from card to card by NCCL or RCCL; on other devices as flat |
/// | dummy | not at all: to see what the exchange costs |
///
/// hierarchical, two_dimensional and single_node are flat by other names, and say so once. The first communicator also
/// sets the number of threads, unless a variable of the environment does: the cores that this process is bound to, or
/// its share of the machine's. After random::seed(s) each rank draws other numbers, rank 0 those of one process. Throws
/// ValueError for another name. pure_nccl looks for its library at the first exchange of what lies on a CUDA or HIP
/// device: DeviceError on all ranks where one has none, or where two ranks have one card.
/// (chainermn.create_communicator)
CT_API Communicator create_communicator(const std::string& name = "flat", const CommunicatorOptions& options = {});

/// Ends the job of this process at once, all ranks with it. `why` is told once, behind this rank's name.
/// (global_except_hook, MPI_Abort)
[[noreturn]] CT_API void abort_job(const std::string& why);

}  // namespace catenary::distributed
