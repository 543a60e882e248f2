#pragma once
// Private to functions/: linear functions defined by two computations on arrays.

#include <utility>

#include "catenary/autograd/attributes.h"
#include "catenary/autograd/function_node.h"

namespace catenary::functions::detail {

/// y = A x, where A needs no gradient. The gradient of x is Aᵀ gy, whose gradient is again A. A Map has both as
/// `forward` and `back`, from an array to an array, with their names:
///
/// ```
///     struct Twice {
///       static constexpr const char *kName = "Twice", *kBackName = "TwiceGrad";
///       Array forward(const Array& x) const { return x * 2; }
///       Array back(const Array& gy) const { return gy * 2; }
///     };
/// ```
template <class Map>
class LinearMap : public FunctionNode {
 public:
  explicit LinearMap(Map map, bool back = false) : map_(std::move(map)), back_(back) {}
  const char* name() const override { return back_ ? Map::kBackName : Map::kName; }
  CT_ATTRIBUTES(map_, back_)

 protected:
  Arrays forward(Inputs in) override { return back_ ? map_.back(in[0]) : map_.forward(in[0]); }
  Variables backward(Targets, Grads gys) override {
    return catenary::apply(node<LinearMap<Map>>(map_, !back_), gys[0]);
  }

 private:
  Map map_;
  bool back_;
};

template <class Map>
Variable apply_linear(Map map, const Variable& x) {
  return catenary::apply(node<LinearMap<Map>>(std::move(map)), x);
}

}  // namespace catenary::functions::detail
