// `catenary doctor` for made-up machines with Windows: their registry and the files of System32.

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "catenary/core/os/process.h"
#include "tests/folder.h"
#include "tests/paths.h"
#include "tests/texts.h"

namespace {

using nlohmann::json;
using tests::has;

const std::string kClasses = "SYSTEM\\CurrentControlSet\\Control\\Class\\";
const std::string kAdapters = kClasses + "{4d36e968-e325-11ce-bfc1-08002be10318}\\";
const std::string kComponents = kClasses + "{5c4c3332-344d-483c-8739-259e934c9cc8}\\";

class Windows {
 public:
  Windows() {
    told_ = {{"user", "ada"}, {"system", "Windows 10.0.19045 x86_64"}, {"registry", json::object()}};
    // that of Linux in WSL, and of Wine: not to be looked at
    folder_.write("sys/bus/pci/devices/0000:03:00.0/uevent", "DRIVER=amdgpu\nPCI_CLASS=30000\nPCI_ID=1002:73FF\n");
    folder_.write("proc/1/cgroup", "0::/docker/1\n");
  }
  Windows& adapter(const std::string& number, const std::string& id, const std::string& title) {
    return key(kAdapters + number, {{"MatchingDeviceId", id},
                                    {"DriverDesc", title},
                                    {"DriverVersion", "31.0.24033.1003"},
                                    {"DriverDate", "7-11-2024"}});
  }
  Windows& key(const std::string& path, const json& values) {
    told_["registry"][path].update(values);
    return *this;
  }
  Windows& library(const std::string& name) {
    folder_.write("Windows/System32/" + name, "");
    return *this;
  }
  Windows& probe(const std::string& name, const json& answer) {
    told_["probes"][name] = {{"answer", answer}};
    return *this;
  }
  Windows& fact(const std::string& name, const json& value) {
    told_[name] = value;
    return *this;
  }
  std::string words(int code = 0) const {
    folder_.write("machine.json", told_.dump());
    const catenary::os::ProcessResult result = catenary::os::run_process(
        {tests::build_path("bin/catenary"), "doctor", "--root", folder_.path}, {.timeout = 300});
    EXPECT_EQ(result.exit_code, code) << result.output << result.errors;
    return result.output;
  }

 private:
  tests::Folder folder_;
  json told_;
};

TEST(DoctorOfWindows, FindsTheCardAndItsDriver) {
  Windows machine;
  machine.adapter("0000", "PCI\\VEN_1002&DEV_73FF&REV_C1", "AMD Radeon RX 6600 XT")
      .adapter("0001", "ROOT\\MirrorDriver", "A mirror")
      .key(kComponents + "0000", {{"OpenCLDriverName", "C:\\Windows\\System32\\DriverStore\\amdocl64.dll"}})
      .key("SOFTWARE\\Khronos\\OpenCL\\Vendors", {{"C:\\intel\\IntelOpenCL64.dll", "0"}, {"C:\\old\\removed.dll", "1"}})
      .key("SYSTEM\\CurrentControlSet\\Control\\FileSystem", {{"LongPathsEnabled", "1"}})
      .library("OpenCL.dll")
      .library("amdhip64_6.dll")
      .library("nvcuda.dll")
      .library("kernel32.dll");
  const json card = {
      {"id", "opencl:0"},   {"name", "gfx1032"},          {"platform", "AMD Accelerated Parallel Processing"},
      {"driver", "3628.0"}, {"memory_bytes", 8573157376}, {"is_cpu", false}};
  machine.probe("test:cpu", {{"gflops", 300}})
      .probe("cuda", {{"reason", "this build for Windows does not use CUDA yet"}, {"devices", json::array()}})
      .probe("hip", {{"reason", "this build for Windows does not use HIP yet"}, {"devices", json::array()}})
      .probe("opencl", {{"reason", ""}, {"devices", json::array({card})}})
      .probe("test:opencl:0", {{"gflops", 4000}});
  const std::string text = machine.words();
  EXPECT_TRUE(has(text,
                  "OK   W1  AMD GPU 1002:73ff: AMD Radeon RX 6600 XT, driver 31.0.24033.1003 of 7-11-2024\n"
                  "OK   W2  /Windows/System32/OpenCL.dll; OpenCL's drivers: "
                  "C:/Windows/System32/DriverStore/amdocl64.dll, C:/intel/IntelOpenCL64.dll\n"
                  "OK   W3  amdhip64_6.dll, nvcuda.dll in /Windows/System32: not used yet, "))
      << text;
  EXPECT_TRUE(has(text, "OK   W4  Windows resets a card with a display after a kernel of 2 s")) << text;
  EXPECT_TRUE(has(text, "OK   W5  paths may be longer than 260 characters\n")) << text;
  EXPECT_TRUE(has(text, "OK   W6  arguments and file names are UTF-8\n")) << text;
  EXPECT_TRUE(has(text, "OK   B1  cuda: no device: this build for Windows")) << text;
  EXPECT_TRUE(has(text, "OK   B1  hip: no device: this build for Windows")) << text;
  EXPECT_TRUE(has(text, "0 warnings, 0 failures; 2 usable devices")) << text;
  for (const char* linux : {"  H1 ", "  H4 ", "  A1 ", "  O1 "}) EXPECT_FALSE(has(text, linux)) << text;
}

TEST(DoctorOfWindows, TellsThatTheDriverIsMissing) {
  Windows machine;
  EXPECT_TRUE(has(machine.words(), "WARN W1  Windows lists no GPU of AMD, NVIDIA or Intel -> nothing, "));
  EXPECT_TRUE(has(machine.words(), "OK   W2  /Windows/System32/OpenCL.dll does not exist\n"));
  EXPECT_TRUE(has(machine.words(), "OK   W3  neither nvcuda.dll nor amdhip64*.dll is in /Windows/System32"));
  machine.adapter("0000", "pci\\cc_0300", "Microsoft Basic Display Adapter");
  EXPECT_TRUE(has(machine.words(),
                  "WARN W1  Microsoft Basic Display Adapter: a driver without OpenCL -> install the driver of"));
  EXPECT_FALSE(has(machine.words(), "lists no GPU")) << machine.words();

  Windows bare;
  bare.adapter("0000", "pci\\ven_10de&dev_2204", "NVIDIA GeForce RTX 3090");
  EXPECT_TRUE(has(bare.words(1), "FAIL W2  /Windows/System32/OpenCL.dll does not exist -> install the graphics driver"))
      << bare.words(1);
  bare.library("OpenCL.dll");
  EXPECT_TRUE(has(bare.words(1), "FAIL W2  /Windows/System32/OpenCL.dll is there, but no driver of OpenCL is"));
  bare.key(kAdapters + "0000", {{"OpenCLDriverName", "C:\\gone\\nvopencl64.dll"}})
      .probe("library:C:/gone/nvopencl64.dll", {{"error", "The specified module could not be found."}});
  EXPECT_TRUE(has(bare.words(1),
                  "WARN W2  the registered OpenCL driver C:/gone/nvopencl64.dll cannot be loaded: The specified module "
                  "could not be found. -> install that driver again, or uninstall it\n"))
      << bare.words(1);
}

TEST(DoctorOfWindows, TellsSettings) {
  Windows machine;
  machine.adapter("0000", "pci\\ven_8086&dev_9a49", "Intel Iris Xe").fact("code_page", 1251);
  machine.key("SYSTEM\\CurrentControlSet\\Control\\GraphicsDrivers", {{"TdrDelay", "60"}});
  const std::string text = machine.words(1);
  EXPECT_TRUE(has(text, "OK   W4  Windows resets a card with a display after a kernel of 60 s")) << text;
  EXPECT_TRUE(has(text, "OK   W5  paths longer than 260 characters: Catenary opens them, other programs do not"))
      << text;
  EXPECT_TRUE(has(text, "WARN W6  code page 1251: letters that it lacks are lost in arguments -> update")) << text;
  machine.key("SYSTEM\\CurrentControlSet\\Control\\GraphicsDrivers", {{"TdrLevel", "0"}});
  EXPECT_TRUE(has(machine.words(1), "OK   W4  kernels may run without a limit (TdrLevel is 0)\n"));
}

}  // namespace
