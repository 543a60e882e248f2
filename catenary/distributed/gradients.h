#pragma once
// Private: gradients on their way to the other ranks, in buckets.

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "catenary/autograd/parameter.h"
#include "catenary/distributed/collectives.h"
#include "catenary/links/link.h"

namespace catenary::distributed {

using NamedParameters = std::vector<std::pair<std::string, Parameter>>;

/// Names, dtypes and shapes, for ranks to compare.
std::vector<std::string> description(const NamedParameters& parameters);
/// The blocks of quantised weights, which are in place of parameters, under paths with kinds and shapes.
std::vector<std::pair<std::string, Array>> quantized_blocks(const Link& model);

/// Arrays of one device as one of a dtype, one after the other, by one kernel where they lie in C order.
Array packed(const std::vector<Array>& arrays, Dtype dtype);
/// The way back: each parameter's grad becomes a view of its part of the array.
void give_grads(const NamedParameters& parameters, const Array& whole);

/// Gradients of one dtype and device that are exchanged at once, one after the other in one array.
class Bucket {
 public:
  /// Exchanged in their own dtype or in another.
  Bucket(NamedParameters parameters, std::optional<Dtype> dtype);

  const NamedParameters& parameters() const { return parameters_; }
  /// What messages and ranks call it.
  const std::string& doing() const { return doing_; }
  /// As which its gradients are exchanged.
  Dtype dtype() const { return dtype_; }
  /// Takes their gradients, in the order of the parameters: a single one that lies in the host's memory as it is sent
  /// stays there, and must not change before average() is over; all others are put behind each other.
  void pack(const std::vector<Array>& gradients);
  /// Makes them the mean of all ranks', in any thread.
  void average(Group& group);
  /// Gives each parameter its part of the mean. All are views of one array then.
  void unpack();

 private:
  NamedParameters parameters_;
  std::string doing_;
  Dtype dtype_;
  std::int64_t size_ = 0;
  Array own_, mean_;  // in the host's memory; the same where gradients were put together
  const void* data_ = nullptr;
  void* result_ = nullptr;
};

/// The limit in bytes of the first bucket and of the others.
struct BucketSizes {
  std::size_t first, others;
};
/// Parameters divided in their order, by sizes, dtypes and devices alone. A bucket ends with the parameter that brings
/// it to its limit; large parameters in the host's memory have one of their own, as putting them behind others would
/// cost more than a message.
std::vector<Bucket> buckets_of(const NamedParameters& parameters, std::optional<Dtype> dtype, const BucketSizes& sizes);

/// The exchange of one bucket, which has begun.
class BucketExchange {
 public:
  virtual ~BucketExchange() = default;
  /// Waits for its end, whatever that is.
  virtual void wait() const = 0;
  /// Throws ValueError where ranks exchange different things; waits until that is known.
  virtual void check() const = 0;
  /// Gives the parameters their means, after check().
  virtual void finish() = 0;
};
/// Begins it with these gradients, in the order of the bucket's parameters.
using BeginExchange = std::function<std::unique_ptr<BucketExchange>(const std::shared_ptr<Bucket>& bucket,
                                                                    const std::vector<Array>& gradients)>;
/// At once, in this thread.
BeginExchange exchange_now(Group& group);
/// By a thread in the background; nothing else may use the group.
BeginExchange exchange_in_background(std::shared_ptr<Group> group);

/// One exchange of all gradients of a model: buckets go as soon as their gradients are final, in the reverse order of
/// parameters, which is about that in which backward finds them. The order is the same on all ranks, whatever is final
/// first.
class Flight {
 public:
  Flight(BeginExchange begin, NamedParameters parameters, std::optional<Dtype> dtype, const BucketSizes& sizes);

  /// How many messages of gradients there are.
  std::size_t buckets() const { return parts_.size(); }
  /// The gradient of a parameter is final. Other leaves count for nothing.
  void add(const VariableNode& leaf, const Array& gradient);
  /// All are: those that add() was not called with are the parameters' grads, or zeros where there is none.
  void add_rest();
  /// Waits for the exchange, which add_rest() completes; gives all parameters the means and the loss scale that they
  /// had then. Throws ValueError where ranks exchange different things.
  void finish();
  /// Waits for the exchange, and gives nobody anything.
  void wait() const;

 private:
  struct Part {
    std::shared_ptr<Bucket> bucket;
    std::vector<Array> gradients;
    std::size_t missing;
    std::unique_ptr<BucketExchange> exchange = {};
  };
  void send(Part& part);

  BeginExchange begin_;
  std::vector<Part> parts_;
  std::unordered_map<const VariableNode*, std::pair<std::size_t, std::size_t>> places_;  // part, number there
  std::size_t sent_ = 0;
  std::vector<std::pair<Parameter, std::optional<Number>>> loss_scales_;
};

}  // namespace catenary::distributed
