// Products of matrices: by a vendor's library (blas/), or by our own kernels (kernels/matmul.kernel).

#include <algorithm>

#include "catenary/backends/gpu/blas/provider.h"
#include "catenary/backends/gpu/codegen.h"
#include "catenary/backends/gpu/grid.h"
#include "catenary/backends/gpu/libraries.h"
#include "catenary/backends/gpu/micro.h"
#include "catenary/backends/gpu/own_computations.h"
#include "catenary/backends/gpu/primitives.h"
#include "catenary/core/format.h"

namespace catenary::gpu {

namespace {

constexpr std::int64_t kTile = 64, kLargeTile = 128, kRowTile = 64;

/// A product's operands, with the bias.
struct Product {
  View a, b, c;  // [batch, m, k], [batch, k, n], [batch, m, n]
  View bias;
  std::int64_t bias_m = 0, bias_n = 0;  // strides of the bias along both axes
  int flags = 0;

  std::int64_t m() const { return c.shape[1]; }
  std::int64_t n() const { return c.shape[2]; }
  std::int64_t k() const { return a.shape[2]; }
  /// Returns the transposed product: c' = b' a'.
  Product transposed() const {
    const auto swapped = [](View v) {
      std::swap(v.shape[1], v.shape[2]);
      std::swap(v.strides[1], v.strides[2]);
      return v;
    };
    Product p = *this;
    p.a = swapped(b);
    p.b = swapped(a);
    p.c = swapped(c);
    std::swap(p.bias_m, p.bias_n);
    return p;
  }
  bool wide() const {
    for (const View* v : {&a, &b, &c}) {
      std::int64_t reach = v->offset;
      for (int axis = 0; axis < 3; ++axis) reach += (v->shape[axis] + kLargeTile) * std::abs(v->strides[axis]);
      if (reach >= (std::int64_t{1} << 31)) return true;
    }
    return false;
  }
};

Defines product_defines(const Context& context, const Product& p, bool wide) {
  const ops::Reg reg = ops::register_of(p.c.dtype);
  Defines defines = dtype_defines(context, p.c.dtype);
  defines.emplace_back("MEM_IN", memory_type(p.a.dtype));
  defines.emplace_back("LOAD_IN", "LOAD_", dtype_name(p.a.dtype));
  defines.emplace_back("idx", wide ? "i64" : "i32");
  defines.emplace_back("MADD(a, b, c)", reg == ops::Reg::f32   ? "MAD_F32(a, b, c)"
                                        : reg == ops::Reg::f64 ? "MAD_F64(a, b, c)"
                                        : reg == ops::Reg::b   ? "(b8)((c) | ((a) & (b)))"
                                                               : "((a) * (b) + (c))");
  return defines;
}

void add_view(Args& args, const View& v, bool wide) {
  args.add(v.handle).index(v.offset, wide);
  for (int axis = 0; axis < 3; ++axis) args.index(v.shape[axis] == 1 ? 0 : v.strides[axis], wide);
}

OwnKernel panels(Context& context, const Product& given) {
  // pack the smaller matrix into panels
  const Product p = given.n() > given.m() ? given.transposed() : given;
  const bool wide = p.wide();
  Defines defines = product_defines(context, p, wide);
  defines.emplace_back("PANELS", "");
  add_micro(defines, context, p.c.dtype);
  constexpr OwnKernel which = OwnKernel::matmul_panels;
  const Kernel& kernel = context.kernel("matmul", kernel_name(which), defines, micro_text);
  const std::int64_t count = ceil_div(p.n(), micro_width());
  // enough blocks of rows for all cores, but few copies into panels
  const std::int64_t wanted = std::max<std::int64_t>(1, ceil_div(context.info.compute_units * 4, p.c.shape[0] * count));
  const std::int64_t block =
      std::max<std::int64_t>(16 * kMicroRows, ceil_div(ceil_div(p.m(), wanted), kMicroRows) * kMicroRows);
  const std::int64_t blocks = ceil_div(p.m(), block), units = p.c.shape[0] * blocks * count;
  Args args;
  add_view(args, p.a, wide);
  add_view(args, p.b, wide);
  add_view(args, p.c, wide);
  args.add(p.bias.handle).index(p.bias.offset, wide).index(p.bias_m, wide).index(p.bias_n, wide).add(p.flags);
  for (std::int64_t value : {p.m(), p.n(), p.k(), block, blocks, count, units}) args.index(value, wide);
  context.launch(kernel, units, 1, args);
  return which;
}

OwnKernel general(Context& context, const Product& p) {
  const bool wide = p.wide();
  Defines defines = product_defines(context, p, wide);
  OwnKernel which = OwnKernel::matmul_rows;
  std::int64_t tile_m = 1, tile_n = kRowTile;
  int items = 1;
  if (context.loops) {
    defines.emplace_back("ROWS", "");
  } else {
    if (p.a.strides[2] == 1) defines.emplace_back("A_ALONG_K", "");
    if (p.b.strides[1] == 1 && p.b.strides[2] != 1) defines.emplace_back("B_ALONG_K", "");
    which = OwnKernel::matmul_tiles;
    tile_m = tile_n = kTile;
    items = 256;
    // llvmpipe cannot keep 64 sums in registers
    if (!context.is_llvmpipe && ops::register_of(p.c.dtype) == ops::Reg::f32 && std::min(p.m(), p.n()) >= kTile / 2) {
      // use the large tile if there are enough tiles for the whole device
      const std::int64_t large = p.c.shape[0] * ceil_div(p.m(), kLargeTile) * ceil_div(p.n(), kLargeTile);
      which = OwnKernel::matmul_blocks;
      tile_m = tile_n = large >= context.info.compute_units ? kLargeTile : kTile;
      items = static_cast<int>(tile_m * tile_n / 64);
      defines.emplace_back("BLOCKS", "");
      defines.emplace_back("TILE", tile_m);
      defines.emplace_back("ITEMS", items);
    } else {
      defines.emplace_back("TILES", "");
    }
  }
  const Kernel& kernel = context.kernel("matmul", kernel_name(which), defines);
  const std::int64_t tiles_m = ceil_div(p.m(), tile_m), tiles_n = ceil_div(p.n(), tile_n);
  const std::int64_t units = p.c.shape[0] * tiles_m * tiles_n;
  Args args;
  add_view(args, p.a, wide);
  add_view(args, p.b, wide);
  add_view(args, p.c, wide);
  args.add(p.bias.handle).index(p.bias.offset, wide).index(p.bias_n, wide).add(p.flags);
  for (std::int64_t value : {p.m(), p.n(), p.k(), tiles_m, tiles_n, units}) args.index(value, wide);
  const std::int64_t most = context.loops ? context.info.compute_units * 8 : kMostGroups;
  context.launch(kernel, std::min(units, most), items, args);
  return which;
}

}  // namespace

template <>
void compute(Context& context, const Matmul& product) {
  const auto& [a, b, c, bias, accumulate] = product;
  if (a.dtype == Dtype::bfloat16 && c.dtype == Dtype::float32)
    fail<DtypeError>("matmul: {} does not multiply bfloat16 into float32", context.info.name);
  if (c.size() == 0) return;
  Product p{a, b, c, {}, 0, 0, 0};
  if (accumulate) p.flags |= 1;
  if (bias) {
    p.flags |= 2;
    p.bias = *bias;
    p.bias_n = bias->strides.empty() ? 0 : bias->strides[0];
  }
  // if all products share b, and the a and c of the batch are stacked rows, compute a single taller product
  if (p.b.strides[0] == 0 && p.a.strides[0] == p.m() * p.a.strides[1] && p.c.strides[0] == p.m() * p.c.strides[1] &&
      p.c.shape[0] > 1) {
    p.a.shape = {1, p.c.shape[0] * p.m(), p.k()};
    p.c.shape = {1, p.a.shape[1], p.n()};
    p.b.shape[0] = 1;
  }
  Libraries<Gemm>& libraries = libraries_for<Gemm>(context);
  const auto gemm = as_gemm({p.a, p.b, p.c, bias, accumulate});
  if (gemm)
    if (const std::string* library = libraries.run(*gemm)) return context.submitted_by(*library);
  libraries.count_own();
  const bool in_panels = context.loops && (c.dtype == Dtype::float32 || c.dtype == Dtype::float64);
  const OwnKernel kernel = in_panels ? panels(context, p) : general(context, p);
  context.part<OwnComputations>().note(kernel, a.dtype, c.dtype,
                                       !is_floating(a.dtype) ? OwnBecause::dtype
                                       : gemm                ? OwnBecause::none_took_it
                                                             : OwnBecause::form);
}

}  // namespace catenary::gpu
