#pragma once
// Includes and helpers for the code of documents (scripts/document_code).

#include <gtest/gtest.h>

#include <cmath>
#include <iostream>
#include <string>
#include <vector>

#include "catenary/catenary.h"
#include "catenary/core/os/file.h"
#include "catenary/core/os/process.h"
#include "tests/onnx/writer.h"

namespace ct = catenary;
namespace D = ct::datasets;
namespace F = ct::functions;
namespace L = ct::links;
namespace T = ct::training;
namespace X = ct::training::extensions;

namespace tests {

/// Runs a chapter's code in a new folder. Its output to std::cout must contain each of `prints`.
void run_chapter(void (*chapter)(), const std::vector<std::string>& prints);

}  // namespace tests
