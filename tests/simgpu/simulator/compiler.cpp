// The stand-in of NVRTC and hipRTC: the host's compiler, behind kernel_shim.h. The text is preprocessed first, so that
// its kernels can be found by the vendors' own word __global__; each gets a function that unpacks an array of pointers
// to arguments, as a launch gives them.

#include <unistd.h>

#include <cctype>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>

#include "tests/simgpu/simulator/device.h"

namespace simgpu {

namespace {

std::string read(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

void write(const std::string& path, const std::string& content) { std::ofstream(path, std::ios::binary) << content; }

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }

/// The place of the ')' of the '(' at `open`.
std::size_t closing(const std::string& text, std::size_t open) {
  int depth = 0;
  for (std::size_t i = open; i < text.size(); ++i) {
    if (text[i] == '(') ++depth;
    if (text[i] == ')' && --depth == 0) return i;
  }
  return text.size();
}

std::vector<std::string> split(const std::string& list) {
  std::vector<std::string> parts(1);
  int depth = 0;
  for (char c : list) {
    if (c == '(') ++depth;
    if (c == ')') --depth;
    if (c == ',' && depth == 0)
      parts.emplace_back();
    else
      parts.back() += c;
  }
  return parts;
}

/// The size of group in __launch_bounds__(n) or amdgpu_flat_work_group_size(n, n); "0" where it is not said.
std::string group_size(const std::string& head) {
  for (const char* word : {"__launch_bounds__", "amdgpu_flat_work_group_size"}) {
    const auto at = head.find(word);
    if (at == std::string::npos) continue;
    const auto open = head.find('(', at);
    return split(head.substr(open + 1, closing(head, open) - open - 1)).back();
  }
  return "0";
}

/// For each kernel NAME: sim_call_NAME(void** arguments), sim_sizes_NAME (of the arguments, then 0), sim_group_NAME.
std::string callers(const std::string& text) {
  std::string result;
  for (std::size_t at = 0; (at = text.find("__global__", at)) != std::string::npos;) {
    const std::size_t body = text.find('{', at);
    std::size_t open = text.rfind(')', body);
    // the '(' of the parameters: the one that closes just before the body
    for (int depth = 0; open > at; --open) {
      if (text[open] == ')') ++depth;
      if (text[open] == '(' && --depth == 0) break;
    }
    std::size_t end = open;
    while (!is_word(text[end - 1])) --end;
    std::size_t begin = end;
    while (is_word(text[begin - 1])) --begin;
    const std::string name = text.substr(begin, end - begin);
    std::string arguments, sizes;
    int count = 0;
    for (std::string parameter : split(text.substr(open + 1, closing(text, open) - open - 1))) {
      while (!parameter.empty() && !is_word(parameter.back())) parameter.pop_back();
      while (!parameter.empty() && is_word(parameter.back())) parameter.pop_back();  // its name
      if (parameter.empty()) continue;
      arguments += (count ? ", " : "") + ("*(" + parameter + "*)a[" + std::to_string(count) + "]");
      sizes += "sizeof(" + parameter + "), ";
      ++count;
    }
    result += "extern \"C\" void sim_call_" + name + "(void** a) { (void)a; " + name + "(" + arguments + "); }\n" +
              "extern \"C\" { int sim_sizes_" + name + "[] = {" + sizes + "0}; int sim_group_" + name + " = " +
              group_size(text.substr(at, begin - at)) + "; }\n";
    at = body;
  }
  return result;
}

/// PTX in a text: `asm("cvt.a.b %0, %1;" : "=x"(to) : "y"(from));` becomes a call.
std::string without_ptx(std::string text) {
  const struct {
    const char *ptx, *call;
  } known[] = {{"cvt.f32.f16", "sim_f32_of_f16"}, {"cvt.rn.f16.f32", "sim_f16_of_f32"}};
  for (std::size_t at = 0; (at = text.find("asm(\"", at)) != std::string::npos; ++at) {
    const std::size_t end = closing(text, at + 3);
    const std::string whole = text.substr(at, end - at);
    for (const auto& [ptx, call] : known) {
      if (whole.find(std::string("\"") + ptx + " ") == std::string::npos) continue;
      const auto operand = [&](std::size_t colon) {
        const std::size_t open = whole.find('(', colon);
        return whole.substr(open + 1, closing(whole, open) - open - 1);
      };
      const std::size_t first = whole.find(':'), second = whole.find(':', first + 1);
      text.replace(at, end - at + 1, operand(first) + " = " + call + "(" + operand(second) + ")");
      break;
    }
  }
  return text;
}

}  // namespace

bool compile(const std::string& text, std::vector<char>& binary, std::string& log) {
  if (fault("compile")) {
    log = "a fault that was asked for";
    return false;
  }
  char folder[] = "/tmp/simgpu-XXXXXX";
  if (!::mkdtemp(folder)) {
    log = "no temporary folder";
    return false;
  }
  const std::string base = folder, compiler = SIMGPU_CXX, log_file = base + "/log";
  write(base + "/a.cpp", text);
  bool ok = std::system((compiler + " -w -E -P -o " + base + "/b.cpp " + base + "/a.cpp 2>" + log_file).c_str()) == 0;
  if (ok) {
    const std::string plain = read(base + "/b.cpp");
    write(base + "/c.cpp", "#include \"" SIMGPU_SHIM "\"\n" + without_ptx(plain) + "\n" + callers(plain) +
                               "extern \"C\" { int sim_has_barriers = " +
                               (plain.find("__syncthreads") == std::string::npos ? "0" : "1") + "; }\n");
    ok = std::system((compiler + " -w -std=c++17 -O1 -march=native -fwrapv -fno-strict-aliasing -ffp-contract=off " +
                      "-fno-math-errno -fno-exceptions -fPIC -shared -o " + base + "/d.so " + base + "/c.cpp -lm 2>" +
                      log_file)
                         .c_str()) == 0;
  }
  log = read(log_file);
  if (ok) {
    const std::string code = read(base + "/d.so");
    const std::uint64_t length = code.size();
    binary.resize(sizeof length + code.size());
    std::memcpy(binary.data(), &length, sizeof length);
    std::memcpy(binary.data() + sizeof length, code.data(), code.size());
  }
  for (const char* name : {"/a.cpp", "/b.cpp", "/c.cpp", "/d.so", "/log"}) ::unlink((base + name).c_str());
  ::rmdir(folder);
  return ok;
}

}  // namespace simgpu
