#pragma once
// Functions that extract windows of images. x is [n, c, h, w] of a floating dtype. All can be differentiated twice.

#include "catenary/autograd/variable.h"
#include "catenary/core/fields.h"
#include "catenary/core/per_axis.h"

namespace catenary::functions {

/// Options of im2col, see Window.
struct Im2ColOptions {
  PerAxis stride = 1, pad = 0, dilate = 1;
  bool cover_all = false;  ///< add windows until all elements are covered
};
CT_FIELDS(Im2ColOptions, stride, pad, dilate, cover_all)
/// Returns the windows of x as channels: [n, c kh kw, h', w'], with zeros as padding. Throws ShapeError, DtypeError,
/// and ValueError for impossible windows. (chainer.functions.im2col)
CT_API Variable im2col(const Variable& x, const PerAxis& ksize, const Im2ColOptions& options = {});

/// Moves each of kh kw groups of channels by a different offset of a window and fills with zeros: the first group down
/// and right, the last group not at all. Offsets are multiples of `dilate`, in the opposite direction if it is
/// negative. Throws ShapeError for fewer channels than groups, DtypeError, and ValueError for even sizes or a dilate of
/// 0. (chainer.functions.shift) (Wu et al., arXiv:1711.08141)
CT_API Variable shift(const Variable& x, const PerAxis& ksize = 3, const PerAxis& dilate = 1);

}  // namespace catenary::functions
