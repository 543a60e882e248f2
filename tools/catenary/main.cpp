// The command `catenary`: what this machine offers, and what is in a file.

#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "tools/catenary/commands.h"

int main(int argc, char** argv) {
  CLI::App app(
      "Catenary's command: `catenary info` tells what was found on this machine, `catenary inspect FILE` what is in a "
      "file.");
  app.require_subcommand(1);
  bool json = false;
  std::vector<std::string> files;
  CLI::App* info =
      app.add_subcommand("info", "Version, CPU, threads, libraries found at run time, devices, and where MNIST lies");
  info->add_flag("--json", json, "One JSON object on standard output");
  CLI::App* inspect = app.add_subcommand("inspect",
                                         "Names, dtypes, shapes, minimum, mean and maximum of what is in NPY, NPZ "
                                         "(trainer snapshots too), safetensors and IDX files");
  inspect->add_flag("--json", json, "One JSON object on standard output");
  inspect->add_option("FILE", files, "Files to look into; the kind is found by content")->required();
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    const int code = app.exit(e);
    return code == 0 ? 0 : 2;
  }
  return *info ? catenary::command::info(json) : catenary::command::inspect(files, json);
}
