#pragma once
// The subcommands. Each returns the exit status: 0 fine, 1 something was found to be wrong.

#include <string>
#include <vector>

namespace catenary::command {

int info(bool json);
int inspect(const std::vector<std::string>& files, bool json);

}  // namespace catenary::command
