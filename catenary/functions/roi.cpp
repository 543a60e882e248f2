#include "catenary/functions/roi.h"

#include <limits>

#include "catenary/array/axes.h"
#include "catenary/array/manipulation.h"
#include "catenary/array/run_text.h"
#include "catenary/autograd/attributes.h"
#include "catenary/autograd/defined.h"
#include "catenary/autograd/operators.h"
#include "catenary/core/format.h"
#include "catenary/functions/labels.h"
#include "catenary/functions/linear_map.h"
#include "catenary/functions/signature_row.h"

namespace catenary::functions {

using catenary::detail::empty_as;
using catenary::detail::reads;
using catenary::detail::run_text;
using catenary::detail::writes;

namespace {

constexpr double kNothing = -std::numeric_limits<double>::infinity();

/// Checked regions in the form of kernels/roi.kernel.
struct Regions {
  Array rois, images;  // C-ordered, of x's dtype and of int32
  Shape extents;       // of x: n, c, h, w
  Shape bins;          // rows and columns
  double scale;

  std::int64_t count() const { return rois.shape(0); }
  Array new_result(const Array& x) const { return empty_as(x, {count(), extents[1], bins[0], bins[1]}); }
  /// Zeros to which gradients are added.
  Array zero_images(const Array& gy) const {
    const Array gx = empty_as(gy, extents);
    gx.fill(0);
    return gx;
  }
  /// The number of work-items of the backward kernels.
  std::int64_t planes() const { return extents[0] * extents[1]; }
};
CT_FIELDS(Regions, rois, images, extents, bins, scale)

/// The largest pixel of each bin.
struct LargestPixels {
  static constexpr const char *kName = "ROIMaxPooling2DPick", *kBackName = "ROIMaxPooling2DGrad";
  Regions at;
  bool with_last;  // regions include their last pixels
  double empty;    // value of bins without pixels
  Array places = {};

  const char* max_name() const { return with_last ? "ROIPooling2D" : "ROIMaxPooling2D"; }
  void find(const Array& x, const Array& y) const {
    run_text("roi", "max_pool", y.size(),
             {reads(x), reads(at.rois), reads(at.images), writes(y), writes(places), at.extents, at.bins, with_last,
              x.strides(), y.strides(), at.scale, empty});
  }

  Array forward(const Array& x) const {
    const Array y = at.new_result(x);
    run_text("roi", "max_pool_pick", y.size(),
             {reads(x), reads(at.images), reads(places), writes(y), at.extents[1], at.extents[3], at.bins, x.strides(),
              y.strides()});
    return y;
  }
  Array back(const Array& gy) const {
    const Array gx = at.zero_images(gy);
    run_text("roi", "max_pool_back", at.planes(),
             {reads(gy), reads(at.images), reads(places), writes(gx), at.count(), at.extents[1], at.extents[3], at.bins,
              gy.strides(), gx.strides()});
    return gx;
  }
};
CT_FIELDS(LargestPixels, at, with_last, empty, places)

struct AveragePool {
  static constexpr const char *kName = "ROIAveragePooling2D", *kBackName = "ROIAveragePooling2DGrad";
  Regions at;

  Array forward(const Array& x) const {
    const Array y = at.new_result(x);
    run_text("roi", "average_pool", y.size(),
             {reads(x), reads(at.rois), reads(at.images), writes(y), at.extents, at.bins, x.strides(), y.strides(),
              at.scale});
    return y;
  }
  Array back(const Array& gy) const {
    const Array gx = at.zero_images(gy);
    run_text("roi", "average_pool_back", at.planes(),
             {reads(gy), reads(at.rois), reads(at.images), writes(gx), at.count(), at.extents[1], at.extents[2],
              at.extents[3], at.bins, gy.strides(), gx.strides(), at.scale});
    return gx;
  }
};
CT_FIELDS(AveragePool, at)

/// The mean of points or, with indices, the points that these select.
struct Align {
  static constexpr const char *kName = "ROIAlign2D", *kBackName = "ROIAlign2DGrad";
  Regions at;
  Shape points;
  Array places = {};

  const char* max_name() const { return "ROIMaxAlign2D"; }
  void find(const Array& x, const Array& y) const {
    run_text("roi", "max_align", y.size(),
             {reads(x), reads(at.rois), reads(at.images), writes(y), writes(places), at.extents, at.bins, points,
              x.strides(), y.strides(), at.scale, kNothing});
  }
  bool is_max() const { return places.defined(); }
  const Array& places_or_any() const { return is_max() ? places : at.images; }
  Array forward(const Array& x) const {
    const Array y = at.new_result(x);
    run_text("roi", "align", y.size(),
             {reads(x), reads(at.rois), reads(at.images), reads(places_or_any()), writes(y), at.extents, at.bins,
              points, is_max(), x.strides(), y.strides(), at.scale});
    return y;
  }
  Array back(const Array& gy) const {
    const Array gx = at.zero_images(gy);
    run_text(
        "roi", "align_back", at.planes(),
        {reads(gy), reads(at.rois), reads(at.images), reads(places_or_any()), writes(gx), at.count(), at.extents[1],
         at.extents[2], at.extents[3], at.bins, points, is_max(), gy.strides(), gx.strides(), at.scale});
    return gx;
  }
};
CT_FIELDS(Align, at, points, places)

/// A maximum over bins. The kernel also returns the indices, and the gradient goes to the elements at these indices.
template <class Picked>
class Max : public FunctionNode {
 public:
  /// forward() sets `places`.
  explicit Max(Picked picked) : picked_(std::move(picked)) {}
  const char* name() const override { return picked_.max_name(); }
  CT_ATTRIBUTES(picked_)

 protected:
  Arrays forward(Inputs in) override {
    const Array y = picked_.at.new_result(in[0]);
    picked_.places = Array::empty(y.shape(), Dtype::int32, y.device());
    picked_.find(in[0], y);
    return y;
  }
  Variables backward(Targets, Grads gys) override {
    return catenary::apply(node<detail::LinearMap<Picked>>(picked_, true), gys[0]);
  }

 private:
  Picked picked_;
};

Shape pair_of(const char* function, const char* name, const Shape& given, std::int64_t least) {
  if (given.size() < 1 || given.size() > 2 || given[0] < least || given.back() < least)
    fail<ValueError>("{}: {} must be one number or two of at least {}, not {}", function, name, least, given);
  return {given[0], given.back()};
}

void check_images(const char* function, const Variable& x, const Variable& rois, std::int64_t columns) {
  if (x.ndim() != 4) fail<ShapeError>("{}: x must be (n, c, h, w), not {}", function, x.shape());
  if (!is_floating(x.dtype()) || rois.dtype() != x.dtype())
    fail<DtypeError>("{}: x and rois must have one floating dtype, not {} and {}", function, x.dtype(), rois.dtype());
  if (rois.ndim() != 2 || rois.shape(1) != columns)
    fail<ShapeError>("{}: rois must be (regions, {}), not {}", function, columns, rois.shape());
  catenary::detail::check_same_device(x.array(), rois.array(), function);
}

/// 16-bit floats are pooled as float32, because they cannot represent all pixel coordinates of large images.
Dtype computed_in(const Variable& x) { return is_16bit_float(x.dtype()) ? Dtype::float32 : x.dtype(); }

Regions regions(const char* function, const Variable& x, const Array& rois, const Array& indices,
                const PerAxis& outsize, double scale) {
  if (indices.shape() != Shape{rois.shape(0)})
    fail<ShapeError>("{}: roi_indices must be ({},) to fit rois, not {}", function, rois.shape(0), indices.shape());
  catenary::detail::check_same_device(x.array(), indices, function);
  if (!(scale > 0)) fail<ValueError>("{}: spatial_scale must be positive, not {}", function, scale);
  const Shape bins = pair_of(function, "outsize", outsize, 1);
  detail::Labels{function, "roi_indices", indices, x.shape(0)}.check();
  return {rois.astype(computed_in(x)).contiguous(), indices.astype(Dtype::int32).contiguous(), x.shape(), bins, scale};
}
Regions regions(const char* function, const Variable& x, const Variable& rois, const Variable& indices,
                const PerAxis& outsize, double scale) {
  check_images(function, x, rois, 4);
  return regions(function, x, rois.array(), indices.array(), outsize, scale);
}

template <class F>
Variable computed(const Variable& x, F&& f) {
  return cast(f(cast(x, computed_in(x))), x.dtype());
}

}  // namespace

Variable roi_pooling_2d(const Variable& x, const Variable& rois, std::int64_t outh, std::int64_t outw,
                        double spatial_scale) {
  CT_DEFINED(x, rois);
  check_images("roi_pooling_2d", x, rois, 5);
  const Array& all = rois.array();
  const auto column = [&](int i) { return all(slice(), slice(i, i + 1)); };
  const Array corners = catenary::concatenate({column(2), column(1), column(4), column(3)}, 1);
  const Regions at =
      regions("roi_pooling_2d", x, corners, all(slice(), 0).astype(Dtype::int64), {outh, outw}, spatial_scale);
  return computed(x, [&](const Variable& v) { return apply(node<Max<LargestPixels>>(LargestPixels{at, true, 0}), v); });
}

Variable roi_max_pooling_2d(const Variable& x, const Variable& rois, const Variable& roi_indices,
                            const PerAxis& outsize, double spatial_scale) {
  CT_DEFINED(x, rois, roi_indices);
  const Regions at = regions("roi_max_pooling_2d", x, rois, roi_indices, outsize, spatial_scale);
  return computed(x, [&](const Variable& v) {
    return apply(node<Max<LargestPixels>>(LargestPixels{at, false, kNothing}), v);
  });
}

Variable roi_average_pooling_2d(const Variable& x, const Variable& rois, const Variable& roi_indices,
                                const PerAxis& outsize, double spatial_scale) {
  CT_DEFINED(x, rois, roi_indices);
  const Regions at = regions("roi_average_pooling_2d", x, rois, roi_indices, outsize, spatial_scale);
  return computed(x, [&](const Variable& v) { return detail::apply_linear(AveragePool{at}, v); });
}

Variable roi_max_align_2d(const Variable& x, const Variable& rois, const Variable& roi_indices, const PerAxis& outsize,
                          double spatial_scale, const PerAxis& sampling_ratio) {
  CT_DEFINED(x, rois, roi_indices);
  const Regions at = regions("roi_max_align_2d", x, rois, roi_indices, outsize, spatial_scale);
  const Shape points = pair_of("roi_max_align_2d", "sampling_ratio", sampling_ratio, 0);
  return computed(x, [&](const Variable& v) { return apply(node<Max<Align>>(Align{at, points}), v); });
}

Variable roi_average_align_2d(const Variable& x, const Variable& rois, const Variable& roi_indices,
                              const PerAxis& outsize, double spatial_scale, const PerAxis& sampling_ratio) {
  CT_DEFINED(x, rois, roi_indices);
  const Regions at = regions("roi_average_align_2d", x, rois, roi_indices, outsize, spatial_scale);
  const Shape points = pair_of("roi_average_align_2d", "sampling_ratio", sampling_ratio, 0);
  return computed(x, [&](const Variable& v) { return detail::apply_linear(Align{at, points}, v); });
}

std::span<const Signature> detail::roi_signatures() {
  static const Signature all[] = {
      CT_SIGNATURE("pooling.roi_pooling_2d", roi_pooling_2d, "x", "rois", "outh", "outw", "spatial_scale"),
      CT_SIGNATURE("pooling.roi_max_pooling_2d", roi_max_pooling_2d, "x", "rois", labels("roi_indices"), "outsize",
                   "spatial_scale"),
      CT_SIGNATURE("pooling.roi_average_pooling_2d", roi_average_pooling_2d, "x", "rois", labels("roi_indices"),
                   "outsize", "spatial_scale"),
      signature_of(
          "chainer.functions.pooling.roi_max_align_2d.roi_max_align_2d",
          [](const Variable& x, const Variable& rois, const Variable& roi_indices, const PerAxis& outsize,
             double spatial_scale, const std::optional<PerAxis>& sampling_ratio) {
            return roi_max_align_2d(x, rois, roi_indices, outsize, spatial_scale, sampling_ratio.value_or(0));
          },
          "x", "rois", labels("roi_indices"), "outsize", "spatial_scale", otherwise("sampling_ratio", std::nullopt)),
      signature_of(
          "chainer.functions.pooling.roi_average_align_2d.roi_average_align_2d",
          [](const Variable& x, const Variable& rois, const Variable& roi_indices, const PerAxis& outsize,
             double spatial_scale, const std::optional<PerAxis>& sampling_ratio) {
            return roi_average_align_2d(x, rois, roi_indices, outsize, spatial_scale, sampling_ratio.value_or(0));
          },
          "x", "rois", labels("roi_indices"), "outsize", "spatial_scale", otherwise("sampling_ratio", std::nullopt)),
  };
  return all;
}

}  // namespace catenary::functions
