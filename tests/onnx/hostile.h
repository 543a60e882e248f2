#pragma once
// Opens and runs hostile ONNX files. Each must give an error that names the file, in bounded time and memory.

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <string>

#include "catenary/core/os/memory.h"
#include "tests/folder.h"
#include "tests/onnx/node.h"
#include "tests/onnx/outcome.h"

namespace onnx_writer {

/// How long a file may take to open and to run, with sanitizers too.
inline constexpr double kSeconds = 60;

/// Files that are written, opened and called one after another.
class Hostile {
 public:
  explicit Hostile(bool must_fail = true) : must_fail_(must_fail) {}
  /// 3 GiB more would show that a limit does not hold: those of calls are 64 MiB, and of opening 320 MiB. Other tests
  /// of this process may have taken more before.
  ~Hostile() {
    EXPECT_LT(catenary::os::peak_resident_bytes(),
              std::max(peak_before_ + 1, resident_before_ + (std::uint64_t{3} << 30)));
  }
  Hostile(const Hostile&) = delete;
  Hostile& operator=(const Hostile&) = delete;

  /// Expects an error with the file's name and `words`.
  void refused(const std::string& name, const std::string& bytes, const std::string& words = "") {
    const std::string error = outcome(name, bytes);
    EXPECT_FALSE(must_fail_ && error.empty()) << name << " gives no error";
    EXPECT_NE(error.find(words), std::string::npos) << name << ": " << error;
  }
  void refused(const std::string& name, const Message& file, const std::string& words = "") {
    refused(name, file.bytes, words);
  }
  /// Expects an error that names the node with the first result `y`, as most files here have it.
  void refused_node(const std::string& name, const Graph& graph, std::uint64_t opset = 22) {
    refused(name, model(graph.message(), opset), "node 'the_y'");
  }

  const std::string& folder() const { return folder_.path; }
  int count() const { return count_; }

 private:
  std::string outcome(const std::string& name, const std::string& bytes) {
    const std::string path = folder_.path + "/model.onnx";
    write(path, bytes);
    ++count_;
    const auto start = std::chrono::steady_clock::now();
    const std::string error = error_of_file(path);
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
    EXPECT_LT(seconds.count(), kSeconds) << name;
    EXPECT_TRUE(error.empty() || error.find(path) != std::string::npos) << name << ": " << error;
    return error;
  }

  bool must_fail_;
  std::uint64_t peak_before_ = catenary::os::peak_resident_bytes();
  std::uint64_t resident_before_ = catenary::os::resident_bytes();
  tests::Folder folder_;
  int count_ = 0;
};

}  // namespace onnx_writer
