#pragma once
// Draws curves to PNG files, without other programs.

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "catenary/core/export.h"

namespace catenary::training::extensions {

/// A curve of a plot.
struct Curve {
  std::string label;
  std::vector<std::pair<double, double>> points;
};

/// An area between two curves over common x. Overlapping areas become darker.
struct Band {
  std::vector<double> x, lower, upper;
};

/// Curves with axes, ticks and a legend on the right. Points that are not finite leave gaps.
struct Panel {
  std::string title = {};
  std::string x_label = {};
  std::vector<Curve> curves = {};
  std::vector<Band> bands = {};  ///< drawn behind the curves, in the colour of the first curve
  bool marker = true;            ///< draw a cross at each point
  bool grid = true;
};

/// Draws rows of panels to a PNG file. Throws ValueError if rows differ in length or there is nothing to draw.
CT_API void plot(const std::string& path, const std::vector<std::vector<Panel>>& rows);

/// The number of examples of each class (row) that were predicted as each class (column).
struct ConfusionMatrix {
  std::vector<std::string> names = {};                 ///< of the classes
  std::vector<std::vector<std::int64_t>> counts = {};  ///< counts[label][prediction]
};

/// Draws the matrix to a PNG file. Cells are darker the larger their fraction of the row. Throws ValueError if there
/// are no classes, or rows without a number for each class.
CT_API void plot(const std::string& path, const ConfusionMatrix& matrix);

}  // namespace catenary::training::extensions
