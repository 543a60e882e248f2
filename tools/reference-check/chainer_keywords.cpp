// Keyword arguments of Chainer cases, and the table of functions.

#include <charconv>

#include "chainer_functions.h"

namespace reference {

namespace ct = catenary;

namespace {

std::string trimmed(const std::string& text) {
  const std::size_t first = text.find_first_not_of(' ');
  return first == std::string::npos ? "" : text.substr(first, text.find_last_not_of(' ') - first + 1);
}

std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts(1);
  for (const char c : text) {
    if (c == separator) {
      parts.emplace_back();
    } else {
      parts.back() += c;
    }
  }
  for (std::string& part : parts) part = trimmed(part);
  return parts;
}

std::int64_t parse_integer(const std::string& text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || error != std::errc() || end != text.data() + text.size())
    throw NotImplemented("an index '" + text + "'");
  return value;
}

ct::Index parse_index(const std::string& text) {
  if (text == "None") return ct::newaxis;
  if (text == "...") return ct::ellipsis;
  const std::vector<std::string> parts = split(text, ':');
  if (parts.size() == 1) return parse_integer(text);
  if (parts.size() > 3) throw NotImplemented("an index '" + text + "'");
  ct::Slice slice;
  std::optional<std::int64_t>* const ends[] = {&slice.start, &slice.stop, &slice.step};
  for (std::size_t i = 0; i < parts.size(); ++i)
    if (!parts[i].empty()) *ends[i] = parse_integer(parts[i]);
  return slice;
}

}  // namespace

std::vector<ct::Index> parse_slices(const std::string& text) {
  const std::string whole = trimmed(text);
  if (whole.size() < 2 || whole.front() != '[' || whole.back() != ']') throw NotImplemented("slices '" + text + "'");
  std::vector<ct::Index> indices;
  for (const std::string& part : split(whole.substr(1, whole.size() - 2), ',')) indices.push_back(parse_index(part));
  return indices;
}

const json Keywords::kNull;

const std::string& Keywords::chainers(const std::string& name) {
  static const std::map<std::string, std::string> others = {{"constant_value", "constant_values"}};
  const auto found = others.find(name);
  return found == others.end() ? name : found->second;
}
const json& Keywords::get(const std::string& name) {
  used_.insert(name);
  const auto found = all_.find(name);
  return found == all_.end() ? kNull : *found;
}
ct::Shape Keywords::integers(const std::string& name) {
  ct::Shape all;
  if (const json& j = get(name); !read(j, all)) throw NotImplemented(name + " = " + j.dump());
  return all;
}

void Keywords::check_all_used() const {
  for (const auto& [name, value] : all_.items())
    if (!used_.contains(name)) throw NotImplemented("keyword argument " + name);
}

const FunctionTable::Call& FunctionTable::find(const std::string& name) const {
  const auto found = calls_.find(name);
  if (found == calls_.end()) throw NotImplemented("function " + name);
  return found->second;
}

}  // namespace reference
