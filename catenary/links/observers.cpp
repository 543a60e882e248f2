// Reporter's functions for links. They are defined here because reporter/ must not include links/.

#include <memory>

#include "catenary/core/format.h"
#include "catenary/links/link.h"
#include "catenary/reporter/reporter.h"

namespace catenary {

void Reporter::add_observer(const std::string& name, const Link& observer) const {
  add_observer(name, observer.identity(), std::make_shared<const Link>(observer));
}

void Reporter::add_observers(const std::string& prefix, const Link& observer) const {
  observer.for_each_link(
      [&](const std::string& path, const Link& link) { add_observer(path == "/" ? prefix : prefix + path, link); });
}

void report(const std::vector<std::pair<std::string, Reported>>& values, const Link& observer) {
  const Reporter* const reporter = current_reporter();
  if (!reporter) return;
  const std::string prefix = reporter->name_of(observer.identity());
  if (prefix.empty())
    fail<ValueError>("report: the link '{}' is not an observer of the current reporter", observer.name());
  for (const auto& [name, value] : values) reporter->observation()[prefix + "/" + name] = value;
}

}  // namespace catenary
