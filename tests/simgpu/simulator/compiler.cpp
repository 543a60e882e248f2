// A stand-in for NVRTC and hipRTC: compiles kernels with the host's compiler, behind kernel_shim.h.
//
// The text is preprocessed first, so that kernels can be found by __global__, and functions that no kernel calls are
// dropped. Each kernel gets a second function that unpacks an array of pointers to arguments, as a launch passes them.
// The preprocessed text and its binary are kept in SIMGPU_STORE. Most texts of the two vendors are equal by then, so
// the other vendor and the next run find the binary there.

#include <sys/stat.h>
#include <unistd.h>

#include <cctype>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <map>
#include <set>

#include "tests/simgpu/simulator/device.h"

namespace simgpu {

namespace {

std::string read(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

void write(const std::string& path, const std::string& content) { std::ofstream(path, std::ios::binary) << content; }

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }

/// Returns the index of the ')' that closes the '(' at `open`.
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

/// A kernel, a function or a declaration at the outer level of a text.
struct Item {
  std::string text, name;  // set for functions with a body
  std::set<std::string> words;
  bool is_kernel = false, is_static = false;
};

/// Returns the index of the '(' before the parameters of the function whose body opens at `body`.
std::size_t parameters_of(const std::string& text, std::size_t body) {
  std::size_t open = text.rfind(')', body);
  for (int depth = 0; open != std::string::npos && open > 0; --open) {
    if (text[open] == ')') ++depth;
    if (text[open] == '(' && --depth == 0) break;
  }
  return open;
}

Item item_of(std::string text) {
  Item item;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (!is_word(text[i])) continue;
    const std::size_t begin = i;
    while (i < text.size() && is_word(text[i])) ++i;
    item.words.insert(text.substr(begin, i - begin));
  }
  item.is_kernel = item.words.contains("__global__");
  const std::size_t body = text.find('{');
  const std::string head = text.substr(0, body);
  if (body != std::string::npos && head.find(')') != std::string::npos && head.find('=') == std::string::npos) {
    std::size_t end = parameters_of(text, body);
    while (end > 0 && !is_word(text[end - 1])) --end;
    std::size_t begin = end;
    while (begin > 0 && is_word(text[begin - 1])) --begin;
    item.name = text.substr(begin, end - begin);
    item.is_static = !item.is_kernel && head.find("static ") != std::string::npos;
  }
  item.text = std::move(text);
  return item;
}

/// Removes `extern "C" { … }` around kernels.
std::string without_linkage_blocks(std::string text) {
  const std::string head = "extern \"C\"";
  for (std::size_t at = 0; (at = text.find(head, at)) != std::string::npos;) {
    const std::size_t open = text.find_first_not_of(" \n", at + head.size());
    if (open == std::string::npos || text[open] != '{') {
      at += head.size();
      continue;
    }
    std::size_t end = open + 1;
    for (int depth = 1; depth > 0 && end < text.size(); ++end) depth += (text[end] == '{') - (text[end] == '}');
    if (text.substr(at, end - at).find("__global__") == std::string::npos) {
      at = end;
      continue;
    }
    text[end - 1] = ' ';
    text.replace(at, head.size(), head.size(), ' ');
    text[open] = ' ';
  }
  return text;
}

/// Turns each `extern __shared__` array (`extern static` once preprocessed) into a pointer to the shared memory that a
/// launch gives a block.
std::string with_dynamic_memory(std::string text) {
  const std::string head = "extern static ";
  for (std::size_t at = 0; (at = text.find(head, at)) != std::string::npos;) {
    int depth = 0;
    for (std::size_t i = 0; i < at; ++i) depth += (text[i] == '{') - (text[i] == '}');
    const std::size_t open = text.find('[', at), end = text.find(';', open);
    if (end == std::string::npos) break;
    std::size_t name = open;
    while (name > at && !is_word(text[name - 1])) --name;
    while (name > at && is_word(text[name - 1])) --name;
    const std::string type = text.substr(at + head.size(), name - at - head.size()) + "*&";
    const std::string made = (depth ? "" : "static ") + type + " " + text.substr(name, open - name) + " = (" + type +
                             ")sim_state.dynamic_memory";
    text.replace(at, end - at, made);
    at += made.size();
  }
  return text;
}

/// Splits a text into items. Outside of braces, an item ends at a ';' or at a '}' that only another item follows.
std::vector<Item> items_of(const std::string& text) {
  std::vector<Item> items;
  std::size_t begin = 0;
  int depth = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '{' || text[i] == '(') ++depth;
    if (text[i] == '}' || text[i] == ')') --depth;
    if (depth != 0 || (text[i] != ';' && text[i] != '}')) continue;
    if (text[i] == '}') {  // the end of a function, or of a type or initializer that a ';' ends
      const std::size_t next = text.find_first_not_of(" \n", i + 1);
      const std::string head = text.substr(begin, text.find('{', begin) - begin);
      if (next != std::string::npos && text[next] == ';') continue;
      const bool is_type = head.find(')') == std::string::npos && head.find("extern") == std::string::npos;
      if (is_type && head.find("namespace") == std::string::npos) continue;
    }
    items.push_back(item_of(text.substr(begin, i + 1 - begin)));
    begin = i + 1;
  }
  items.push_back(item_of(text.substr(begin)));
  return items;
}

/// Returns the items that `roots` need, themselves included. Any word equal to a function's name counts as a call of
/// it.
std::vector<bool> needed_by(const std::vector<Item>& items, std::vector<std::size_t> roots) {
  std::multimap<std::string, std::size_t> by_name;
  for (std::size_t i = 0; i < items.size(); ++i)
    if (!items[i].name.empty()) by_name.emplace(items[i].name, i);
  std::vector<bool> needed(items.size());
  for (std::size_t i : roots) needed[i] = true;
  while (!roots.empty()) {
    const std::size_t at = roots.back();
    roots.pop_back();
    for (const std::string& word : items[at].words) {
      const auto [first, last] = by_name.equal_range(word);
      for (auto i = first; i != last; ++i) {
        if (needed[i->second]) continue;
        needed[i->second] = true;
        roots.push_back(i->second);
      }
    }
  }
  return needed;
}

/// Removes `word(...)`, or `(( word(...) ))` after __attribute__, and returns the last value in its parentheses.
std::string take_attribute(std::string& text, const std::string& word) {
  const std::size_t at = text.find(word);
  if (at == std::string::npos) return "";
  const std::size_t open = text.find('(', at), end = closing(text, open);
  std::string value = split(text.substr(open + 1, end - open - 1)).back();
  value.erase(0, value.find_first_not_of(' '));
  const std::string attribute = "__attribute__((";
  const bool inside = at >= attribute.size() && text.compare(at - attribute.size(), attribute.size(), attribute) == 0;
  if (inside)
    text.erase(at - attribute.size(), end + 3 - (at - attribute.size()));
  else
    text.erase(at, end + 1 - at);
  return value;
}

/// Returns the kernel as a host function, followed by these symbols: sim_call_NAME(void** arguments), sim_sizes_NAME
/// (the sizes of the arguments, then 0), sim_group_NAME (the n of __launch_bounds__(n) or
/// amdgpu_flat_work_group_size(n, n), else 0) and sim_barriers_NAME (whether it uses barriers).
std::string callable(const Item& kernel, bool barriers) {
  std::string text = kernel.text, group = "0";
  for (const char* word : {"__launch_bounds__", "amdgpu_flat_work_group_size"})
    if (const std::string value = take_attribute(text, word); !value.empty()) group = value;
  text.erase(text.find("__global__"), std::strlen("__global__"));
  const std::size_t open = parameters_of(text, text.find('{'));
  std::string arguments, sizes;
  int count = 0;
  for (std::string parameter : split(text.substr(open + 1, closing(text, open) - open - 1))) {
    while (!parameter.empty() && !is_word(parameter.back())) parameter.pop_back();
    while (!parameter.empty() && is_word(parameter.back())) parameter.pop_back();  // drops the parameter's name
    if (parameter.empty()) continue;
    arguments += (count ? ", " : "") + ("*(" + parameter + "*)a[" + std::to_string(count) + "]");
    sizes += "sizeof(" + parameter + "), ";
    ++count;
  }
  std::string words;  // collapses spaces, so that removed attributes leave no trace
  for (char c : text)
    if (c != ' ' || words.empty() || words.back() != ' ') words += c;
  return words + "\nextern \"C\" void sim_call_" + kernel.name + "(void** a) { (void)a; " + kernel.name + "(" +
         arguments + "); }\nextern \"C\" { int sim_sizes_" + kernel.name + "[] = {" + sizes + "0}; int sim_group_" +
         kernel.name + " = " + group + "; int sim_barriers_" + kernel.name + " = " + (barriers ? "1" : "0") + "; }\n";
}

/// Translates a preprocessed text for the host's compiler.
std::string for_host(const std::string& text) {
  const std::vector<Item> items = items_of(text);
  std::vector<std::size_t> roots;
  for (std::size_t i = 0; i < items.size(); ++i)
    if (!items[i].is_static) roots.push_back(i);
  const std::vector<bool> needed = needed_by(items, roots);
  std::string result;
  for (std::size_t i = 0; i < items.size(); ++i) {
    if (!needed[i]) continue;
    if (!items[i].is_kernel || items[i].name.empty()) {
      result += items[i].text;
      continue;
    }
    const std::vector<bool> called = needed_by(items, {i});
    bool barriers = false;
    for (std::size_t j = 0; j < items.size(); ++j)
      barriers = barriers || (called[j] && items[j].words.contains("sim_barrier"));
    result += callable(items[i], barriers);
  }
  return result;
}

/// Replaces PTX: `asm("cvt.a.b %0, %1;" : "=x"(to) : "y"(from));` becomes a call.
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

/// Returns the options of the compiler, which are a part of the store's key.
std::string options() {
  std::string result =
      "-w -std=c++17 -O1 -fwrapv -fno-strict-aliasing -ffp-contract=off -fno-math-errno -fno-exceptions -fPIC";
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) result += " -mavx2 -mfma";
  return result;
}

/// Returns the path of a text's binary in the store. The file also holds the text, which is compared, so a weak hash is
/// enough.
std::string store_path(const std::string& text) {
  std::uint64_t hash = 14695981039346656037u;  // FNV-1a
  for (unsigned char c : text) hash = (hash ^ c) * 1099511628211u;
  char name[17];
  std::snprintf(name, sizeof name, "%016llx", static_cast<unsigned long long>(hash));
  return std::string(SIMGPU_STORE) + "/" + name;
}

/// Returns the stored binary, or an empty string if there is none.
std::string stored(const std::string& text) {
  const std::string content = read(store_path(text)), head = std::to_string(text.size()) + "\n" + text;
  return content.compare(0, head.size(), head) == 0 ? content.substr(head.size()) : "";
}

void store(const std::string& text, const std::string& code) {
  const std::string path = store_path(text), temporary = path + "." + std::to_string(::getpid());
  write(temporary, std::to_string(text.size()) + "\n" + text + code);
  if (std::rename(temporary.c_str(), path.c_str()) != 0) ::unlink(temporary.c_str());
}

bool run(const std::string& command) { return std::system(command.c_str()) == 0; }

/// Returns the binary of a text, or an empty string and the compiler's messages in `log`.
std::string translate(const std::string& text, const std::string& folder, std::string& log) {
  const std::string base = folder + "/", to_log = " 2>" + base + "log";
  write(base + "a.cpp", text);
  const bool defines_half =
      text.find("typedef float16 half") != std::string::npos && text.find("#define CT_HIP") == std::string::npos;
  const std::string shim = (defines_half ? " -DSIM_OWN_HALF -include " : " -include ") + std::string(SIMGPU_SHIM),
                    both = " -DSIM_FUNCTIONS" + shim + " -include " SIMGPU_FUNCTIONS;
  std::string code;
  // SIMGPU_FUNCTIONS slows compiling down and few texts need it, so it is included only after an attempt without it
  // failed.
  for (const std::string& headers : {shim, both}) {
    if (!run(SIMGPU_PREPROCESS " -w" + headers + " -o " + base + "b.ii " + base + "a.cpp" + to_log)) continue;
    const std::string plain = for_host(with_dynamic_memory(without_linkage_blocks(without_ptx(read(base + "b.ii"))))),
                      key = options() + "\n" + plain;
    code = stored(key);
    if (!code.empty()) return code;
    write(base + "c.ii", plain);
    if (run(SIMGPU_TRANSLATE " " + options() + " -o " + base + "c.s " + base + "c.ii" + to_log +
            " && " SIMGPU_ASSEMBLE " -o " + base + "c.o " + base + "c.s" + to_log + " && " SIMGPU_LINK " -o " + base +
            "d.so " + base + "c.o " SIMGPU_LIBRARIES + to_log)) {
      code = read(base + "d.so");
      store(key, code);
      return code;
    }
  }
  // compiles the original text again, so that messages have its line numbers
  run(SIMGPU_CXX " -w -std=c++17 -fsyntax-only -D__global__= '-D__launch_bounds__(...)='" + both + " " + base +
      "a.cpp" + to_log);
  log = read(base + "log");
  return "";
}

}  // namespace

bool compile(const std::string& text, std::vector<char>& binary, std::string& log) {
  if (fault("compile")) {
    log = "a fault that was asked for";
    return false;
  }
  // The folder lies beside the store, not among temporary files, because a process killed here leaves it behind.
  ::mkdir(SIMGPU_STORE, 0777);
  char folder[] = SIMGPU_STORE "/compile-XXXXXX";
  if (!::mkdtemp(folder)) {
    log = "no temporary folder";
    return false;
  }
  const std::string code = translate(text, folder, log);
  if (!code.empty()) {
    const std::uint64_t length = code.size();
    binary.resize(sizeof length + code.size());
    std::memcpy(binary.data(), &length, sizeof length);
    std::memcpy(binary.data() + sizeof length, code.data(), code.size());
  }
  for (const char* name : {"/a.cpp", "/b.ii", "/c.ii", "/c.s", "/c.o", "/d.so", "/log"})
    ::unlink((folder + std::string(name)).c_str());
  ::rmdir(folder);
  return !code.empty();
}

}  // namespace simgpu
