// G5: the libraries for exchanging gradients between GPUs of several processes.

#include <fmt/format.h>

#include "catenary/device/backend.h"
#include "catenary/device/collectives.h"
#include "tools/catenary/doctor.h"

namespace catenary::doctor {

using nlohmann::ordered_json;

ordered_json ask_nccl() {
  ordered_json libraries = ordered_json::array();
  for (Backend* backend : backends()) {
    DeviceCollectives* const collectives = backend->collectives();
    if (!collectives) continue;
    std::string why;
    const std::string library = collectives->library(why);
    libraries.push_back({{"name", collectives->name()}, {"library", library}, {"reason", why}});
  }
  return {{"libraries", libraries}};
}

void check_nccl(const Machine& machine, const Facts& facts, Report& report) {
  const std::optional<Probe> probe = machine.probe("nccl");
  if (!probe) return;
  if (!probe->failure.empty())
    return report.warn("G5", "NCCL or RCCL " + probe->failure,
                       "install it again; communicators other than pure_nccl work without it");
  for (const ordered_json& entry : probe->answer.value("libraries", ordered_json::array())) {
    const std::string name = entry.value("name", std::string()), library = entry.value("library", std::string());
    if (!library.empty())
      report.ok("G5", fmt::format("{} {}: used by pure_nccl to exchange gradients", name, library));
    else if (const std::string maker = name == "NCCL" ? "NVIDIA" : "AMD"; facts.count(maker) > 1)
      report.warn("G5",
                  fmt::format("{} {} GPUs and no {}: {}", facts.count(maker), maker, name,
                              entry.value("reason", std::string())),
                  name == "NCCL"
                      ? "for pure_nccl: install libnccl2, or nvidia-nccl-cu12 in the Python environment that "
                        "is switched on; 'flat' goes through the host without it"
                      : "for pure_nccl: install rccl; 'flat' goes through the host without it");
  }
}

}  // namespace catenary::doctor
