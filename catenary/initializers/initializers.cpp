#include "catenary/initializers/initializers.h"

#include <cmath>

#include "catenary/array/creation.h"
#include "catenary/array/elementwise_core.h"
#include "catenary/array/linalg.h"
#include "catenary/array/manipulation.h"
#include "catenary/array/random.h"
#include "catenary/core/format.h"

namespace catenary::initializers {

std::pair<std::int64_t, std::int64_t> get_fans(const Shape& shape) {
  if (shape.size() < 2)
    fail<ValueError>("an initializer that scales by fans needs a weight of at least 2 axes, got shape {}", shape);
  std::int64_t receptive = 1;
  for (int axis = 2; axis < shape.size(); ++axis) receptive *= shape[axis];
  return {shape[1] * receptive, shape[0] * receptive};
}

namespace {

void fill_uniform(const Array& a, double scale) {
  copyto(a, random::uniform(-scale, scale, a.shape(), {.dtype = a.dtype(), .device = a.device()}));
}
void fill_normal(const Array& a, double scale) {
  copyto(a, random::normal(0.0, scale, a.shape(), {.dtype = a.dtype(), .device = a.device()}));
}
/// Copies values that the host computed in float64, which some devices do not support.
void copy_from_host(const Array& a, const Array& values) { copyto(a, values.astype(a.dtype()).to_device(a.device())); }
double fan_in(const Array& a) { return static_cast<double>(get_fans(a.shape()).first); }
double fan_sum(const Array& a) {
  const auto [in, out] = get_fans(a.shape());
  return static_cast<double>(in + out);
}

}  // namespace

Constant Zero(std::optional<Dtype> dtype) { return Constant(0, dtype); }
Constant One(std::optional<Dtype> dtype) { return Constant(1, dtype); }
Constant NaN(std::optional<Dtype> dtype) { return Constant(std::nan(""), dtype); }
void Constant::operator()(const Array& a) const { a.fill(value_); }

void Identity::operator()(const Array& a) const {
  if (a.ndim() != 2 || a.shape(0) != a.shape(1))
    fail<ValueError>("Identity: a square matrix is needed, got shape {}", a.shape());
  const DeviceScope scope(a.device());
  copyto(a, eye(a.shape(0), a.shape(0), 0, a.dtype()) * scale_);
}

Orthogonal::Orthogonal(double scale, std::optional<Dtype> dtype, std::string mode)
    : Initializer(dtype), scale_(scale), mode_(std::move(mode)) {
  if (mode_ != "auto" && mode_ != "projection" && mode_ != "embedding" && mode_ != "basis")
    fail<ValueError>("Orthogonal: mode must be auto, projection, embedding or basis, got '{}'", mode_);
}

void Orthogonal::operator()(const Array& a) const {
  if (a.size() == 0) fail<ValueError>("Orthogonal: a weight of shape {} has no elements", a.shape());
  if (a.ndim() == 0) {
    a.fill(scale_ * (random::random({}).item<double>() < 0.5 ? -1 : 1));
    return;
  }
  const std::int64_t out = a.shape(0), in = a.size() / out;
  if ((mode_ == "projection" && out > in) || (mode_ == "embedding" && out < in) || (mode_ == "basis" && out != in))
    fail<ValueError>("Orthogonal: mode {} does not fit a weight of {} outputs and {} inputs", mode_, out, in);
  // Orthonormalizes the rows of the smaller side by Gram-Schmidt, twice, in float64: the Q of a QR decomposition whose
  // R has a positive diagonal, hence uniformly distributed over orthogonal matrices.
  const std::int64_t rows = std::min(out, in), columns = std::max(out, in);
  std::vector<double> q =
      random::standard_normal({rows, columns}, {.dtype = Dtype::float64, .device = Device()}).to_vector<double>();
  for (std::int64_t i = 0; i < rows; ++i) {
    double* row = q.data() + i * columns;
    for (int pass = 0; pass < 2; ++pass) {
      for (std::int64_t j = 0; j < i; ++j) {
        const double* other = q.data() + j * columns;
        double dot = 0;
        for (std::int64_t k = 0; k < columns; ++k) dot += row[k] * other[k];
        for (std::int64_t k = 0; k < columns; ++k) row[k] -= dot * other[k];
      }
    }
    double norm = 0;
    for (std::int64_t k = 0; k < columns; ++k) norm += row[k] * row[k];
    for (std::int64_t k = 0; k < columns; ++k) row[k] /= std::sqrt(norm);
  }
  const DeviceScope host{Device()};
  const Array orthogonal = Array::from_host(q.data(), {rows, columns}, Dtype::float64) * scale_;
  copy_from_host(a, (out <= in ? orthogonal : orthogonal.T()).reshape(a.shape()));
}

void Uniform::operator()(const Array& a) const { fill_uniform(a, scale_); }
void Normal::operator()(const Array& a) const { fill_normal(a, scale_); }
void LeCunUniform::operator()(const Array& a) const { fill_uniform(a, scale_ * std::sqrt(3 / fan_in(a))); }
void LeCunNormal::operator()(const Array& a) const { fill_normal(a, scale_ * std::sqrt(1 / fan_in(a))); }
void GlorotUniform::operator()(const Array& a) const { fill_uniform(a, scale_ * std::sqrt(6 / fan_sum(a))); }
void GlorotNormal::operator()(const Array& a) const { fill_normal(a, scale_ * std::sqrt(2 / fan_sum(a))); }
void HeUniform::operator()(const Array& a) const { fill_uniform(a, scale_ * std::sqrt(6 / fan_in(a))); }

HeNormal::HeNormal(double scale, std::optional<Dtype> dtype, std::string fan_option)
    : Initializer(dtype), scale_(scale), fan_option_(std::move(fan_option)) {
  if (fan_option_ != "fan_in" && fan_option_ != "fan_out")
    fail<ValueError>("HeNormal: fan_option must be fan_in or fan_out, got '{}'", fan_option_);
}
void HeNormal::operator()(const Array& a) const {
  const auto [in, out] = get_fans(a.shape());
  fill_normal(a, scale_ * std::sqrt(2 / static_cast<double>(fan_option_ == "fan_in" ? in : out)));
}

namespace {

/// One axis of a linear interpolation kernel of size k.
std::vector<double> triangle(std::int64_t k) {
  const double factor = static_cast<double>((k + 1) / 2), centre = k % 2 == 1 ? factor - 1 : factor - 0.5;
  std::vector<double> values;
  for (std::int64_t i = 0; i < k; ++i) values.push_back(1 - std::abs(static_cast<double>(i) - centre) / factor);
  return values;
}

void fill_linear(const Array& a, bool normalize, const char* what) {
  const int axes = a.ndim() - 2;
  bool fits = axes >= 1 && (a.shape(0) == a.shape(1) || a.shape(1) == 1);
  for (int axis = 0; fits && axis < axes; ++axis) fits = a.shape(2 + axis) == a.shape(2);
  if (!fits)
    fail<ValueError>("{}: a weight (n, n, k, …) or (n, 1, k, …) of kernels with equal sides is needed, got shape {}",
                     what, a.shape());
  const DeviceScope host{Device()};
  const std::vector<double> t = triangle(a.shape(2));
  const Array line = Array::from_host(t.data(), {a.shape(2)}, Dtype::float64);
  Array kernel = line;
  for (int axis = 1; axis < axes; ++axis) kernel = expand_dims(kernel, -1) * line;
  if (normalize) kernel = kernel / kernel.sum();
  // connects channel i to channel i, or is one kernel per channel
  Array same = a.shape(1) == 1 ? ones({a.shape(0), 1}, Dtype::float64) : eye(a.shape(0), a.shape(0), 0, Dtype::float64);
  for (int axis = 0; axis < axes; ++axis) same = expand_dims(same, -1);
  copy_from_host(a, same * kernel);
}

}  // namespace

void UpsamplingDeconvFilter::operator()(const Array& a) const { fill_linear(a, false, "UpsamplingDeconvFilter"); }
void DownsamplingConvFilter::operator()(const Array& a) const { fill_linear(a, true, "DownsamplingConvFilter"); }

}  // namespace catenary::initializers
