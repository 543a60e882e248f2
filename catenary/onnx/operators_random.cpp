// Operators that draw random numbers.

#include <cmath>
#include <cstring>

#include "catenary/array/creation.h"
#include "catenary/array/elementwise_core.h"
#include "catenary/array/manipulation.h"
#include "catenary/array/random.h"
#include "catenary/array/reduction.h"
#include "catenary/onnx/operators.h"

namespace catenary::onnx {

namespace {

/// Where numbers are drawn from: the thread's generator, or a new one if the node has a seed.
class Source {
 public:
  explicit Source(const Call& c) : c_(c), seeded_(c.find("seed") != nullptr) {
    const auto seed = static_cast<float>(c.real("seed", 0.0));
    std::uint32_t bits = 0;
    std::memcpy(&bits, &seed, sizeof bits);
    generator_.seed = bits;
  }
  random::RandomOptions options(Dtype dtype) { return {dtype, c_.device(), seeded_ ? &generator_ : nullptr}; }

 private:
  const Call& c_;
  bool seeded_;
  random::Generator generator_;
};

Dtype wanted_dtype(const Call& c, Dtype otherwise) {
  return c.find("dtype") ? dtype_to(c, c.integer("dtype")) : otherwise;
}

/// Returns the attribute `shape`, or the shape of the input.
Shape wanted_shape(const Call& c) {
  if (c.has(0)) return c.x(0).shape();
  const std::optional<Integers> shape = c.list("shape");
  if (!shape) c.fail("attribute 'shape' is missing");
  return Shape(*shape);
}

Dtype floating_dtype(const Call& c) {
  const Dtype dtype = wanted_dtype(c, c.has(0) ? c.x(0).dtype() : Dtype::float32);
  if (!is_floating(dtype)) c.fail("random numbers of {} are not supported", dtype);
  return dtype;
}

Values uniform(const Call& c) {
  Source source(c);
  const double low = c.real("low", 0.0), high = c.real("high", 1.0);
  return {Variable(random::uniform(low, high, wanted_shape(c), source.options(floating_dtype(c))))};
}

Values normal(const Call& c) {
  Source source(c);
  const double mean = c.real("mean", 0.0), scale = c.real("scale", 1.0);
  return {Variable(random::normal(mean, scale, wanted_shape(c), source.options(floating_dtype(c))))};
}

Values bernoulli(const Call& c) {
  Source source(c);
  const Array p = c.array(0);
  const Array draws = random::random(p.shape(), source.options(p.dtype()));
  return {Variable(less(draws, p).astype(wanted_dtype(c, p.dtype())))};
}

/// Draws classes by the Gumbel maximum of log probabilities.
Values multinomial(const Call& c) {
  Source source(c);
  const Array x = c.array(0);
  const std::int64_t count = c.integer("sample_size", 1);
  if (x.ndim() != 2 || x.shape(1) < 1 || count < 0) c.fail("{} samples of an array of shape {}", count, x.shape());
  const Array noise = random::gumbel(0.0, 1.0, Shape{x.shape(0), count, x.shape(1)}, source.options(Dtype::float32));
  const Array scores = add(x.astype(Dtype::float32).reshape({x.shape(0), 1, x.shape(1)}), noise);
  return {Variable(argmax(scores, 2).astype(wanted_dtype(c, Dtype::int32)))};
}

}  // namespace

std::span<const Operator> random_operators() {
  static const Operator rows[] = {
      {"RandomUniform", 1, uniform},   {"RandomUniformLike", 1, uniform}, {"RandomNormal", 1, normal},
      {"RandomNormalLike", 1, normal}, {"Bernoulli", 15, bernoulli},      {"Multinomial", 7, multinomial},
  };
  return rows;
}

}  // namespace catenary::onnx
