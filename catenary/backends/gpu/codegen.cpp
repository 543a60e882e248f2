#include "catenary/backends/gpu/codegen.h"

#include "catenary/core/format.h"
#include "catenary/ops/op_names.h"

namespace catenary::gpu {

using ops::Node;
using ops::Op;
using ops::Reg;

std::string substitute(std::string_view expression, Reg reg, const std::vector<std::string>& operands) {
  const auto is_word = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
  };
  std::string out;
  for (std::size_t i = 0; i < expression.size();) {
    if (!is_word(expression[i])) {
      out += expression[i++];
      continue;
    }
    std::size_t end = i;
    while (end < expression.size() && is_word(expression[end])) ++end;
    const std::string_view word = expression.substr(i, end - i);
    if (word == "T") {
      out += register_type(reg);
    } else if (word == "FN") {
      const std::size_t close = expression.find(')', end);
      out += fmt::format("ct_{}_{}", expression.substr(end + 1, close - end - 1), ops::register_name(reg));
      end = close + 1;
    } else if (word.size() == 1 && word[0] >= 'a' && word[0] <= 'c') {
      out += operands.at(static_cast<std::size_t>(word[0] - 'a'));
    } else {
      out += word;
    }
    i = end;
  }
  return out;
}

ProgramText::ProgramText(const ops::Program& program) : program_(program) {
  places_.reserve(program.loads.size() + program.stores.size());
  load_place_.reserve(program.loads.size());
  store_place_.reserve(program.stores.size());
  for (const ops::Access& load : program.loads) load_place_.push_back(place_of(load, false));
  for (const ops::Store& store : program.stores) store_place_.push_back(place_of(store.to, true));

  const auto beyond = [](std::int64_t value) {
    return value >= (std::int64_t{1} << 31) - (1 << 24) || value < -(std::int64_t{1} << 31);
  };
  wide_ = beyond(program.shape.product());
  for (const Place& place : places_) {
    std::int64_t low = place.access->offset, high = low;
    for (int axis = 0; axis < program.shape.size(); ++axis) {
      const std::int64_t reach = (program.shape[axis] - 1) * place.access->strides[axis];
      (reach < 0 ? low : high) += reach;
    }
    wide_ = wide_ || beyond(low) || beyond(high);
  }

  key_.add(std::uint64_t{wide_} | static_cast<std::uint64_t>(program.shape.size()) << 8 | places_.size() << 16 |
           program.nodes.size() << 32 | program.stores.size() << 48);
  for (const Place& place : places_)
    key_.add(static_cast<std::uint64_t>(place.access->dtype) | std::uint64_t{place.read} << 8 |
             std::uint64_t{place.written} << 9 | static_cast<std::uint64_t>(place.step) << 16);
  const auto half = [](std::int16_t value) { return std::uint64_t{static_cast<std::uint16_t>(value)}; };
  for (const Node& node : program.nodes) {
    const std::uint64_t made = static_cast<std::uint64_t>(node.op) | static_cast<std::uint64_t>(node.reg) << 16;
    if (node.op == Op::constant)
      key_.add(made);
    else if (node.op == Op::load)
      key_.add(made | half(load_place_[static_cast<std::size_t>(node.slot)]) << 32);
    else
      key_.add(made | static_cast<std::uint64_t>(node.operand_reg) << 24 | half(node.args[0]) << 32)
          .add(half(node.args[1]) | half(node.args[2]) << 16);
  }
  for (std::size_t s = 0; s < program.stores.size(); ++s)
    key_.add(half(program.stores[s].value) | half(store_place_[s]) << 16);
}

std::int16_t ProgramText::place_of(const ops::Access& access, bool written) {
  std::size_t i = 0;
  while (i < places_.size() &&
         !(places_[i].access->handle == access.handle && places_[i].access->offset == access.offset &&
           places_[i].access->dtype == access.dtype && places_[i].access->strides == access.strides))
    ++i;
  if (i == places_.size()) {
    const std::int64_t last = access.strides.back();
    places_.push_back({&access, false, false, last == 0 ? '0' : last == 1 ? '1' : 's'});
  }
  (written ? places_[i].written : places_[i].read) = true;
  return static_cast<std::int16_t>(i);
}

std::string ProgramText::operands(const std::string& suffix) const {
  std::string text;
  const int leading = program_.shape.size() - 1;
  for (std::size_t p = 0; p < places_.size(); ++p) {
    const Place& place = places_[p];
    text += fmt::format("{} RESTRICT p{}{}, idx o{}{}, ", pointer(place), p, suffix, p, suffix);
    for (int axis = 0; axis < leading; ++axis) text += fmt::format("idx s{}_{}{}, ", p, axis, suffix);
    if (place.step == 's') text += fmt::format("idx s{}_{}{}, ", p, leading, suffix);
  }
  return text;
}

std::string ProgramText::constants() const {
  std::string text;
  for (std::size_t i = 0; i < program_.nodes.size(); ++i)
    if (program_.nodes[i].op == Op::constant) {
      const Reg reg = program_.nodes[i].reg;
      const char* const type = register_type(ops::part_register(reg));
      text += ops::is_complex(reg) ? fmt::format("{} v{}re, {} v{}im, ", type, i, type, i)
                                   : fmt::format("{} v{}, ", type, i);
    }
  return text;
}

std::string ProgramText::parameters() const {
  std::string text = operands() + constants();
  for (int axis = 0; axis < program_.shape.size(); ++axis) text += fmt::format("{}idx d{}", axis ? ", " : "", axis);
  return text;
}

void ProgramText::add_operands(Args& args) const {
  const int leading = program_.shape.size() - 1;
  for (const Place& place : places_) {
    args.add(place.access->handle).index(place.access->offset, wide_);
    for (int axis = 0; axis < leading; ++axis) args.index(place.access->strides[axis], wide_);
    if (place.step == 's') args.index(place.access->strides[leading], wide_);
  }
}

void ProgramText::add_constants(Args& args) const {
  for (const Node& node : program_.nodes) {
    if (node.op != Op::constant) continue;
    const ops::Constant& value = program_.constants[static_cast<std::size_t>(node.slot)];
    switch (node.reg) {
      case Reg::b:
        args.add(static_cast<std::uint8_t>(value.i != 0));
        break;
      case Reg::i32:
        args.add(static_cast<std::int32_t>(value.i));
        break;
      case Reg::f32:
        args.add(static_cast<float>(value.f));
        break;
      case Reg::c64:
        args.add(static_cast<float>(value.f)).add(static_cast<float>(value.imag));
        break;
      case Reg::c128:
        args.add(value.f).add(value.imag);
        break;
      default:
        args.add(value.u);
    }
  }
}

void ProgramText::add_arguments(Args& args) const {
  add_operands(args);
  add_constants(args);
  for (std::int64_t extent : program_.shape) args.index(extent, wide_);
}

std::string ProgramText::pointer(const Place& place) {
  return fmt::format("GLOBAL {}{}*", place.written ? "" : "const ", memory_type(place.access->dtype));
}

std::string ProgramText::choose(const std::string& suffix, bool declared) const {
  std::string text;
  for (std::size_t p = 0; p < places_.size(); ++p)
    text += fmt::format("{}p{} = p{}{}; {}o{} = o{}{};\n", declared ? pointer(places_[p]) + " " : "", p, p, suffix,
                        declared ? "idx " : "", p, p, suffix);
  return text;
}

std::string ProgramText::names() const {
  std::string text;
  for (std::size_t p = 0; p < places_.size(); ++p) text += fmt::format("p{}, o{}, ", p, p);
  for (std::size_t i = 0; i < program_.nodes.size(); ++i)
    if (program_.nodes[i].op == Op::constant)
      text += ops::is_complex(program_.nodes[i].reg) ? fmt::format("v{}re, v{}im, ", i, i) : fmt::format("v{}, ", i);
  return text;
}

std::string ProgramText::operations() const {
  std::string text;
  for (const Node& node : program_.nodes)
    if (node.op != Op::load && node.op != Op::constant)
      text += (text.empty() ? "" : ", ") + std::string(ops::info(node.op).name);
  return text;
}

std::string ProgramText::decompose(const std::string& linear, const std::vector<int>& axes) const {
  if (axes.empty()) return {};
  std::string text = fmt::format("{{ idx rest = {};", linear), names;
  for (std::size_t k = axes.size(); k-- > 0;) {
    const int axis = axes[k];
    names += fmt::format("idx index{}; ", axis);
    text += k == 0 ? fmt::format(" index{} = rest;", axis)
                   : fmt::format(" index{} = rest % d{}; rest /= d{};", axis, axis, axis);
  }
  return names + text + " }\n";
}

std::string ProgramText::extent(int axis) const { return fmt::format("d{}", axis); }

std::string ProgramText::bases() const {
  std::string text;
  for (std::size_t p = 0; p < places_.size(); ++p) {
    text += fmt::format("const idx base{} = o{}", p, p);
    for (int axis = 0; axis < program_.shape.size() - 1; ++axis)
      text += fmt::format(" + index{} * s{}_{}", axis, p, axis);
    text += ";\n";
  }
  return text;
}

std::string ProgramText::element(std::int16_t place) const {
  switch (places_[static_cast<std::size_t>(place)].step) {
    case '0':
      return fmt::format("base{}", place);
    case '1':
      return fmt::format("base{} + j", place);
    default:
      return fmt::format("base{} + j * s{}_{}", place, place, program_.shape.size() - 1);
  }
}

namespace {

bool is_circular(const Node& node) {
  return (node.op == Op::sin || node.op == Op::cos || node.op == Op::tan) && !ops::is_complex(node.operand_reg);
}

/// Returns sin, cos or tan of a small angle (ops/math.inc), without a branch.
std::string near_circular(const Node& node, const std::string& angle) {
  const std::string value = fmt::format("ct_{0}_turn_{1}(ct_near_turn_{1}({2}))", ops::info(node.op).name,
                                        ops::register_name(node.operand_reg), angle);
  return node.op == Op::cos ? value : fmt::format("{0} == 0 ? {0} : {1}", angle, value);
}

}  // namespace

std::string ProgramText::far_angles() const {
  std::vector<bool> wanted(program_.nodes.size());
  std::string tests;
  for (std::size_t i = program_.nodes.size(); i-- > 0;) {
    const Node& node = program_.nodes[i];
    if (is_circular(node))
      tests += fmt::format("far |= ct_is_far_{}(v{});\n", ops::register_name(node.operand_reg), node.args[0]);
    if (!wanted[i] && !is_circular(node)) continue;
    for (std::int16_t arg : node.args)
      if (arg >= 0) wanted[static_cast<std::size_t>(arg)] = true;
  }
  return tests.empty() ? tests : lines(wanted, true) + tests;
}

std::string ProgramText::body(bool near) const { return lines(std::vector<bool>(program_.nodes.size(), true), near); }

std::string ProgramText::lines(const std::vector<bool>& wanted, bool near) const {
  std::string text;
  for (std::size_t i = 0; i < program_.nodes.size(); ++i) {
    const Node& node = program_.nodes[i];
    if ((node.op == Op::constant && !ops::is_complex(node.reg)) || !wanted[i]) continue;
    std::string value;
    if (node.op == Op::constant) {
      value = fmt::format("ct_complex_{}(v{}re, v{}im)", ops::register_name(node.reg), i, i);
    } else if (node.op == Op::load) {
      const std::int16_t place = load_place_[static_cast<std::size_t>(node.slot)];
      value = fmt::format("LOAD_{}(p{}, {})", dtype_name(places_[static_cast<std::size_t>(place)].access->dtype), place,
                          element(place));
    } else {
      std::vector<std::string> operands;
      for (std::int16_t arg : node.args)
        if (arg >= 0) operands.push_back(fmt::format("v{}", arg));
      if (near && is_circular(node)) {
        value = near_circular(node, operands[0]);
      } else if (node.op != Op::cast) {
        value = substitute(ops::expression(node.op, node.operand_reg), node.operand_reg, operands);
      } else if (node.reg == node.operand_reg) {
        value = operands[0];
      } else {
        value = fmt::format("ct_cast_{}_{}({})", ops::register_name(node.operand_reg), ops::register_name(node.reg),
                            operands[0]);
      }
    }
    text += fmt::format("const {} v{} = {};\n", register_type(node.reg), i, value);
  }
  return text;
}

std::string ProgramText::stores() const {
  std::string text;
  for (std::size_t s = 0; s < program_.stores.size(); ++s) {
    const std::int16_t place = store_place_[s];
    text += fmt::format("STORE_{}(p{}, {}, v{});\n", dtype_name(places_[static_cast<std::size_t>(place)].access->dtype),
                        place, element(place), program_.stores[s].value);
  }
  return text;
}

}  // namespace catenary::gpu
