// `catenary doctor` on cupy and Chainer, with a real interpreter that finds packages made by the test.

#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "catenary/core/os/file.h"
#include "catenary/core/os/process.h"
#include "tests/folder.h"
#include "tests/paths.h"
#include "tests/texts.h"

namespace ct = catenary;
using nlohmann::json;
using tests::Folder;

namespace {

using Environment = std::vector<std::pair<std::string, std::string>>;
using tests::has;

/// Folders of packages, and doctor's output for a Python with them in its path.
class Packages {
 public:
  Packages& file(const std::string& name, const std::string& text) {
    const std::string path = folder_ / name;
    ct::os::make_directories(path.substr(0, path.rfind('/')));
    ct::os::write_file(path, std::string_view(text));
    return *this;
  }
  Packages& copy(const std::string& name) {
    file("catenary/" + name, "");
    std::filesystem::copy_file(tests::source_path("python/catenary/" + name), folder_ / ("catenary/" + name),
                               std::filesystem::copy_options::overwrite_existing);
    return *this;
  }
  /// Catenary's hook, in front of a cupy without functions.
  Packages& catenary() {
    for (const char* name : {"_finder.py", "_wheel.py"}) copy(name);
    file("sitecustomize.py", "from catenary._finder import install\ninstall()\n").file("catenary/__init__.py", "");
    file("catenary/cupy/__init__.py",
         "from catenary.cupy import cuda\n__version__ = '14.2.0'\ncatenary_version = '1.2.3'\n");
    file("catenary/cupy/cuda/__init__.py", "from catenary.cupy.cuda import runtime\n");
    file("catenary/chainer/__init__.py", "__version__ = '7.8.1'\n");
    return file("catenary/cupy/cuda/runtime.py", "def getDeviceCount(): return 2\n");
  }
  Packages& cupy(const std::string& version) { return file("cupy/__init__.py", "__version__ = '" + version + "'\n"); }
  Packages& chainer(const std::string& version, const std::string& more = "") {
    file("chainer-" + version + ".dist-info/METADATA",
         "Metadata-Version: 2.1\nName: chainer\nVersion: " + version + "\n");
    return file("chainer/__init__.py", "__version__ = '" + version + "'\n" + more);
  }

  json asked(Environment environment = {}) const {
    environment.insert(environment.begin(), {"PYTHONPATH", folder_.path});
    const ct::os::ProcessResult result =
        ct::os::run_process({tests::build_path("bin/catenary"), "doctor", "--probe", "python"},
                            {.timeout = 100, .environment = environment});
    EXPECT_TRUE(result.ok()) << result.errors;
    return json::parse(result.output);
  }
  std::string words(const Environment& environment = {}) const { return said_of({{"answer", asked(environment)}}); }

  static std::string said_of(const json& probe) {
    const Folder root;
    json told;
    told["probes"]["python"] = probe;
    ct::os::write_file(root / "machine.json", std::string_view(told.dump()));
    const ct::os::ProcessResult result =
        ct::os::run_process({tests::build_path("bin/catenary"), "doctor", "--root", root.path}, {.timeout = 100});
    std::string lines;
    for (std::size_t at = 0, end; (end = result.output.find('\n', at)) != std::string::npos; at = end + 1)
      if (const std::string line = result.output.substr(at, end - at); line.find(" P") == 4 || line.find(" P") == 3)
        lines += line + "\n";
    return lines;
  }
  const std::string& path() const { return folder_.path; }

 private:
  Folder folder_;
};

TEST(DoctorPython, NoPython) {
  EXPECT_EQ(Packages().words({{"PATH", "/nowhere"}, {"CATENARY_PYTHON", ""}}),
            "OK   P1  no python3 in PATH: nothing to check (set CATENARY_PYTHON to use another Python)\n");
  EXPECT_EQ(
      Packages().words({{"CATENARY_PYTHON", "/nowhere/python"}}),
      "WARN P1  CATENARY_PYTHON: '/nowhere/python' cannot be started -> set it to a Python interpreter, or unset it\n");
}

TEST(DoctorPython, NoCupyAndNoChainer) {
  const std::string text = Packages().words();
  EXPECT_TRUE(has(text, "OK   P1  Python 3.") && has(text, " -m pip install catenary-*.whl` installs one")) << text;
  EXPECT_FALSE(has(text, "P2")) << text;
}

TEST(DoctorPython, Ours) {
  Packages packages;
  packages.catenary();
  const std::string text = packages.words();
  EXPECT_TRUE(has(text, ": `import cupy` gives Catenary 1.2.3 (" + packages.path() + "/catenary/cupy), 2 devices\n"))
      << text;
  EXPECT_TRUE(has(text, "OK   P2  `import chainer` gives Catenary's, of version 7.8.1 (" + packages.path() +
                            "/catenary/chainer)\n"))
      << text;
}

TEST(DoctorPython, AnotherCupy) {
  Packages packages;
  const std::string alone = packages.cupy("13.3.0").words();
  EXPECT_TRUE(has(alone, "OK   P1  ") && has(alone, "gives CuPy 13.3.0 (" + packages.path() + "/cupy)\n")) << alone;
  const std::string both = packages.catenary().words();
  EXPECT_TRUE(has(both, "WARN P1  ") &&
              has(both, "gives CuPy 13.3.0 (" + packages.path() +
                            "/cupy), with Catenary installed beside it -> CATENARY_CUPY=1 gives"))
      << both;
  const std::string preferred = packages.words({{"CATENARY_CUPY", "1"}});
  EXPECT_TRUE(has(preferred, "OK   P1  ") && has(preferred, "gives Catenary 1.2.3 (")) << preferred;
}

TEST(DoctorPython, HooksAreOff) {
  const std::string text = Packages().catenary().words({{"CATENARY_PYTHON_HOOKS", "0"}});
  EXPECT_TRUE(has(text, "WARN P1  ") && has(text, "catenary is installed, but `import cupy` finds nothing -> "))
      << text;
}

TEST(DoctorPython, AnInstalledChainer) {
  Packages packages;
  const std::string alone = packages.chainer("7.8.1").words();
  const std::string theirs = "OK   P2  `import chainer` gives Chainer 7.8.1 (" + packages.path() + "/chainer)\n";
  EXPECT_TRUE(has(alone, theirs)) << alone;
  const std::string both = packages.catenary().words();
  EXPECT_TRUE(has(both, "OK   P2  `import chainer` gives Catenary's, of version 7.8.1 (") &&
              has(both, "/catenary/chainer), before Chainer 7.8.1\n"))
      << both;
  const std::string original = packages.words({{"CATENARY_CHAINER", "original"}});
  EXPECT_TRUE(has(original, theirs)) << original;
  const std::string unknown = packages.words({{"CATENARY_CHAINER", "1"}});
  EXPECT_TRUE(
      has(unknown, "WARN P2  `import chainer` fails with ValueError: CATENARY_CHAINER='1': expected own or original") &&
      has(unknown, "-> unset CATENARY_CHAINER: then"))
      << unknown;
  const std::string absent = Packages().catenary().words({{"CATENARY_CHAINER", "original"}});
  EXPECT_TRUE(
      has(absent, "WARN P2  CATENARY_CHAINER=original asks for an installed Chainer, but there is none -> unset"))
      << absent;
}

TEST(DoctorPython, AChainerThatCannotBeImported) {
  const std::string fails = "raise AttributeError('np.sctypes was removed')\n";
  Packages packages;
  const std::string alone = packages.chainer("7.8.1", fails).words();
  EXPECT_TRUE(has(alone, "WARN P2  `import chainer` fails with AttributeError: np.sctypes was removed -> `") &&
              has(alone, " -m pip install catenary-*.whl` installs a chainer for this Python\n"))
      << alone;
  packages.catenary();
  const std::string off = packages.words({{"CATENARY_PYTHON_HOOKS", "0"}});
  EXPECT_TRUE(has(off, "np.sctypes was removed -> unset CATENARY_PYTHON_HOOKS: then")) << off;
  const std::string original = packages.words({{"CATENARY_CHAINER", "original"}});
  EXPECT_TRUE(has(original, "np.sctypes was removed -> unset CATENARY_CHAINER: then")) << original;
  const std::string broken = packages.file("catenary/chainer/__init__.py", fails).words();
  EXPECT_TRUE(has(broken, "np.sctypes was removed -> see `") && has(broken, " -c 'import chainer'`\n")) << broken;
}

TEST(DoctorPython, BrokenOnes) {
  const std::string broken = Packages().file("cupy/__init__.py", "import no_such_module\n").words();
  EXPECT_TRUE(has(broken, "WARN P1  ") && has(broken, "fails with ModuleNotFoundError: No module named")) << broken;
  Packages packages;
  packages.file("python", "#!/bin/sh\necho words >&2\nexit 3\n").file("crashing", "#!/bin/sh\nkill -ABRT $$\n");
  for (const char* name : {"python", "crashing"})
    std::filesystem::permissions(packages.path() + "/" + name, std::filesystem::perms::owner_all);
  const std::string status = packages.words({{"CATENARY_PYTHON", packages.path() + "/python"}});
  EXPECT_TRUE(
      has(status, "WARN P1  " + packages.path() + "/python, asked for its cupy, ended with status 3 (\"words\")"))
      << status;
  const std::string crash = packages.words({{"CATENARY_PYTHON", packages.path() + "/crashing"}});
  EXPECT_TRUE(has(crash, "asked for its cupy, crashed with SIGABRT -> ")) << crash;
  EXPECT_TRUE(has(Packages::said_of({{"failure", "did not answer within 50 s"}}),
                  "WARN P1  python3, asked for its cupy, did not answer within 50 s -> "));
}

}  // namespace
