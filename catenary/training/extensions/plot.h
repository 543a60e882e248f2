#pragma once
// Drawing of curves into PNG files, without another program.

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

/// An area between two curves over the same x; areas that lie on each other get darker.
struct Band {
  std::vector<double> x, lower, upper;
};

/// Curves with axes, ticks and a legend on the right. Points that are not finite leave gaps.
struct Panel {
  std::string title = {};
  std::string x_label = {};
  std::vector<Curve> curves = {};
  std::vector<Band> bands = {};  ///< behind the curves, in the colour of the first
  bool marker = true;            ///< a cross at each point
  bool grid = true;
};

/// Draws panels, row by row, into a PNG file. Throws ValueError when rows differ in length or there is nothing to draw.
CT_API void plot(const std::string& path, const std::vector<std::vector<Panel>>& rows);

/// How often examples of each class (a row) were taken for each class (a column).
struct ConfusionMatrix {
  std::vector<std::string> names = {};                 ///< of the classes
  std::vector<std::vector<std::int64_t>> counts = {};  ///< counts[label][prediction]
};

/// Draws the matrix into a PNG file: a cell is the darker, the larger its part of its row. Throws ValueError when there
/// are no classes, or rows that have not one number for each.
CT_API void plot(const std::string& path, const ConfusionMatrix& matrix);

}  // namespace catenary::training::extensions
