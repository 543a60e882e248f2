#pragma once
// Private: the exchange of gradients in buckets.

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

/// Returns names, dtypes and shapes as text, for comparison between ranks.
std::vector<std::string> description(const NamedParameters& parameters);
/// Returns the blocks of quantised weights, which replace parameters, by path, kind and shape.
std::vector<std::pair<std::string, Array>> quantized_blocks(const Link& model);

/// Concatenates arrays of one device into a flat array of a dtype, by one kernel if they are contiguous.
Array packed(const std::vector<Array>& arrays, Dtype dtype);
/// Sets each parameter's grad to a view of its part of the concatenated array.
void give_grads(const NamedParameters& parameters, const Array& whole);

/// Gradients of one dtype and device that are concatenated in one array and exchanged at once.
class Bucket {
 public:
  /// Makes a bucket that is exchanged in `dtype`, or in the parameters' dtype by default.
  Bucket(NamedParameters parameters, std::optional<Dtype> dtype);

  const NamedParameters& parameters() const { return parameters_; }
  /// Returns the bucket's description for messages and for the agreement of ranks.
  const std::string& doing() const { return doing_; }
  /// Returns the dtype of the exchange.
  Dtype dtype() const { return dtype_; }
  /// Concatenates the gradients, in the order of the parameters. A single gradient in host memory that needs no
  /// conversion is not copied and must not change before average() returns.
  void pack(const std::vector<Array>& gradients);
  /// Replaces the gradients by their means over all ranks. Callable from any thread.
  void average(Group& group);
  /// Sets each parameter's gradient to a view of its part of the mean.
  void unpack();

 private:
  NamedParameters parameters_;
  std::string doing_;
  Dtype dtype_;
  std::int64_t size_ = 0;
  Array own_, mean_;  // in host memory; one array if the gradients were concatenated
  const void* data_ = nullptr;
  void* result_ = nullptr;
};

/// Limits in bytes of the first bucket and of later buckets.
struct BucketSizes {
  std::size_t first, others;
};
/// Divides parameters into buckets in their order, depending only on sizes, dtypes and devices. A bucket ends with the
/// parameter that reaches its limit. A large parameter in host memory gets a separate bucket, because copying it would
/// cost more than another message.
std::vector<Bucket> buckets_of(const NamedParameters& parameters, std::optional<Dtype> dtype, const BucketSizes& sizes);

/// An exchange of one bucket in progress.
class BucketExchange {
 public:
  virtual ~BucketExchange() = default;
  /// Waits for the end of the exchange, whether it succeeds or fails.
  virtual void wait() const = 0;
  /// Waits for the agreement of the ranks. Throws ValueError if they exchange different things.
  virtual void check() const = 0;
  /// Sets the gradients to the means. Call it after check().
  virtual void finish() = 0;
};
/// Begins the exchange of a bucket with these gradients, in the order of its parameters.
using BeginExchange = std::function<std::unique_ptr<BucketExchange>(const std::shared_ptr<Bucket>& bucket,
                                                                    const std::vector<Array>& gradients)>;
/// Returns a function that exchanges at once in the calling thread.
BeginExchange exchange_now(Group& group);
/// Returns a function that exchanges in a background thread. Nothing else may use the group.
BeginExchange exchange_in_background(std::shared_ptr<Group> group);

/// One exchange of all gradients of a model. Each bucket starts when its gradients are final. Buckets go in the reverse
/// order of parameters, which is about the order of backward and is equal on all ranks, whichever gradient is final
/// first.
class Flight {
 public:
  Flight(BeginExchange begin, NamedParameters parameters, std::optional<Dtype> dtype, const BucketSizes& sizes);

  /// Returns the number of messages.
  std::size_t buckets() const { return parts_.size(); }
  /// Reports that the gradient of a parameter is final. Ignores other leaves.
  void add(const VariableNode& leaf, const Array& gradient);
  /// Completes the exchange: parameters without an add() contribute their present grad, or zeros.
  void add_rest();
  /// Waits for the exchange after add_rest(), and gives all parameters their mean and the loss scale from the time of
  /// the exchange. Throws ValueError if ranks exchange different things.
  void finish();
  /// Waits for the exchange and discards its results.
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
  std::unordered_map<const VariableNode*, std::pair<std::size_t, std::size_t>> places_;  // part, index in the part
  std::size_t sent_ = 0;
  std::vector<std::pair<Parameter, std::optional<Number>>> loss_scales_;
};

}  // namespace catenary::distributed
