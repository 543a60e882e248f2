#pragma once
// Private. JSON numbers as Python writes them, with its words for NaN and infinity, which JSON lacks.

#include <nlohmann/json.hpp>
#include <string>

namespace catenary::training::extensions {

/// Formats a float like Python's repr.
std::string python_number(double value);
/// Parses `text`, with Python's NaN, Infinity and -Infinity as strings. Returns discarded() for invalid JSON.
nlohmann::ordered_json parse_python_json(const std::string& text);
/// Returns a number parsed by parse_python_json, and NaN for null. Throws ValueError for other values.
double python_number(const nlohmann::ordered_json& value);

}  // namespace catenary::training::extensions
