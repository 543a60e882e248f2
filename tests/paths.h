#pragma once
// Paths of the files that tests read and run, in the build's folders. A packed copy of the tests sets its folder in
// CATENARY_TEST_ROOT.

#include <string>

namespace tests {

/// The path of a file of the source tree, `name` being relative to it.
std::string source_path(const std::string& name);

/// The path of a file of the build folder, `name` being relative to it.
std::string build_path(const std::string& name);

/// The path of the list of all public names, which the build makes (scripts/make_coverage).
std::string names_path();

}  // namespace tests
