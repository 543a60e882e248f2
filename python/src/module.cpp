// catenary._core: the library as catenary.cupy sees it.

#include "catenary/core/version.h"
#include "core.h"
#include "loops.h"
#include "refusals.h"

NB_MODULE(_core, m) {
  using namespace catenary_python;
  m.doc() = "Catenary's arrays and functions behind catenary.cupy. Use them through cupy.";
  m.attr("version") = ct::version();
  // nanobind reports leaks on request only: programs may keep objects alive until the interpreter ends
  nb::set_leak_warnings(false);
  m.def("_set_leak_warnings", [](bool on) { nb::set_leak_warnings(on); });
  register_conversions(m);
  register_errors(m);
  register_devices(m);
  register_ndarray(m);
  register_memory(m);
  register_dlpack(m);
  register_ufuncs(m);
  register_fft(m);
  register_creation(m);
  register_manipulation(m);
  register_numbers(m);
  register_random(m);
  register_kernels(m);
  register_filter_loops(m);
  register_label_loops(m);
  register_sparse_loops(m);
  register_spline_loops(m);
  register_stretch_loops(m);
  register_communicator(m);
  register_chainer(m);
  register_onnx(m);
  register_refusals(m);
}
