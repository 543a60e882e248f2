#pragma once
// Writes the computational graph of a reported value to a file.

#include "catenary/training/trainer.h"

namespace catenary::training::extensions {

/// Options of DumpGraph.
struct DumpGraphOptions {
  std::string filename = "cg.dot";  ///< in the output folder
};

/// Writes the graph of a reported variable once, in the first iteration. (chainer's DumpGraph)
class CT_API DumpGraph : public Extension {
 public:
  explicit DumpGraph(std::string root_name, DumpGraphOptions options = {});
  std::string default_name() const override { return "dump_graph"; }
  void initialize(Trainer& trainer) override;
  void operator()(Trainer& trainer) override;
  void serialize(Serializer& serializer) override;

 private:
  std::string root_name_;
  DumpGraphOptions options_;
  bool dumped_ = false;
  int keep_before_ = -1;
};

}  // namespace catenary::training::extensions
