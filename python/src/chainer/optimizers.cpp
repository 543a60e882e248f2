// Updates of Chainer's optimizers as one pass over memory, where Chainer's own code takes one for each operation.

#include <cmath>
#include <vector>

#include "catenary/array/body.h"
#include "catenary/array/elementwise.h"
#include "objects.h"

namespace catenary_python {

namespace {

/// Arrays whose memory NumPy sees, of which nobody looks at any until the end of the scope, as the GIL is held: what is
/// written into them may wait and become one program with the rest.
class Unseen {
 public:
  explicit Unseen(std::vector<Array> arrays) : arrays_(std::move(arrays)) {
    for (const Array& a : arrays_) a.body().storage->exported.store(false, std::memory_order_relaxed);
  }
  ~Unseen() {
    for (const Array& a : arrays_) ct::export_memory(a);
  }
  Unseen(const Unseen&) = delete;
  Unseen& operator=(const Unseen&) = delete;

 private:
  std::vector<Array> arrays_;
};

Array over(nb::handle o, bool written = true) {
  Array a;
  if (!array_over(o.ptr(), a, written) || !a.body().storage)
    raise(PyExc_ValueError, "an update: an array that is read-only, or of elements that the library does not know");
  return a;
}

/// Adam's update of x by its gradient g (chainer.optimizers.adam.AdamRule, neither AMSGrad nor AdaBound). All are of
/// one floating dtype and one shape.
void adam(nb::handle x_, nb::handle g_, nb::handle m_, nb::handle v_, double alpha_t, double beta1, double beta2,
          double eps, double eta, double decay) {
  const Array x = over(x_), g = over(g_, false), m = over(m_), v = over(v_);
  const Unseen scope({x, g, m, v});
  m += (1 - beta1) * (g - m);
  v += (1 - beta2) * (g * g - v);
  const Array change = (eta * alpha_t) * m / (ct::sqrt(v) + eps);
  if (decay == 0) {
    x -= change;
  } else {
    ct::copyto(x, (1 - eta * decay) * x - change);
  }
}

}  // namespace

void register_optimizers(nb::module_& m) {
  m.def("_adam", adam, nb::arg("x"), nb::arg("g"), nb::arg("m"), nb::arg("v"), nb::arg("alpha_t"), nb::arg("beta1"),
        nb::arg("beta2"), nb::arg("eps"), nb::arg("eta"), nb::arg("decay"));
}

}  // namespace catenary_python
