#include "catenary/distributed/gradients.h"

#include <algorithm>
#include <functional>
#include <future>
#include <utility>

#include "catenary/array/creation.h"
#include "catenary/array/elementwise_core.h"
#include "catenary/array/lazy.h"
#include "catenary/core/format.h"
#include "catenary/distributed/background.h"
#include "catenary/links/quantized.h"
#include "catenary/ops/op_names.h"

namespace catenary::distributed {

namespace {

/// Copying more than this takes longer than agreeing on another message.
constexpr std::size_t kLarge = std::size_t{1} << 18;

Dtype dtype_of(const NamedParameters& parameters, std::optional<Dtype> dtype) {
  return dtype.value_or(parameters.front().second.dtype());
}

}  // namespace

std::vector<std::string> description(const NamedParameters& parameters) {
  std::vector<std::string> lines;
  for (const auto& [name, p] : parameters)
    lines.push_back(p.is_initialized() ? fmt::format("{} {} {}", name, p.dtype(), p.shape())
                                       : fmt::format("{} not initialised", name));
  return lines;
}

std::vector<std::pair<std::string, Array>> quantized_blocks(const Link& model) {
  std::vector<std::pair<std::string, Array>> all;
  model.for_each_link([&](const std::string& path, const Link& link) {
    const auto* const of = dynamic_cast<const links::QuantizableW*>(&link);
    if (const auto w = of ? of->quantized() : nullptr)
      all.emplace_back(
          fmt::format("{}/W {} {}", path == "/" ? "" : path, quantization_info(w->kind()).name, w->shape()),
          w->blocks());
  });
  return all;
}

Array packed(const std::vector<Array>& arrays, Dtype dtype) {
  std::int64_t total = 0;
  for (const Array& a : arrays) total += a.size();
  const Array whole = Array::empty({total}, dtype, arrays.front().device());
  std::vector<std::vector<Array>> segments;
  std::int64_t begin = 0;
  for (const Array& a : arrays) {
    if (a.size() > 0) segments.push_back({whole.as_strided(a.shape(), contiguous_strides(a.shape()), begin), a});
    begin += a.size();
  }
  // as operations of one program rather than copyto, to launch one kernel for all arrays
  lazy::for_each_segment(segments, [](const std::vector<Array>& segment) {
    const LazyOperand from{.array = &segment[1], .as = segment[1].dtype()};
    lazy::apply_into(segment[0], ops::Op::cast, {&from, 1}, segment[0].dtype());
  });
  return whole;
}

void give_grads(const NamedParameters& parameters, const Array& whole) {
  std::int64_t begin = 0;
  for (const auto& [name, p] : parameters) {
    p.set_grad(whole.as_strided(p.shape(), contiguous_strides(p.shape()), begin));
    begin += p.size();
  }
}

Bucket::Bucket(NamedParameters parameters, std::optional<Dtype> dtype)
    : parameters_(std::move(parameters)), dtype_(dtype_of(parameters_, dtype)) {
  for (const auto& entry : parameters_) size_ += entry.second.size();
  const std::string lines = fmt::format("{}", fmt::join(description(parameters_), "\n"));
  doing_ = parameters_.size() == 1
               ? fmt::format("mean of the gradients of {}", lines)
               : fmt::format("mean of {} gradients from {} to {} ({:x})", parameters_.size(), parameters_.front().first,
                             parameters_.back().first, std::hash<std::string>()(lines));
}

void Bucket::pack(const std::vector<Array>& gradients) {
  const Array& first = gradients.front();
  const bool as_it_is =
      gradients.size() == 1 && first.device() == Device() && first.dtype() == dtype_ && first.is_contiguous();
  own_ = as_it_is ? first : packed(gradients, dtype_).to_device(Device());
  mean_ = as_it_is ? Array::empty({size_}, dtype_, Device()) : own_;
  data_ = size_ > 0 ? own_.raw_data() : nullptr;
  result_ = size_ > 0 ? mean_.raw_mutable_data() : nullptr;
}

void Bucket::average(Group& group) { group.allreduce(doing_, data_, result_, size_, dtype_, group.size()); }

void Bucket::unpack() {
  const Parameter& first = parameters_.front().second;
  give_grads(parameters_, mean_.to_device(first.device()).astype(first.dtype()));
  own_ = mean_ = Array();
}

std::vector<Bucket> buckets_of(const NamedParameters& parameters, std::optional<Dtype> dtype,
                               const BucketSizes& sizes) {
  std::vector<NamedParameters> whole;
  std::vector<std::pair<std::size_t, std::size_t>> open;  // index of the bucket, bytes in it
  for (const auto& entry : parameters) {
    const Parameter& p = entry.second;
    const std::size_t bytes = static_cast<std::size_t>(p.size()) * itemsize(dtype.value_or(p.dtype()));
    if (bytes >= kLarge && p.device() == Device() && dtype.value_or(p.dtype()) == p.dtype()) {
      whole.push_back({entry});
      continue;
    }
    auto found = std::find_if(open.begin(), open.end(), [&](const auto& o) {
      const Parameter& first = whole[o.first].front().second;
      return first.dtype() == p.dtype() && first.device() == p.device();
    });
    if (found == open.end()) {
      found = open.insert(open.end(), {whole.size(), 0});
      whole.emplace_back();
    }
    whole[found->first].push_back(entry);
    found->second += bytes;
    if (found->second >= (found->first == 0 ? sizes.first : sizes.others)) open.erase(found);
  }
  std::vector<Bucket> buckets;
  for (NamedParameters& of_one : whole) buckets.emplace_back(std::move(of_one), dtype);
  return buckets;
}

namespace {

/// Exchanges through host memory.
class HostExchange final : public BucketExchange {
 public:
  HostExchange(std::shared_ptr<Bucket> bucket, std::shared_future<void> average)
      : bucket_(std::move(bucket)), average_(std::move(average)) {}
  void wait() const override {
    if (average_.valid()) average_.wait();
  }
  void check() const override {
    if (average_.valid()) average_.get();
  }
  void finish() override { bucket_->unpack(); }

 private:
  std::shared_ptr<Bucket> bucket_;  // shared with the thread, because the exchange may be abandoned
  std::shared_future<void> average_;
};

}  // namespace

BeginExchange exchange_now(Group& group) {
  return [&group](const std::shared_ptr<Bucket>& bucket, const std::vector<Array>& gradients) {
    bucket->pack(gradients);
    bucket->average(group);
    return std::make_unique<HostExchange>(bucket, std::shared_future<void>());
  };
}

BeginExchange exchange_in_background(std::shared_ptr<Group> group) {
  return [group = std::move(group), failed = std::make_shared<bool>(false)](  // used by the thread only
             const std::shared_ptr<Bucket>& bucket, const std::vector<Array>& gradients) {
    bucket->pack(gradients);
    return std::make_unique<HostExchange>(bucket, Background::thread().start([group, bucket, failed] {
      if (std::exchange(*failed, true)) return;  // on all ranks, since they detect a difference together
      bucket->average(*group);
      *failed = false;
    }));
  };
}

Flight::Flight(BeginExchange begin, NamedParameters parameters, std::optional<Dtype> dtype, const BucketSizes& sizes)
    : begin_(std::move(begin)) {
  std::reverse(parameters.begin(), parameters.end());
  for (Bucket& bucket : buckets_of(parameters, dtype, sizes)) {
    const std::size_t n = bucket.parameters().size();
    for (std::size_t i = 0; i < n; ++i) places_[&bucket.parameters()[i].second.node()] = {parts_.size(), i};
    parts_.push_back({std::make_shared<Bucket>(std::move(bucket)), std::vector<Array>(n), n});
  }
}

void Flight::add(const VariableNode& leaf, const Array& gradient) {
  const auto found = places_.find(&leaf);
  if (found == places_.end()) return;
  Part& part = parts_[found->second.first];
  Array& here = part.gradients[found->second.second];
  if (here.defined()) return;
  here = gradient;
  --part.missing;
  while (sent_ < parts_.size() && parts_[sent_].missing == 0) send(parts_[sent_]);
}

void Flight::add_rest() {
  for (const Part& part : parts_)
    for (const auto& entry : part.bucket->parameters())
      loss_scales_.emplace_back(entry.second, entry.second.loss_scale());
  while (sent_ < parts_.size()) {
    Part& part = parts_[sent_];
    for (std::size_t i = 0; i < part.gradients.size(); ++i) {
      if (part.gradients[i].defined()) continue;
      const Parameter& p = part.bucket->parameters()[i].second;
      if (!p.grad().defined()) p.zerograd();
      part.gradients[i] = p.grad();
    }
    send(part);
  }
}

void Flight::send(Part& part) {
  part.exchange = begin_(part.bucket, part.gradients);
  part.gradients.clear();
  ++sent_;
}

void Flight::finish() {
  for (const Part& part : parts_) part.exchange->check();
  for (const Part& part : parts_) part.exchange->finish();
  for (const auto& [p, scale] : loss_scales_) p.set_loss_scale(scale);
}

void Flight::wait() const {
  for (const Part& part : parts_)
    if (part.exchange) part.exchange->wait();
}

}  // namespace catenary::distributed
