// Functions of functions/connection.h that look up rows or multiply two inputs.

#include "catenary/array/axes.h"
#include "catenary/array/elementwise_core.h"
#include "catenary/autograd/defined.h"
#include "catenary/core/format.h"
#include "catenary/functions/array.h"
#include "catenary/functions/connection.h"
#include "catenary/functions/labels.h"
#include "catenary/functions/math_basic.h"
#include "catenary/functions/signature_row.h"

namespace catenary::functions {

namespace {

/// Flattens each example to a row.
Variable as_rows(const Variable& x) {
  return x.ndim() == 2 ? x : reshape(x, {x.shape(0), x.size() / std::max<std::int64_t>(x.shape(0), 1)});
}

Variable product(const Variable& e1, const Variable& e2, const Variable& W) {
  if (e1.ndim() < 2 || e2.ndim() < 2 || W.ndim() != 3 || e1.shape(0) != e2.shape(0))
    fail<ShapeError>("bilinear: e1 and e2 must be (n, j…) and (n, k…), W (j, k, l), not {}, {} and {}", e1.shape(),
                     e2.shape(), W.shape());
  const Variable a = as_rows(e1), b = as_rows(e2);
  const std::int64_t n = a.shape(0), j = a.shape(1), k = b.shape(1);
  if (W.shape(0) != j || W.shape(1) != k)
    fail<ShapeError>("bilinear: W {} must be ({}, {}, l) for e1 {} and e2 {}", W.shape(), j, k, e1.shape(), e2.shape());
  const Variable pairs = reshape(reshape(a, {n, j, 1}) * reshape(b, {n, 1, k}), {n, j * k});
  return matmul(pairs, reshape(W, {j * k, W.shape(2)}));
}

}  // namespace

Variable bilinear(const Variable& e1, const Variable& e2, const Variable& W) {
  CT_DEFINED(e1, e2, W);
  return product(e1, e2, W);
}
Variable bilinear(const Variable& e1, const Variable& e2, const Variable& W, const Variable& V1, const Variable& V2,
                  const Variable& b) {
  CT_DEFINED(e1, e2, W, V1, V2, b);
  return product(e1, e2, W) + matmul(as_rows(e1), V1) + matmul(as_rows(e2), V2) + b;
}

Variable embed_id(const Variable& x, const Variable& W, std::optional<std::int64_t> ignore_label) {
  CT_DEFINED(x, W);
  if (W.ndim() != 2) fail<ShapeError>("embed_id: W must be (ids, size), not {}", W.shape());
  const detail::Labels ids{"embed_id", "x", x.array(), W.shape(0), ignore_label};
  const Variable rows = ids.pick([&](const Array& at) { return get_item(W, {at}); });
  if (!ignore_label) return rows;
  Shape column = x.shape();
  column.push_back(1);
  return where(ids.counted().reshape(column), rows, catenary::detail::filled({}, 0, W.dtype(), W.device()));
}

std::span<const Signature> detail::embed_signatures() {
  static const Signature all[] = {
      refusing_labels(CT_SIGNATURE("connection.embed_id", embed_id, labels("x"), "W", "ignore_label")),
      signature_of(
          "chainer.functions.connection.bilinear.bilinear",
          [](const Variable& e1, const Variable& e2, const Variable& W, const std::optional<Variable>& V1,
             const std::optional<Variable>& V2, const std::optional<Variable>& b) {
            if (!V1 && !V2 && !b) return bilinear(e1, e2, W);
            return V1 && V2 && b ? bilinear(e1, e2, W, *V1, *V2, *b) : Variable();
          },
          "e1", "e2", "W", otherwise("V1", std::nullopt), otherwise("V2", std::nullopt), otherwise("b", std::nullopt)),
  };
  return all;
}

}  // namespace catenary::functions
