#include "catenary/kernels/signature.h"

#include <map>
#include <mutex>
#include <string_view>
#include <utility>

#include "catenary/core/error.h"
#include "catenary/core/format.h"
#include "catenary/kernels/texts.h"
#include "catenary/kernels/types.h"

namespace catenary::kernels {

namespace {

using Kind = TextArgument::Kind;

/// A declared parameter: its type without the address space, and its name.
struct Declared {
  std::string type, name;
  bool pointer = false;
};

Declared declared(std::string_view text) {
  Declared d;
  std::string word;
  const auto take = [&] {
    if (word != "" && word != "GLOBAL" && word != "RESTRICT" && word != "const")
      (d.type.empty() ? d.type : d.name) = word;
    word.clear();
  };
  for (const char c : text) {
    if (c == '*') d.pointer = true;
    if (c == ' ' || c == '\n' || c == '*')
      take();
    else
      word += c;
  }
  take();
  return d;
}

std::vector<TextParameter> parse(const char* text, const char* kernel) {
  const std::string_view all = kernels::text(text);
  const std::string head = fmt::format("KERNEL REQD(GROUP) {}(", kernel);
  const std::size_t start = all.find(head);
  if (start == std::string_view::npos) fail<ValueError>("internal: no kernel '{}' in the text '{}'", kernel, text);
  const std::size_t begin = start + head.size();
  std::string_view list = all.substr(begin, all.find(')', begin) - begin);
  const auto odd = [&](const std::string& name) {
    fail<ValueError>("internal: {}.{}: '{}' is not declared as kernels/signature.h wants it", text, kernel, name);
  };

  std::vector<TextParameter> parameters;
  std::string offset_of;  // the array whose offset must be the next parameter
  bool has_units = false;
  for (;;) {
    const std::size_t end = list.find(',');
    const Declared d = declared(list.substr(0, end));
    const bool integer = !d.pointer && d.type == "idx";
    if (has_units) odd(d.name);
    if (!offset_of.empty()) {
      if (!integer || d.name != offset_of + "_at") odd(offset_of);
      offset_of.clear();
    } else if (d.pointer) {
      parameters.push_back({Kind::array, d.type, d.name});
      offset_of = d.name;
    } else if (integer && d.name == "units") {
      has_units = true;
    } else if (integer || d.type == "T") {
      parameters.push_back({integer ? Kind::integer : Kind::real, d.type, d.name});
    } else {
      odd(d.name);
    }
    if (end == std::string_view::npos) break;
    list.remove_prefix(end + 1);
  }
  if (!has_units) odd("units");
  return parameters;
}

const char* name_of(Kind kind) {
  return kind == Kind::array ? "an array" : kind == Kind::integer ? "an integer" : "a real number";
}

}  // namespace

const std::vector<TextParameter>& signature(const char* text, const char* kernel) {
  static std::mutex mutex;
  static auto& known = *new std::map<std::pair<const char*, const char*>, std::vector<TextParameter>>;
  std::lock_guard lock(mutex);
  const auto found = known.find({text, kernel});
  if (found != known.end()) return found->second;
  return known.emplace(std::pair(text, kernel), parse(text, kernel)).first->second;
}

void check_arguments(const primitives::RunText& run) {
  const std::vector<TextParameter>& parameters = signature(run.text, run.kernel);
  if (run.arguments.size() != parameters.size())
    fail<ValueError>("{}.{}: the kernel takes {} arguments, {} were given", run.text, run.kernel, parameters.size(),
                     run.arguments.size());
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    const TextParameter& parameter = parameters[i];
    const TextArgument& given = run.arguments[i];
    if (given.kind != parameter.kind)
      fail<ValueError>("{}.{}: argument {}, '{}', is {}, and {} was given", run.text, run.kernel, i, parameter.name,
                       name_of(parameter.kind), name_of(given.kind));
    if (given.kind != Kind::array) continue;
    const Dtype dtype = given.view->dtype;
    const std::string wanted = parameter.type == "MEM" ? dtype_name(run.dtype)
                               : parameter.type == "T" ? dtype_name(dtype_of_register(ops::register_of(run.dtype)))
                                                       : parameter.type;
    if (wanted != dtype_name(dtype) && wanted != memory_type(dtype))
      fail<DtypeError>("{}.{}: argument {}, '{}', is an array of {}, and one of {} was given", run.text, run.kernel, i,
                       parameter.name, wanted, dtype);
  }
}

}  // namespace catenary::kernels
