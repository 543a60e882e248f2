#include <fmt/format.h>

#include <cstdlib>

#include "catenary/core/error.h"
#include "catenary/core/json_text.h"
#include "catenary/core/lower.h"
#include "catenary/core/os/file.h"
#include "catenary/core/os/library.h"
#include "catenary/core/os/process.h"
#include "catenary/core/os/registry.h"
#include "catenary/core/os/signals.h"
#include "catenary/core/os/system.h"
#include "tools/catenary/doctor.h"

namespace catenary::doctor {

using nlohmann::ordered_json;

namespace {

/// The last line that is not blank, because drivers may print much before they crash.
Probe run_probe(const std::string& name, double seconds) {
  const os::ProcessResult result =
      os::run_process({os::program_path(), "doctor", "--probe", name}, {.timeout = seconds});
  // the last line is the answer, because drivers print, too
  Probe probe{json_text::parse_or_discarded<ordered_json>(last_line(result.output)), {}};
  if (!probe.answer.is_object()) probe.answer = ordered_json::object();
  if (result.timed_out)
    probe.failure = fmt::format("did not answer within {:g} s", seconds);
  else if (result.signal)
    probe.failure = "crashed with " + os::signal_name(result.signal);
  else if (result.exit_code != 0)
    probe.failure = fmt::format("ended with status {}", result.exit_code);
  if (!probe.failure.empty() && !last_line(result.errors).empty())
    probe.failure += fmt::format(" (\"{}\")", last_line(result.errors).substr(0, 300));
  return probe;
}

}  // namespace

std::string last_line(const std::string& text) {
  const std::size_t end = text.find_last_not_of(" \t\r\n");
  if (end == std::string::npos) return {};
  const std::size_t before = text.find_last_of('\n', end);
  const std::size_t begin = before == std::string::npos ? 0 : before + 1;
  return text.substr(begin, end + 1 - begin);
}

Machine::Machine(std::string root) : root_(std::move(root)) {
  while (root_.size() > 1 && root_.back() == '/') root_.pop_back();
  if (is_this_one()) return;
  const std::string file = root_ + "/machine.json";
  const std::vector<std::byte> bytes = os::read_file(file);
  told_ = json_text::parse_or_discarded<ordered_json>({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  if (!told_.is_object()) throw ValueError(fmt::format("{}: not a JSON object", file));
}

bool Machine::exists(const std::string& path) const { return os::exists(root_ + path); }

std::optional<std::string> Machine::read(const std::string& path) const {
  try {
    if (!exists(path)) return std::nullopt;
    const std::vector<std::byte> bytes = os::read_file(root_ + path);
    std::string text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    text.erase(text.find_last_not_of(std::string_view(" \t\r\n\0", 5)) + 1);
    return text;
  } catch (const FileError&) {  // no permission
    return std::nullopt;
  }
}

std::vector<std::string> Machine::list(const std::string& path) const {
  try {
    if (os::is_directory(root_ + path)) return os::list_directory(root_ + path);
  } catch (const FileError&) {  // no permission
  }
  return {};
}

std::string Machine::open_error(const std::string& path) const {
  if (is_this_one()) return os::open_error(path);
  if (!exists(path)) return "ENOENT";
  return told_.value("open", ordered_json::object()).value(path, std::string());
}

std::int64_t Machine::owner_group(const std::string& path) const {
  if (is_this_one()) return os::owner_group(path);
  return told_.value("owner_group", ordered_json::object()).value(path, std::int64_t{-1});
}

bool Machine::in_group(std::int64_t group) const {
  if (is_this_one()) {
    for (const std::uint32_t mine : os::process_groups())
      if (mine == group) return true;
    return false;
  }
  for (const auto& mine : told_.value("groups", ordered_json::array()))
    if (mine == group) return true;
  return false;
}

std::string Machine::user() const { return is_this_one() ? os::user_name() : told_.value("user", std::string("user")); }

std::string Machine::system() const { return is_this_one() ? os::system_name() : told_.value("system", std::string()); }

int Machine::code_page() const { return is_this_one() ? os::code_page() : told_.value("code_page", 65001); }

std::string Machine::library_folder() const {
  return is_this_one() ? os::library_search_folder() : "/Windows/System32";
}

std::vector<std::pair<std::string, std::string>> Machine::registry_values(const std::string& key) const {
  if (is_this_one()) return os::registry_values(key);
  std::vector<std::pair<std::string, std::string>> result;
  const ordered_json registry = told_.value("registry", ordered_json::object());
  const ordered_json values = registry.value(key, ordered_json::object());
  for (const auto& [name, value] : values.items()) result.emplace_back(name, value.get<std::string>());
  return result;
}

std::optional<std::string> Machine::registry_value(const std::string& key, const std::string& name) const {
  for (const auto& [found, value] : registry_values(key))
    if (lower(found) == lower(name)) return value;
  return std::nullopt;
}

std::vector<std::string> Machine::registry_keys(const std::string& key) const {
  if (is_this_one()) return os::registry_keys(key);
  std::vector<std::string> result;
  const ordered_json registry = told_.value("registry", ordered_json::object());
  for (const auto& [path, values] : registry.items())
    if (path.starts_with(key + "\\") && path.find('\\', key.size() + 1) == std::string::npos)
      result.push_back(path.substr(key.size() + 1));
  return result;
}

std::string Machine::variable(const std::string& name) const {
  if (!is_this_one()) return told_.value("environment", ordered_json::object()).value(name, std::string());
  const char* value = std::getenv(name.c_str());
  return value ? value : "";
}

std::optional<Probe> Machine::probe(const std::string& name, double seconds) const {
  if (is_this_one()) return run_probe(name, seconds);
  const ordered_json probes = told_.value("probes", ordered_json::object());
  if (!probes.contains(name)) return std::nullopt;
  return Probe{probes[name].value("answer", ordered_json::object()), probes[name].value("failure", std::string())};
}

int Facts::count(const std::string& vendor) const {
  int n = 0;
  for (const Gpu& gpu : gpus) n += gpu.vendor == vendor && gpu.driver != "vfio-pci";
  return n;
}

}  // namespace catenary::doctor
