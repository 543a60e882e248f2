#pragma once
// Writes networks to ONNX files.

#include <concepts>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "catenary/links/link.h"

namespace catenary::onnx {

/// Names for axes whose sizes may vary: by the name of an input, then by axis.
using DynamicAxes = std::map<std::string, std::map<int, std::string>>;

/// Options of export_model.
struct ExportOptions {
  /// The version of ONNX's operators, from 18 to 23.
  std::int64_t opset = 20;
  /// By default "x" and "y", or "x0", "x1", … and "y0", "y1", … if there are several.
  std::vector<std::string> input_names = {}, output_names = {};
  /// By default the first axis of every input is called "batch". An empty map fixes all sizes.
  std::optional<DynamicAxes> dynamic_axes = {};
};

/// The computation to export: the outputs as a function of the inputs.
using ExportedFunction = std::function<std::vector<Variable>(std::span<const Variable>)>;

/// Variables with names.
using NamedVariables = std::vector<std::pair<std::string, Variable>>;

/// Writes a function, with the parameters of `link`, to an ONNX file. The function runs twice in test mode, with inputs
/// that have the elements of `inputs` in other orders and, along dynamic axes, other sizes. The difference of the two
/// graphs tells which sizes and values depend on the inputs.
///
/// Throws ValueError, and writes no file, if the graph has functions that cannot be exported (with all their names), if
/// a constant depends on the inputs, because it was computed without Variables, or if the two graphs differ in another
/// way.
CT_API void export_model(const std::string& path, const Link& link, const ExportedFunction& function,
                         const std::vector<Array>& inputs, const ExportOptions& options = {});

/// Writes a function with other parameters, which are asked for after each run of the function.
CT_API void export_model(const std::string& path, const std::function<NamedVariables()>& parameters,
                         const ExportedFunction& function, const std::vector<Array>& inputs,
                         const ExportOptions& options = {});

namespace detail {
inline std::vector<Variable> listed_outputs(const Variable& y) { return {y}; }
inline std::vector<Variable> listed_outputs(const std::vector<Variable>& ys) { return ys; }
inline std::vector<Variable> listed_outputs(const std::pair<Variable, Variable>& ys) { return {ys.first, ys.second}; }
}  // namespace detail

/// Writes a link that is called with one, two or three variables, or with a list of variables.
template <std::derived_from<Link> L>
void export_model(const std::string& path, const L& link, const std::vector<Array>& inputs,
                  const ExportOptions& options = {}) {
  const auto call = [&](std::span<const Variable> x) -> std::vector<Variable> {
    if constexpr (requires { detail::listed_outputs(link(x)); }) return detail::listed_outputs(link(x));
    if constexpr (requires { detail::listed_outputs(link(x[0])); })
      if (x.size() == 1) return detail::listed_outputs(link(x[0]));
    if constexpr (requires { detail::listed_outputs(link(x[0], x[1])); })
      if (x.size() == 2) return detail::listed_outputs(link(x[0], x[1]));
    if constexpr (requires { detail::listed_outputs(link(x[0], x[1], x[2])); })
      if (x.size() == 3) return detail::listed_outputs(link(x[0], x[1], x[2]));
    throw ValueError("export_model: the link cannot be called with these inputs");
  };
  export_model(path, link, call, inputs, options);
}

/// Returns the names of the functions that can be exported, sorted.
CT_API std::vector<std::string> exported_functions();

}  // namespace catenary::onnx
