#pragma once
// The registry of Windows, where the system and its drivers keep their settings. Other systems have none.

#include <string>
#include <utility>
#include <vector>

#include "catenary/core/export.h"

namespace catenary::os {

/// Returns the names and values of a key below HKEY_LOCAL_MACHINE, such as `SYSTEM\CurrentControlSet`: texts, the first
/// text of a list, and numbers in decimal. Other kinds are left out. Nothing if the key does not exist.
CT_API std::vector<std::pair<std::string, std::string>> registry_values(const std::string& key);
/// Returns the names of the keys below a key.
CT_API std::vector<std::string> registry_keys(const std::string& key);

}  // namespace catenary::os
