#include "catenary/training/extensions/dump_graph.h"

#include "catenary/autograd/computational_graph.h"
#include "catenary/core/config.h"
#include "catenary/core/format.h"
#include "catenary/core/os/file.h"

namespace catenary::training::extensions {

DumpGraph::DumpGraph(std::string root_name, DumpGraphOptions options)
    : root_name_(std::move(root_name)), options_(std::move(options)) {}

void DumpGraph::initialize(Trainer&) {
  if (dumped_) return;
  // keep the graphs of reported values until they are written
  keep_before_ = config.keep_graph_on_report;
  config.keep_graph_on_report = true;
}

void DumpGraph::operator()(Trainer& trainer) {
  if (dumped_) return;
  dumped_ = true;
  if (keep_before_ >= 0) config.keep_graph_on_report = keep_before_ != 0;
  const Reported* root = trainer.observation().find(root_name_);
  if (!root || !root->variable().defined()) fail<ValueError>("DumpGraph: no variable was reported as '{}'", root_name_);
  os::write_file(trainer.out() + "/" + options_.filename, build_computational_graph({root->variable()}).dump());
}

void DumpGraph::serialize(Serializer& serializer) {
  if (!serializer.loading() || serializer.contains("_flag_called")) serializer("_flag_called", dumped_);
}

}  // namespace catenary::training::extensions
