// P1, P2: imports cupy and Chainer in a Python interpreter and checks where they come from.

#include <fmt/format.h>

#include "catenary/core/environment.h"
#include "catenary/core/error.h"
#include "catenary/core/json_text.h"
#include "catenary/core/os/process.h"
#include "catenary/core/os/signals.h"
#include "tools/catenary/doctor.h"

namespace catenary::doctor {

namespace {

using nlohmann::ordered_json;

constexpr double kLimit = 40;  // seconds, because importing CuPy from a network file system is slow

/// Prints a JSON object as its last line. Ignores packages in the current folder.
constexpr const char* kQuestion = R"(
import sys
sys.path[:] = [entry for entry in sys.path if entry]
import importlib, importlib.metadata, importlib.util, json, os
def version(*names):
    for name in names:
        try:
            return importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            pass
def ask(name):
    try:
        if importlib.util.find_spec(name) is None:
            return None
        module = importlib.import_module(name)
        found = {'version': str(getattr(module, '__version__', '')), 'path': os.path.dirname(module.__file__)}
        if name == 'chainer':
            found['ours'] = os.path.basename(os.path.dirname(found['path'])) == 'catenary'
        if name == 'cupy':
            found['ours'] = getattr(module, 'catenary_version', '')
            found['devices'] = module.cuda.runtime.getDeviceCount() if found['ours'] else 0
        return found
    except BaseException as error:
        return {'error': '%s: %s' % (type(error).__name__, error), 'version': version(name) or ''}
def others():
    names = {d.metadata['Name'] or '' for d in importlib.metadata.distributions()}
    return sorted(n for n in names if n.lower() == 'cupy' or n.lower().startswith(('cupy-cuda', 'cupy-rocm')))
answer = {'python': sys.version.split()[0], 'path': sys.executable, 'hook': importlib.util.find_spec('catenary') is not None}
answer['active'] = any(type(finder).__module__ == 'catenary._finder' for finder in sys.meta_path)
answer['others'], answer['cupy'], answer['chainer'] = others(), ask('cupy'), ask('chainer')
answer['original'], answer['asked'] = version('chainer'), os.environ.get('CATENARY_CHAINER', '')
print('\n' + json.dumps(answer))
)";

/// The file of a release that holds the Python package.
constexpr const char* kWheel = "catenary-*.whl";

/// How to get a Chainer that can be imported.
std::string repair_of_chainer(const std::string& python, const ordered_json& answer, const std::string& asked) {
  if (!answer.value("hook", false))
    return fmt::format("`{} -m pip install {}` installs a chainer for this Python", python, kWheel);
  if (!answer.value("active", true)) return "unset CATENARY_PYTHON_HOOKS: then `import chainer` gives Catenary's";
  if (!asked.empty() && asked != "own") return "unset CATENARY_CHAINER: then `import chainer` gives Catenary's";
  return fmt::format("see `{} -c 'import chainer'`", python);
}

std::string text_of(const ordered_json& answer, const char* name) {
  const ordered_json found = answer.value(name, ordered_json());
  return found.is_string() ? found.get<std::string>() : std::string();
}

void check_chainer(const std::string& python, const ordered_json& answer, Report& report) {
  const ordered_json chainer = answer.value("chainer", ordered_json());
  const std::string original = text_of(answer, "original"), asked = text_of(answer, "asked");
  if (!chainer.is_object()) {
    if (asked == "original")
      report.warn("P2", "CATENARY_CHAINER=original asks for an installed Chainer, but there is none",
                  repair_of_chainer(python, answer, asked));
    return;
  }
  const std::string version = text_of(chainer, "version"), path = text_of(chainer, "path");
  if (const std::string error = text_of(chainer, "error"); !error.empty())
    report.warn("P2", fmt::format("`import chainer` fails with {}", error.substr(0, error.find('\n'))),
                repair_of_chainer(python, answer, asked));
  else if (!chainer.value("ours", false))
    report.ok("P2", fmt::format("`import chainer` gives Chainer {} ({})", version, path));
  else if (original.empty())
    report.ok("P2", fmt::format("`import chainer` gives Catenary's, of version {} ({})", version, path));
  else
    report.ok("P2", fmt::format("`import chainer` gives Catenary's, of version {} ({}), before Chainer {}", version,
                                path, original));
}

}  // namespace

ordered_json ask_python() {
  const std::string named = environment::text("CATENARY_PYTHON"), program = named.empty() ? "python3" : named;
  ordered_json answer = {{"program", program}, {"named", !named.empty()}};
  try {
    const os::ProcessResult result = os::run_process({program, "-c", kQuestion}, {.timeout = kLimit});
    auto told = json_text::parse_or_discarded<ordered_json>(last_line(result.output));
    if (result.ok() && told.is_object())
      answer.update(told);
    else if (result.timed_out)
      answer["error"] = fmt::format("did not answer within {:g} s", kLimit);
    else if (result.signal != 0)
      answer["error"] = "crashed with " + os::signal_name(result.signal);
    else
      answer["error"] =
          fmt::format("ended with status {} (\"{}\")", result.exit_code, last_line(result.errors).substr(0, 300));
  } catch (const Error&) {
    answer["missing"] = true;
  }
  return answer;
}

void check_python(const Machine& machine, Report& report) {
  const std::optional<Probe> probe = machine.probe("python", kLimit + 10);
  if (!probe) return;
  const ordered_json& answer = probe->answer;
  const std::string program = answer.value("program", std::string("python3"));
  const std::string error = probe->failure.empty() ? answer.value("error", std::string()) : probe->failure;
  if (answer.value("missing", false)) {
    if (answer.value("named", false))
      report.warn("P1", fmt::format("CATENARY_PYTHON: '{}' cannot be started", program),
                  "set it to a Python interpreter, or unset it");
    else
      report.ok("P1", "no python3 in PATH: nothing to check (set CATENARY_PYTHON to use another Python)");
    return;
  }
  if (!error.empty())
    return report.warn("P1", fmt::format("{}, asked for its cupy, {}", program, error),
                       fmt::format("try `{} -c 'import cupy'`", program));
  const std::string python =
      fmt::format("Python {} ({})", answer.value("python", std::string()), answer.value("path", std::string()));
  const std::string path = answer.value("path", program);
  const bool hook = answer.value("hook", false);
  const ordered_json cupy = answer.value("cupy", ordered_json());
  const ordered_json others = answer.value("others", ordered_json::array());
  if (!cupy.is_object()) {
    if (hook)
      report.warn("P1", fmt::format("{}: catenary is installed, but `import cupy` finds nothing", python),
                  "its hook does not run: see CATENARY_PYTHON_HOOKS, or use `python -m catenary script.py`");
    else
      report.ok("P1", fmt::format("{}: no cupy; `{} -m pip install {}` installs one", python, path, kWheel));
  } else if (cupy.contains("error")) {
    report.warn("P1", fmt::format("{}: `import cupy` fails with {}", python, cupy.value("error", std::string())),
                fmt::format("{} -m pip install --force-reinstall what is broken", path));
  } else if (const std::string ours = cupy.value("ours", std::string()); !ours.empty()) {
    report.ok("P1", fmt::format("{}: `import cupy` gives Catenary {} ({}), {} devices{}", python, ours,
                                cupy.value("path", std::string()), cupy.value("devices", 0),
                                others.empty() ? "" : ", before " + others[0].get<std::string>()));
  } else {
    const std::string gives = fmt::format("{}: `import cupy` gives CuPy {} ({})", python,
                                          cupy.value("version", std::string()), cupy.value("path", std::string()));
    if (hook)
      report.warn("P1", gives + ", with Catenary installed beside it", "CATENARY_CUPY=1 gives Catenary's");
    else
      report.ok("P1", gives);
  }
  check_chainer(path, answer, report);
}

}  // namespace catenary::doctor
