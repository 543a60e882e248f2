#include "catenary/backends/cpu/rows/rows.h"

#include <algorithm>
#include <cstdint>
#include <memory>

#include "catenary/backends/cpu/movement/move.h"
#include "catenary/backends/cpu/scratch.h"
#include "catenary/core/parallel.h"

namespace catenary::cpu {

namespace {

using std::int64_t;

constexpr int64_t kShortRow = 48;  // shorter rows are processed side by side, as columns
constexpr int64_t kLongRow = 65536, kRowChunk = 16384;
constexpr int64_t kLanes = 16;  // a tile has a multiple of this many columns
constexpr int64_t kTileElements = 8192, kMostColumns = 512, kFewColumns = 64;
constexpr int64_t kColumnChunk = 512;
constexpr int64_t kWholeTile = 65536, kColumnPart = 32768, kMostParts = 32;  // of a tile of standardized columns
constexpr int64_t kUnits = 8;                                                // with fewer units, rows are divided

/// Chooses the division of the work by the shape alone, so that results do not depend on the number of threads.
void divide(SoftmaxArgs& args) {
  const int64_t all = args.outer * args.inner;
  if (args.inner == 1 && args.n >= kShortRow) {
    args.columns = 1;
    args.chunk = args.n > kLongRow || (all < kUnits && args.n > kRowChunk) ? kRowChunk : args.n;
  } else {
    const int64_t columns = std::clamp(kTileElements / args.n / kFewColumns * kFewColumns, kFewColumns, kMostColumns);
    args.columns = std::min(columns, (all + kLanes - 1) / kLanes * kLanes);
    args.chunk = std::min(args.n, kColumnChunk);
  }
  args.chunks = (args.n + args.chunk - 1) / args.chunk;
}

void run_columns(StandardizeArgs& args, Dtype dtype) {
  const int64_t columns = std::min(args.inner, kStandardizeColumns),
                tiles = args.groups / args.inner * ((args.inner + kStandardizeColumns - 1) / kStandardizeColumns);
  args.chunks =
      args.pieces * columns <= kWholeTile ? 1 : std::clamp<int64_t>(args.pieces * columns / kColumnPart, 1, kMostParts);
  args.chunk = (args.pieces + args.chunks - 1) / args.chunks;
  args.chunks = (args.pieces + args.chunk - 1) / args.chunk;
  const auto parts = std::make_unique_for_overwrite<double[]>(static_cast<std::size_t>(args.chunks * 2 * args.groups));
  args.parts = parts.get();
  const StandardizeColumns unit = CT_SIMD_SELECT(standardize_columns)(dtype);
  const auto run_all = [&](RowPhase phase) {
    parallel_for(tiles * args.chunks, std::max<int64_t>(1, kGrain / 2 / (args.chunk * columns)),
                 [&](int64_t begin, int64_t end) {
                   static thread_local KeptScratch kept;
                   void* const scratch = kept.get<double>(2 * kStandardizeChunk);
                   for (int64_t i = begin; i < end; ++i) unit(args, phase, i, scratch);
                 });
  };
  if (args.chunks == 1) return run_all(RowPhase::whole);
  run_all(RowPhase::partial);
  run_all(RowPhase::finish);
}

void* data_or_null(const View* view) { return view ? view->data() : nullptr; }
int64_t statistic_bytes(const View& x) { return x.dtype == Dtype::float64 ? sizeof(double) : sizeof(float); }

}  // namespace

void run(const SoftmaxRows& p) {
  SoftmaxArgs args{};
  args.op = p.op;
  args.x = p.x.data(), args.gy = data_or_null(p.gy), args.out = data_or_null(p.out);
  args.labels = static_cast<const int64_t*>(data_or_null(p.labels));
  args.log_z = data_or_null(p.log_z), args.losses = data_or_null(p.losses);
  args.factors = data_or_null(p.factors);
  args.n = p.x.shape[p.axis];
  args.inner = args.n == 1 ? 1 : p.x.strides[p.axis];
  args.outer = p.x.size() / (args.n * args.inner);
  divide(args);
  std::unique_ptr<double[]> parts;
  if (args.chunks > 1) {
    parts =
        std::make_unique_for_overwrite<double[]>(static_cast<std::size_t>(args.chunks * 2 * args.outer * args.inner));
    args.parts = parts.get();
  }
  const SoftmaxUnit unit = CT_SIMD_SELECT(softmax_unit)(p.x.dtype);
  const int64_t bytes = softmax_scratch(args) * statistic_bytes(p.x);
  const int64_t grain = std::max<int64_t>(1, kGrain / 4 / (args.chunk * args.columns));
  const auto run_all = [&](RowPhase phase) {
    parallel_for(args.tiles() * args.chunks, grain, [&](int64_t begin, int64_t end) {
      static thread_local KeptScratch kept;
      char* const scratch = kept.get<char>(bytes);
      for (int64_t i = begin; i < end; ++i) unit(args, phase, i, scratch);
    });
  };
  if (args.chunks == 1 || p.op == SoftmaxOp::cross_entropy_back) return run_all(RowPhase::whole);
  run_all(RowPhase::partial);
  run_all(RowPhase::finish);
}

void run(const StandardizeRows& p) {
  StandardizeArgs args{};
  static_cast<RowGroups&>(args) = p;
  args.gammas = p.gamma.size(), args.eps = p.eps;
  args.x = p.x.data(), args.gamma = p.gamma.data(), args.mean = p.mean.data(), args.inv_std = p.inv_std.data();
  args.beta = data_or_null(p.beta), args.var = data_or_null(p.var), args.y = data_or_null(p.y);
  args.gy = data_or_null(p.gy), args.gx = data_or_null(p.gx);
  args.ggamma = data_or_null(p.ggamma), args.gbeta = data_or_null(p.gbeta);
  if (p.are_columns()) return run_columns(args, p.x.dtype);
  int64_t units = p.groups, scratch_elements = 2 * kStandardizeChunk;
  if (p.gy && p.elementwise) {
    const int64_t parts = standardize_parts(p.groups, p.length);
    args.rows_of_part = (p.groups + parts - 1) / parts;
    units = parts;
    scratch_elements += 2 * p.length;
  }
  const StandardizeUnit unit = CT_SIMD_SELECT(standardize_unit)(p.x.dtype);
  const int64_t bytes = scratch_elements * statistic_bytes(p.x);
  parallel_for(units, std::max<int64_t>(1, kGrain / 2 / std::max<int64_t>(1, p.x.size() / units)),
               [&](int64_t begin, int64_t end) {
                 static thread_local KeptScratch kept;
                 char* const scratch = kept.get<char>(bytes);
                 for (int64_t i = begin; i < end; ++i) unit(args, i, scratch);
               });
}

void run(const GeluElements& p) {
  const GeluLoop loop = CT_SIMD_SELECT(gelu_loop)(p.x.dtype);
  const auto bytes = static_cast<int64_t>(itemsize(p.x.dtype));
  const auto at = [&](const View& view, int64_t i) { return static_cast<char*>(view.data()) + i * bytes; };
  parallel_for(p.x.size(), kGrain, [&](int64_t begin, int64_t end) {
    loop(at(p.x, begin), p.gy ? at(*p.gy, begin) : nullptr, at(*p.out, begin), end - begin);
  });
}

void run(const RecurrentStep& p) {
  const auto rows = [](const View* view) {
    return view ? RecurrentArgs::Rows{view->data(), view->strides[0]} : RecurrentArgs::Rows{};
  };
  const RecurrentArgs args{.cell = p.cell,
                           .units = p.before.shape[1],
                           .p = rows(&p.p),
                           .before = rows(&p.before),
                           .q = rows(p.q),
                           .h = rows(p.h),
                           .c = rows(p.c),
                           .gy = rows(p.gy),
                           .gh = rows(p.gh),
                           .gc = rows(p.gc),
                           .dp = rows(p.dp),
                           .dq = rows(p.dq)};
  const RecurrentUnit unit = CT_SIMD_SELECT(recurrent_unit)(p.p.dtype);
  parallel_for(p.before.shape[0], std::max<int64_t>(1, kGrain / 8 / std::max<int64_t>(1, args.units)),
               [&](int64_t begin, int64_t end) {
                 for (int64_t row = begin; row < end; ++row) unit(args, row);
               });
}

void run(const PackedBits& p) {
  constexpr int64_t kBytesOfThread = 16384;
  if (p.bytes.size() == 0) return;
  const int64_t n = p.bits.shape.back(), bytes = p.bytes.shape.back();
  auto *const elements = static_cast<std::uint8_t*>(p.bits.data()), *const packed =
                                                                        static_cast<std::uint8_t*>(p.bytes.data());
  if (p.is_unpacking)
    return parallel_for(p.bytes.size(), kBytesOfThread, [&](int64_t begin, int64_t end) {
      CT_SIMD_SELECT(unpack_bits)(packed + begin, elements + 8 * begin, end - begin, p.is_little);
    });
  parallel_for(p.bytes.size(), kBytesOfThread, [&](int64_t begin, int64_t end) {
    for (int64_t row = begin / bytes; begin < end; ++row) {
      const int64_t first = (begin - row * bytes) * 8, stop = std::min(end, (row + 1) * bytes);
      CT_SIMD_SELECT(pack_bits)
      (elements + row * n + first, packed + begin, std::min(n - first, (stop - begin) * 8), p.is_little);
      begin = stop;
    }
  });
}

}  // namespace catenary::cpu
