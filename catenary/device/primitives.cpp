#include "catenary/device/primitives.h"

#include "catenary/core/format.h"

namespace catenary {

namespace {

/// Returns the bytes that a program reads and writes. An axis of stride 0 counts once.
std::int64_t bytes_of(const ops::Program& program) {
  std::int64_t total = 0;
  const auto add = [&](const ops::Access& access) {
    std::int64_t elements = 1;
    for (int axis = 0; axis < program.shape.size(); ++axis)
      if (access.strides[axis] != 0) elements *= program.shape[axis];
    total += elements * static_cast<std::int64_t>(itemsize(access.dtype));
  };
  for (const ops::Access& load : program.loads) add(load);
  for (const ops::Store& store : program.stores) add(store.to);
  return total;
}

Dtypes dtypes_of(const ops::Program& program) {
  Dtypes all;
  for (const ops::Access& load : program.loads) all.add(load.dtype);
  for (const ops::Store& store : program.stores) all.add(store.to.dtype);
  return all;
}

}  // namespace

std::string Dtypes::str() const {
  std::string names;
  for (int d = 0; d < kDtypes; ++d) {
    if (!(bits_ >> d & 1)) continue;
    if (!names.empty()) names += "+";
    names += dtype_name(static_cast<Dtype>(d));
  }
  return names;
}

namespace primitives {

Work Run::work() const { return {"elementwise", program.shape, bytes_of(program), dtypes_of(program)}; }

Work Reduce::work() const {
  Dtypes dtypes = dtypes_of(program);
  dtypes.add(spec.out.dtype);
  return {ops::info(spec.op).name, program.shape, bytes_of(program) + spec.out.nbytes(), dtypes};
}

Work RunSegments::work() const {
  std::int64_t elements = 0, element_bytes = 0;
  for (const Segment& segment : segments) elements += segment.size;
  for (const ops::Access& load : program.loads) element_bytes += static_cast<std::int64_t>(itemsize(load.dtype));
  for (const ops::Store& store : program.stores) element_bytes += static_cast<std::int64_t>(itemsize(store.to.dtype));
  return {"segments", {elements}, elements * element_bytes, dtypes_of(program)};
}

void ArgReduce::check() const {
  if (x.shape[axis] == 0) fail<IndexError>("arg_reduce: axis {} of shape {} has no elements", axis, x.shape);
}

Dtype Matmul::accumulator() const { return is_16bit_float(c.dtype) ? Dtype::float32 : c.dtype; }

void Matmul::check() const {
  const bool widens = ((a.dtype == Dtype::int8 || a.dtype == Dtype::uint8) && c.dtype == Dtype::int32) ||
                      (a.dtype == Dtype::bfloat16 && c.dtype == Dtype::float32);
  if (a.dtype != b.dtype || (a.dtype != c.dtype && !widens))
    fail<DtypeError>(
        "matmul: no device multiplies {} by {} into {}; expected one dtype, or 8-bit integers into int32, or bfloat16 "
        "into float32",
        a.dtype, b.dtype, c.dtype);
  if (bias && bias->dtype != c.dtype)
    fail<DtypeError>("matmul: the bias must have the result's dtype, {}, not {}", c.dtype, bias->dtype);
}

void Convolution::check() const {
  const bool widens =
      pass == ConvolutionPass::forward && !bias && x.dtype == Dtype::bfloat16 && y.dtype == Dtype::float32;
  if (x.dtype != w.dtype || (x.dtype != y.dtype && !widens) || !is_floating(x.dtype))
    fail<DtypeError>(
        "convolution: x, W and y must have one floating dtype, or be bfloat16 into float32 forward, not {}, {} and {}",
        x.dtype, w.dtype, y.dtype);
  if (bias && bias->dtype != x.dtype)
    fail<DtypeError>("convolution: the bias must be {} as x, not {}", x.dtype, bias->dtype);
}

Work RunText::work() const {
  std::int64_t bytes = 0;
  Dtypes dtypes;
  for (const TextArgument& argument : arguments) {
    if (!argument.view) continue;
    bytes += argument.view->nbytes();
    dtypes.add(argument.view->dtype);
  }
  return {kernel, {units}, bytes, dtypes};
}

void Linalg::check() const {
  if (a.dtype != Dtype::float32 && a.dtype != Dtype::float64)
    fail<DtypeError>("linalg: float32 or float64 is needed, {} was given", a.dtype);
}

}  // namespace primitives

}  // namespace catenary
