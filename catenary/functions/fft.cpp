#include "catenary/functions/fft.h"

#include "catenary/array/creation.h"
#include "catenary/array/fft.h"
#include "catenary/autograd/attributes.h"
#include "catenary/autograd/function_node.h"
#include "catenary/core/format.h"
#include "catenary/functions/signature_row.h"

namespace catenary::functions {

namespace {

class Fft : public FunctionNode {
 public:
  explicit Fft(bool inverse) : inverse_(inverse) {}
  const char* name() const override { return "FFT"; }
  CT_ATTRIBUTES(inverse_)

 protected:
  Arrays forward(Inputs x) override {
    const std::int64_t n = x[0].ndim() > 0 ? x[0].shape().back() : 1;
    const auto y = ::catenary::detail::fourier_transform(inverse_ ? "ifft" : "fft", x[0], x[1], inverse_,
                                                         inverse_ ? 1.0 / static_cast<double>(n) : 1.0);
    Arrays parts;
    parts.push_back(y.first);
    parts.push_back(y.second);
    return parts;
  }
  /// The transform with real and imaginary parts exchanged.
  Variables backward(Targets targets, Grads gys) override {
    const auto part = [&](std::size_t i) {
      return gys[i].defined() ? gys[i] : Variable(zeros_like(gys[1 - i].array()), false);
    };
    const Variables exchanged = apply_all(node<Fft>(inverse_), part(1), part(0));
    return gradients(targets, [&](int i) { return exchanged[static_cast<std::size_t>(1 - i)]; });
  }

 private:
  bool inverse_;
};

std::pair<Variable, Variable> transform(bool inverse, const std::pair<Variable, Variable>& x) {
  const Variables y = apply_all(node<Fft>(inverse), x.first, x.second);
  return {y[0], y[1]};
}

}  // namespace

std::pair<Variable, Variable> fft(const std::pair<Variable, Variable>& x) { return transform(false, x); }
std::pair<Variable, Variable> ifft(const std::pair<Variable, Variable>& x) { return transform(true, x); }

std::span<const Signature> detail::fft_signatures() {
  static const Signature all[] = {
      signature_of(
          "chainer.functions.math.fft.fft",
          [](const std::vector<Variable>& x) {
            if (x.size() != 2)
              fail<ValueError>("fft: x must be a real and an imaginary part, not {} variables", x.size());
            return fft({x[0], x[1]});
          },
          "x"),
      signature_of(
          "chainer.functions.math.fft.ifft",
          [](const std::vector<Variable>& x) {
            if (x.size() != 2)
              fail<ValueError>("ifft: x must be a real and an imaginary part, not {} variables", x.size());
            return ifft({x[0], x[1]});
          },
          "x"),
  };
  return all;
}

}  // namespace catenary::functions
