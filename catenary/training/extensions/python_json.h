#pragma once
// Private. Numbers in JSON as Python writes them, which has words for those that are not finite and JSON has not.

#include <nlohmann/json.hpp>
#include <string>

namespace catenary::training::extensions {

/// As Python's repr of a float.
std::string python_number(double value);
/// What `text` says, with Python's NaN, Infinity and -Infinity as strings; discarded() where it is no JSON.
nlohmann::ordered_json parse_python_json(const std::string& text);
/// A number that parse_python_json found, or a null, which is NaN. Throws ValueError for anything else.
double python_number(const nlohmann::ordered_json& value);

}  // namespace catenary::training::extensions
