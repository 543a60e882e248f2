// Entries of functions that rearrange elements.

#include "catenary/functions/array.h"
#include "chainer_functions.h"

namespace reference {

namespace ct = catenary;
namespace F = catenary::functions;

namespace {

ct::Sections sections(Keywords& k) {
  const json& j = k.get("indices_or_sections");
  if (j.is_number_integer()) return j.get<std::int64_t>();
  return j.get<std::vector<std::int64_t>>();
}

void add_axes(FunctionTable& table) {
  table.add("broadcast_to", [](const Inputs& x, Keywords& k) { return F::broadcast_to(x[0], k.integers("shape")); });
  table.add("broadcast", [](const Inputs& x) { return F::broadcast(x); });
  table.add("reshape", [](const Inputs& x, Keywords& k) { return F::reshape(x[0], k.integers("shape")); });
  table.add("transpose", [](const Inputs& x, Keywords& k) {
    return k.empty() ? F::transpose(x[0]) : F::transpose(x[0], k.integers("axes"));
  });
  table.add("swapaxes",
            [](const Inputs& x, Keywords& k) { return F::swapaxes(x[0], k.integer("axis1"), k.integer("axis2")); });
  table.add("moveaxis", [](const Inputs& x, Keywords& k) {
    return F::moveaxis(x[0], k.integers("source"), k.integers("destination"));
  });
  table.add("rollaxis",
            [](const Inputs& x, Keywords& k) { return F::rollaxis(x[0], k.integer("axis"), k.integer("start")); });
  table.add("expand_dims", [](const Inputs& x, Keywords& k) { return F::expand_dims(x[0], k.integer("axis")); });
  table.add("squeeze", [](const Inputs& x, Keywords& k) { return F::squeeze(x[0], k.axis()); });
  table.unary("flatten", F::flatten);
  table.add("flip", [](const Inputs& x, Keywords& k) { return F::flip(x[0], k.integer("axis")); });
  table.unary("fliplr", F::fliplr);
  table.unary("flipud", F::flipud);
  table.add("depth2space", [](const Inputs& x, Keywords& k) { return F::depth2space(x[0], k.integer("r")); });
  table.add("space2depth", [](const Inputs& x, Keywords& k) { return F::space2depth(x[0], k.integer("r")); });
  table.add("tile", [](const Inputs& x, Keywords& k) { return F::tile(x[0], k.integers("reps")); });
  table.add("repeat", [](const Inputs& x, Keywords& k) {
    return F::repeat(x[0], k.integers("repeats"), k.value<std::optional<int>>("axis"));
  });
  table.add("pad", [](const Inputs& x, Keywords& k) {
    return F::pad(x[0], k.value<ct::PerSide<std::int64_t>>("pad_width"), k.options());
  });
}

void add_joins(FunctionTable& table) {
  table.add("concat",
            [](const Inputs& x, Keywords& k) { return k.empty() ? F::concat(x) : F::concat(x, k.integer("axis")); });
  table.add("stack",
            [](const Inputs& x, Keywords& k) { return k.empty() ? F::stack(x) : F::stack(x, k.integer("axis")); });
  table.add("hstack", [](const Inputs& x) { return F::hstack(x); });
  table.add("vstack", [](const Inputs& x) { return F::vstack(x); });
  table.add("dstack", [](const Inputs& x) { return F::dstack(x); });
  table.add("split_axis",
            [](const Inputs& x, Keywords& k) { return F::split_axis(x[0], sections(k), k.integer("axis")); });
  table.add("separate", [](const Inputs& x, Keywords& k) {
    return k.empty() ? F::separate(x[0]) : F::separate(x[0], k.integer("axis"));
  });
  table.add("pad_sequence", [](const Inputs& x, Keywords& k) {
    return F::pad_sequence(x, k.value<std::optional<std::int64_t>>("length"), k.real("padding"));
  });
  table.add("transpose_sequence", [](const Inputs& x) { return F::transpose_sequence(x); });
}

void add_picks(FunctionTable& table) {
  table.add("get_item", [](const Inputs& x, Keywords& k) { return F::get_item(x[0], parse_slices(k.text("slices"))); });
  table.add("scatter_add",
            [](const Inputs& x, Keywords& k) { return F::scatter_add(x[0], parse_slices(k.text("slices")), x[1]); });
  table.add("where", [](const Inputs& x) { return F::where(x[0], x[1], x[2]); });
  table.binary("select_item", F::select_item);
  table.add("permutate",
            [](const Inputs& x, Keywords& k) { return F::permutate(x[0], x[1], k.integer("axis"), k.flag("inv")); });
  table.add("diagonal", [](const Inputs& x, Keywords& k) {
    return F::diagonal(x[0], k.integer("offset"), k.integer("axis1", 0), k.integer("axis2", 1));
  });
}

}  // namespace

void add_array_functions(FunctionTable& table) {
  add_axes(table);
  add_joins(table);
  add_picks(table);
}

}  // namespace reference
