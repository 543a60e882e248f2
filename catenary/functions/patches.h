#pragma once
// Functions that move elements of images about as windows do. x is [n, c, h, w] of a floating dtype; all can be
// differentiated twice.

#include "catenary/autograd/variable.h"
#include "catenary/core/fields.h"
#include "catenary/core/per_axis.h"

namespace catenary::functions {

/// Options of im2col; see Window.
struct Im2ColOptions {
  PerAxis stride = 1, pad = 0, dilate = 1;
  bool cover_all = false;  ///< windows until all elements are in one
};
CT_FIELDS(Im2ColOptions, stride, pad, dilate, cover_all)
/// The windows of x as channels: [n, c kh kw, h', w'], where pads are zeros. Throws ShapeError, DtypeError, and
/// ValueError for what is no window. (chainer.functions.im2col)
CT_API Variable im2col(const Variable& x, const PerAxis& ksize, const Im2ColOptions& options = {});

/// Groups of channels, kh kw of them, each moved by another step of a window, zeros coming in: the first group down and
/// right, the last one not at all. The steps are `dilate` long, and go the other way where it is negative. Throws
/// ShapeError for fewer channels than that, DtypeError, and ValueError for sizes that are not odd or a dilate of 0.
/// (chainer.functions.shift; Wu et al., arXiv:1711.08141)
CT_API Variable shift(const Variable& x, const PerAxis& ksize = 3, const PerAxis& dilate = 1);

}  // namespace catenary::functions
