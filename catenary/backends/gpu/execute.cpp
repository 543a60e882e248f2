
#include <algorithm>
#include <memory>
#include <optional>

#include "catenary/backends/gpu/codegen.h"
#include "catenary/backends/gpu/grid.h"
#include "catenary/backends/gpu/primitives.h"
#include "catenary/backends/gpu/transpose.h"
#include "catenary/core/error.h"
#include "catenary/core/format.h"
#include "catenary/device/segment.h"
#include "catenary/kernels/texts.h"
#include "catenary/ops/op_names.h"

namespace catenary::gpu {

template <>
void compute(Context& context, const Copy& p);
template <>
void compute(Context& context, const Reduce& p);

namespace {

using ops::Node;
using ops::Op;

constexpr int kGroup = 256;
constexpr std::int64_t kBlock = 8192;               // elements per turn of a processor's work-group
constexpr std::int64_t kSegmentBlock = 4 * kGroup;  // elements per turn of a GPU's work-group, for a launch with
                                                    // several segments
// Elements that one work-item adds in a reduction, by form. They depend on the shape only, and so does the result.
constexpr std::int64_t kRowOfGroup = 16384, kRowOfLanes = 8192, kColumn = 512, kTile = 256, kShortRow = 128;

std::string index_type(const ProgramText& text) { return text.wide() ? "typedef i64 idx;\n" : "typedef i32 idx;\n"; }

/// The use of a program's text, appended to its kernel's key.
enum class Use : std::uint64_t { elementwise, segments, reduction };
KernelKey with(KernelKey key, Use use) { return key.add(static_cast<std::uint64_t>(use)); }

constexpr const char* kUnits =
    "for (idx unit = (idx)((i64)units * GROUP_ID / NUM_GROUPS), last = (idx)((i64)units * (GROUP_ID + 1) / "
    "NUM_GROUPS); unit < last; ++unit) {\n";

/// Returns whether a launch has room for a program's arguments and those of its loops.
bool fits(const Context& context, const Args& args) { return args.bytes() + 64 <= context.info.argument_bytes; }

void check_dtypes(const Context& context, const ops::Program& program) {
  if (context.info.has_f64) return;
  const char* what = nullptr;  // for messages: the operation, or the operand if there is no operation
  for (const Node& node : program.nodes) {
    if (node.reg != ops::Reg::f64 && node.reg != ops::Reg::c128) continue;
    if (node.op != Op::load && node.op != Op::constant && node.op != Op::cast)
      return context.check_dtype(Dtype::float64, ops::info(node.op).name);
    what = node.op == Op::cast ? "a cast" : "an array";
  }
  if (what) context.check_dtype(Dtype::float64, what);
}

/// Returns a program whose node 0 loads one operand.
ops::Program load_of(const Shape& shape, const ops::Access& from) {
  ops::Program program;
  program.shape = shape;
  program.loads.push_back(from);
  Node load;
  load.op = Op::load;
  load.reg = ops::register_of(from.dtype);
  load.slot = 0;
  program.nodes.push_back(load);
  return program;
}

/// Ensures at least one axis.
void give_axis(ops::Program& program) {
  if (!program.shape.empty()) return;
  program.shape = {1};
  for (ops::Access& load : program.loads) load.strides = {0};
  for (ops::Store& store : program.stores) store.to.strides = {0};
}

/// If a program has more operands and axes than fit a launch, makes contiguous copies of its strided operands.
class Ordered {
 public:
  Ordered(Context& context, ops::Program& program) : context_(context), shape_(program.shape) {
    const Strides ordered = contiguous_strides(program.shape);
    const std::int64_t size = program.shape.product();
    for (ops::Access& load : program.loads) {
      if (load.strides == ordered) continue;
      const View from{load.handle, load.offset, load.dtype, program.shape, load.strides};
      compute(context, Copy{replace(load, ordered, size), from});
    }
    for (ops::Store& store : program.stores) {
      if (store.to.strides == ordered) continue;
      const View to{store.to.handle, store.to.offset, store.to.dtype, program.shape, store.to.strides};
      stored_.emplace_back(to, replace(store.to, ordered, size));
    }
  }
  void finish() {
    for (const auto& [to, from] : stored_) compute(context_, Copy{to, from});
  }

 private:
  View replace(ops::Access& access, const Strides& ordered, std::int64_t size) {
    scratch_.push_back(std::make_unique<Scratch>(context_, size * static_cast<std::int64_t>(itemsize(access.dtype))));
    access.handle = scratch_.back()->handle();
    access.offset = 0;
    access.strides = ordered;
    return {access.handle, 0, access.dtype, shape_, ordered};
  }

  Context& context_;
  const Shape shape_;
  std::vector<std::unique_ptr<Scratch>> scratch_;
  std::vector<std::pair<View, View>> stored_;
};

std::vector<int> axes_of(int n) {
  std::vector<int> axes;
  for (int axis = 0; axis < n; ++axis) axes.push_back(axis);
  return axes;
}

std::string elementwise_text(const ProgramText& program, int ndim, bool blocks) {
  const std::vector<int> leading = axes_of(ndim - 1);
  const std::string last = program.extent(ndim - 1);
  if (blocks) {
    // Branch-free loops for processors. Blocks with a large angle are detected first and use a separate loop.
    const auto loop = [](const std::string& body) {
      return fmt::format("for (idx j = begin; j < end; ++j) {{\n{}}}\n", body);
    };
    const std::string whole = loop(program.body() + program.stores()), far = program.far_angles();
    const std::string loops = far.empty() ? whole
                                          : fmt::format("i32 far = 0;\n{}if (far == 0) {{\n{}}} else {{\n{}}}\n",
                                                        loop(far), loop(program.body(true) + program.stores()), whole);
    return fmt::format(
        "{}KERNEL REQD(1) program({}, idx chunks, idx units) {{\n{}"
        "const idx begin = unit % chunks * {}, end = {} - begin < {} ? {} : begin + {};\n"
        "{}{}{}}}\n}}\n",
        index_type(program), program.parameters(), kUnits, kBlock, last, kBlock, last, kBlock,
        program.decompose("unit / chunks", leading), program.bases(), loops);
  }
  return fmt::format(
      "{}KERNEL REQD({}) program({}, idx n) {{\nfor (idx i = GLOBAL_ID; i < n; i += GLOBAL_SIZE) {{\n"
      "const idx j = {};\n{}{}{}{}}}\n}}\n",
      index_type(program), kGroup, program.parameters(), ndim == 1 ? "i" : fmt::format("i % {}", last),
      program.decompose(fmt::format("i / {}", last), leading), program.bases(), program.body(), program.stores());
}

}  // namespace

template <>
void compute(Context& context, const Run& p) {
  ops::Program& program = p.program;
  check_dtypes(context, program);
  ops::collapse(program);
  give_axis(program);
  const std::int64_t size = program.shape.product();
  if (size == 0) return;
  const ProgramText text(program);
  Args args;
  text.add_arguments(args);
  if (!fits(context, args) && program.shape.size() > 1) {
    Ordered ordered(context, program);
    compute(context, p);
    ordered.finish();
    return;
  }
  const int ndim = program.shape.size();
  const bool blocks = context.loops;
  const Kernel& kernel = context.generated(with(text.key(), Use::elementwise), "program", [&] {
    return GeneratedText{elementwise_text(text, ndim, blocks), text.operations()};
  });
  if (blocks) {
    const std::int64_t chunks = ceil_div(program.shape.back(), kBlock), units = size / program.shape.back() * chunks;
    args.index(chunks, text.wide()).index(units, text.wide());
    context.launch(kernel, loops_over(context, units), 1, args);
  } else {
    args.index(size, text.wide());
    context.launch(kernel, context.groups_for(size, kGroup), kGroup, args);
  }
}

namespace {

constexpr std::size_t kSegments = 32;  // maximum per launch

/// Additional arguments of a launch over segments.
struct Beside {
  bool unless = false;
  int flag = -1;  ///< the node that sets the flag
};

/// Returns a program over `count` segments. A unit of work is a block of one segment. Segment k has the units from
/// first_k on.
std::string segments_text(const ProgramText& program, std::size_t count, bool blocks, const Beside& beside) {
  std::string parameters, which = program.choose("_0", true) + "idx n = n_0, first = 0;\n";
  for (std::size_t k = 0; k < count; ++k) {
    parameters += fmt::format("{}idx n_{}, idx first_{}, ", program.operands(fmt::format("_{}", k)), k, k);
    if (k > 0)
      which += fmt::format("if (unit >= first_{}) {{\n{}n = n_{}; first = first_{};\n}}\n", k,
                           program.choose(fmt::format("_{}", k), false), k, k);
  }
  const std::int64_t block = blocks ? kBlock : kSegmentBlock;
  const char* const bools = memory_type(Dtype::bool_);
  const std::string given = beside.unless ? fmt::format("GLOBAL const {}* unless, idx unless_at, ", bools) : "";
  const std::string flag = beside.flag >= 0 ? fmt::format("GLOBAL {}* flag, idx flag_at, ", bools) : "";
  // a work-item writes the flag once, after a loop without branches
  const std::string lowered = flag.empty() ? "" : fmt::format("{} raised = 0;\n", bools);
  const std::string raises = flag.empty() ? "" : fmt::format("raised |= v{};\n", beside.flag);
  return fmt::format(
      "{}DEVICE void block({}{}{}idx begin, idx end) {{\n{}{}for (idx j = begin{}; j < end; j += {}) "
      "{{\n{}{}{}}}\n{}}}\n"
      "KERNEL REQD({}) segments({}{}{}{}idx units) {{\n{}{}{}"
      "const idx begin = (unit - first) * {};\nblock({}{}begin, n - begin < {} ? n : begin + {});\n}}\n}}\n",
      index_type(program), program.operands(), program.constants(), flag, program.bases(), lowered,
      blocks ? "" : " + LOCAL_ID", blocks ? "1" : "LOCAL_SIZE", program.body(), program.stores(), raises,
      flag.empty() ? "" : "if (raised) flag[flag_at] = 1;\n", blocks ? 1 : kGroup, given, flag, parameters,
      program.constants(), beside.unless ? "if (unless[unless_at]) return;\n" : "",
      blocks ? kUnits : "for (idx unit = GROUP_ID; unit < units; unit += NUM_GROUPS) {\n", which, block,
      program.names(), flag.empty() ? "" : "flag, flag_at, ", block, block);
}

}  // namespace

template <>
void compute(Context& context, const RunSegments& p) {
  const ops::Program& program = p.program;
  const std::vector<Segment>& segments = p.segments;
  check_dtypes(context, program);
  std::vector<ops::Program> programs;
  std::vector<ProgramText> texts;
  programs.reserve(segments.size());
  texts.reserve(segments.size());
  for (const Segment& segment : segments) {
    texts.emplace_back(programs.emplace_back(program_over(program, segment)));
  }

  const std::int64_t block = context.loops ? kBlock : kSegmentBlock;
  for (std::size_t begin = 0, end; begin < segments.size(); begin = end) {
    const ProgramText& first = texts[begin];
    const bool wide = first.wide();
    Args args;
    if (p.unless) args.add(p.unless->handle).index(p.unless->offset, wide);
    if (p.flag) args.add(p.flag->at.handle).index(p.flag->at.offset, wide);
    const int count_before = args.count();
    const std::size_t bytes_before = args.bytes();
    std::int64_t units = 0;
    const auto add = [&](std::size_t i) {
      texts[i].add_operands(args);
      args.index(segments[i].size, wide).index(units, wide);
      units += ceil_div(segments[i].size, block);
    };
    add(begin);
    Args constants;
    first.add_constants(constants);
    const int count = args.count() - count_before;
    const std::size_t bytes = args.bytes() - bytes_before;
    for (end = begin + 1; end < segments.size() && end - begin < kSegments && texts[end].key() == first.key() &&
                          args.count() + count + constants.count() < Args::kMost &&
                          args.bytes() + bytes + constants.bytes() + 64 <= context.info.argument_bytes;
         ++end)
      add(end);
    if (end - begin == 1 && !p.unless && !p.flag) {
      compute(context, Run{programs[begin]});
      continue;
    }
    first.add_constants(args);
    args.index(units, wide);
    const Beside beside{.unless = p.unless != nullptr, .flag = p.flag ? p.flag->value : -1};
    KernelKey key = with(first.key(), Use::segments);
    key.add(end - begin).add(std::uint64_t{beside.unless} | static_cast<std::uint64_t>(beside.flag + 1) << 8);
    const Kernel& kernel = context.generated(key, "segments", [&] {
      return GeneratedText{segments_text(first, end - begin, context.loops, beside), first.operations()};
    });
    context.launch(kernel, groups_over(context, units), context.loops ? 1 : kGroup, args);
  }
}

template <>
void compute(Context& context, const Copy& p) {
  const View &to = p.to, &from = p.from;
  if (to.size() == 0) return;
  if (to.handle == from.handle && !(to.offset == from.offset && to.strides == from.strides && to.dtype == from.dtype)) {
    // source and destination may overlap
    const Scratch scratch(context, from.size() * static_cast<std::int64_t>(itemsize(from.dtype)));
    const View between{scratch.handle(), 0, from.dtype, from.shape, contiguous_strides(from.shape)};
    compute(context, Copy{between, from});
    return compute(context, Copy{to, between});
  }
  ops::Program program = load_of(to.shape, {from.handle, from.offset, from.dtype, from.strides});
  const auto then = [&](Op op, ops::Reg reg) {
    Node node;
    node.op = op;
    node.reg = reg;
    node.operand_reg = program.nodes.back().reg;
    node.args[0] = static_cast<std::int16_t>(program.nodes.size() - 1);
    program.nodes.push_back(node);
  };
  // casting float64 through float32 would round twice
  if (from.dtype == Dtype::float64 && is_16bit_float(to.dtype)) then(ops::narrowing(to.dtype), ops::Reg::f64);
  if (const ops::Reg reg = ops::register_of(to.dtype); reg != program.nodes[0].reg) then(Op::cast, reg);
  program.stores.push_back(
      {static_cast<std::int16_t>(program.nodes.size() - 1), {to.handle, to.offset, to.dtype, to.strides}});
  ops::collapse(program);
  if (to.dtype == from.dtype && transpose(context, program.shape, program.stores[0].to, program.loads[0])) return;
  compute(context, Run{program});
}

namespace {

/// Forms of reductions, by the last axis and the kind of device.
enum class Form { group, items, lanes, columns };

/// The layout of a reduction: kept and reduced axes, and the division of the work.
struct Cut {
  Form form;
  std::vector<int> kept, gone;         // axes
  std::vector<int> inside;             // lanes: if the last axis is merged from several, all of these but the last
  std::int64_t outputs = 1, rows = 1;  // elements of the result, and elements that go into each
  std::int64_t chunk = 1, chunks = 1;  // rows per chunk, each with a separate result
  std::int64_t parts = 1;              // lanes: pieces of the last axis
};

Cut cut_of(const ops::Program& program, const std::vector<bool>& reduced, bool blocks) {
  Cut cut;
  for (int axis = 0; axis < program.shape.size(); ++axis) {
    (reduced[static_cast<std::size_t>(axis)] ? cut.gone : cut.kept).push_back(axis);
    (reduced[static_cast<std::size_t>(axis)] ? cut.rows : cut.outputs) *= program.shape[axis];
  }
  const bool along_rows = reduced.back();
  if (blocks) {
    cut.form = along_rows ? Form::lanes : Form::columns;
  } else {
    cut.form = along_rows && cut.rows >= kShortRow ? Form::group : Form::items;
  }
  if (cut.form == Form::lanes) {
    // rows: all reduced axes except the last. Merges adjacent axes that no operand requires to be separate, since the
    // order of a sum must not depend on other operands.
    std::int64_t last = 1;
    for (int axis = program.shape.size() - 1; axis >= 0 && reduced[static_cast<std::size_t>(axis)]; --axis) {
      last *= program.shape[axis];
      cut.gone.pop_back();
      if (axis + 1 < program.shape.size()) cut.inside.insert(cut.inside.begin(), axis);
    }
    cut.rows = last ? cut.rows / last : 0;
    cut.parts = std::max<std::int64_t>(1, ceil_div(last, kRowOfLanes));
    cut.chunk = std::max<std::int64_t>(1, kRowOfLanes / std::max<std::int64_t>(1, last));
  } else {
    cut.chunk = cut.form == Form::group ? kRowOfGroup : kColumn;
  }
  cut.chunks = std::max<std::int64_t>(1, ceil_div(cut.rows, cut.chunk));
  return cut;
}

/// Returns kernels/reduce.kernel, preceded by its definitions.
std::string reduction_text(const ProgramText& program, const ops::Program& p, const ReduceSpec& spec, const Cut& cut,
                           Dtype out) {
  constexpr const char* kForms[] = {"BY_GROUP", "BY_ITEM", "BY_LANES", "BY_COLUMNS"};
  const ops::Reg reg = p.nodes[static_cast<std::size_t>(spec.value)].reg;
  const int last = p.shape.size() - 1;
  const bool by_cards = cut.form == Form::group || cut.form == Form::items;
  std::vector<int> kept = cut.kept;
  if (cut.form == Form::columns) kept.pop_back();
  const std::string index = by_cards ? fmt::format("const idx j = index{};\n", last) : "";
  std::string extent = program.extent(last), inside;
  if (!cut.inside.empty()) {
    inside = fmt::format("#define RUN {}\n", extent) +
             kernels::macro("INSIDE(n)", program.decompose("(n)", cut.inside) + program.bases());
    for (int axis : cut.inside) extent = fmt::format("{} * {}", program.extent(axis), extent);
  }
  return index_type(program) +
         fmt::format("#define {}\n#define REDUCTION reduction\n#define GROUP {}\n#define RESULT {}\n#define T {}\n",
                     kForms[static_cast<int>(cut.form)], by_cards ? kGroup : 1, memory_type(out), register_type(reg)) +
         fmt::format("#define PART {}\n#define TILE {}\n#define LAST ({})\n#define VALUE v{}\n", kRowOfLanes, kTile,
                     extent, spec.value) +
         inside + kernels::macro("FOR_UNITS(i, n)", kernels::for_units(!by_cards)) +
         kernels::macro("OPERANDS", program.parameters() + ",") +
         kernels::macro("KEPT(n)", program.decompose("(n)", kept)) +
         kernels::macro("GONE(n)",
                        program.decompose("(n)", cut.gone) + index + (inside.empty() ? program.bases() : "")) +
         kernels::macro("ELEMENT", program.body() + program.stores()) +
         kernels::macro("IDENTITY", substitute(ops::identity(spec.op, reg), reg, {})) +
         kernels::macro("COMBINE(a, b)", substitute(ops::combine(spec.op, reg), reg, {"(a)", "(b)"})) +
         kernels::macro("STORE_RESULT(at, v)", fmt::format("STORE_{}(reduced, at, v)", dtype_name(out))) +
         std::string(kernels::text("reduce"));
}

/// Stores the values before they are reduced, because a kernel does not take as many arguments as both need.
void reduce_stored_values(Context& context, const ops::Program& program, const ReduceSpec& spec,
                          const std::vector<bool>& reduced) {
  const Dtype dtype = dtype_of_register(program.nodes[static_cast<std::size_t>(spec.value)].reg);
  const Scratch scratch(context, program.shape.product() * static_cast<std::int64_t>(itemsize(dtype)));
  const Strides strides = contiguous_strides(program.shape);
  ops::Program values = program;
  values.stores.push_back({static_cast<std::int16_t>(spec.value), {scratch.handle(), 0, dtype, strides}});
  compute(context, Run{values});
  ops::Program single = load_of(program.shape, {scratch.handle(), 0, dtype, strides});
  ReduceSpec again = spec;
  again.value = 0;
  again.axes = 0;
  for (std::size_t axis = 0; axis < reduced.size(); ++axis)
    if (reduced[axis]) again.axes |= 1u << axis;
  compute(context, Reduce{single, again});
}

/// Returns the number of work-items or groups that share a reduction.
std::int64_t units_of(const Cut& cut, const Shape& shape) {
  if (cut.form != Form::columns) return cut.chunks * cut.parts * cut.outputs;
  const std::int64_t columns = shape.back();
  return cut.outputs / std::max<std::int64_t>(1, columns) * ceil_div(columns, kTile) * cut.chunks;
}

void launch(Context& context, const Kernel& kernel, Form form, std::int64_t units, const Args& args) {
  switch (form) {
    case Form::items:
      context.launch(kernel, context.groups_for(units, kGroup), kGroup, args);
      break;
    case Form::group:
      context.launch(kernel, groups_over(context, units), kGroup, args);
      break;
    default:
      context.launch(kernel, loops_over(context, units), 1, args);
  }
}

}  // namespace

template <>
void compute(Context& context, const Reduce& p) {
  ops::Program& program = p.program;
  const ReduceSpec& spec = p.spec;
  check_dtypes(context, program);
  std::vector<bool> reduced = ops::collapse_for_reduction(program, spec.axes);
  if (program.shape.empty()) reduced = {true};
  give_axis(program);
  const ProgramText text(program);
  const bool wide = text.wide();
  Args args;
  text.add_arguments(args);
  if (!fits(context, args)) return reduce_stored_values(context, program, spec, reduced);

  const Cut cut = cut_of(program, reduced, context.loops);
  const std::int64_t partials = cut.chunks * cut.parts, units = units_of(cut, program.shape);
  const Dtype reg_dtype = dtype_of_register(program.nodes[static_cast<std::size_t>(spec.value)].reg);
  const Dtype out_dtype = partials > 1 ? reg_dtype : spec.out.dtype;
  std::optional<Scratch> scratch;
  if (partials > 1) scratch.emplace(context, partials * cut.outputs * static_cast<std::int64_t>(itemsize(reg_dtype)));

  KernelKey key = with(text.key(), Use::reduction);
  key.add(static_cast<std::uint64_t>(cut.form) | static_cast<std::uint64_t>(spec.op) << 8 |
          static_cast<std::uint64_t>(out_dtype) << 16 | static_cast<std::uint64_t>(spec.value) << 32);
  std::uint64_t goes = 0;
  for (std::size_t axis = 0; axis < reduced.size(); ++axis) goes |= std::uint64_t{reduced[axis]} << axis;
  const Kernel& kernel = context.generated(key.add(goes), "reduction", [&] {
    return GeneratedText{reduction_text(text, program, spec, cut, out_dtype),
                         text.operations() + (text.operations().empty() ? "" : ", ") + ops::info(spec.op).name};
  });
  args.add(scratch ? scratch->handle() : spec.out.handle).index(scratch ? 0 : spec.out.offset, wide);
  args.index(cut.outputs, wide)
      .index(cut.rows, wide)
      .index(cut.chunk, wide)
      .index(cut.form == Form::lanes ? cut.parts : cut.chunks, wide)
      .index(units, wide);
  launch(context, kernel, cut.form, units, args);
  if (!scratch) return;
  ops::Program second = load_of({partials, cut.outputs}, {scratch->handle(), 0, reg_dtype, {cut.outputs, 1}});
  ReduceSpec rest = spec;
  rest.value = 0;
  rest.axes = 1;
  compute(context, Reduce{second, rest});
}

}  // namespace catenary::gpu
