// Plots of chainer.training.extensions that the library draws.

#include "catenary/training/extensions/plot.h"
#include "objects.h"

namespace catenary_python {

void register_plots(nb::module_& m) {
  m.def(
      "_plot",
      [](const std::string& path, const std::string& x_label, const nb::dict& curves, bool marker, bool grid) {
        namespace X = ct::training::extensions;
        X::Panel panel{.x_label = x_label, .marker = marker, .grid = grid};
        for (const auto& [label, points] : curves) {
          X::Curve curve{nb::cast<std::string>(label), {}};
          for (nb::handle point : points)
            curve.points.emplace_back(nb::cast<double>(point[0]), nb::cast<double>(point[1]));
          panel.curves.push_back(std::move(curve));
        }
        X::plot(path, {{panel}});
      },
      nb::arg("path"), nb::arg("x_label"), nb::arg("curves"), nb::arg("marker"), nb::arg("grid"),
      "Draws curves, lists of points by label, to a PNG file.");
}

}  // namespace catenary_python
