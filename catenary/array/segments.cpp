// One rule over many arrays, as one piece of work.

#include <algorithm>
#include <optional>

#include "catenary/array/creation.h"
#include "catenary/array/elementwise_core.h"
#include "catenary/array/lazy.h"
#include "catenary/array/open_program.h"
#include "catenary/array/reduction.h"
#include "catenary/core/config.h"

namespace catenary::lazy {

namespace {

/// While it exists, the following operations are collected as one rule.
class Collecting {
 public:
  explicit Collecting(OpenProgram& program) : program_(program) { program_.collect_rule(true); }
  ~Collecting() { program_.collect_rule(false); }
  Collecting(const Collecting&) = delete;
  Collecting& operator=(const Collecting&) = delete;

 private:
  OpenProgram& program_;
};

}  // namespace

void for_each_segment(const std::vector<std::vector<Array>>& segments,
                      const std::function<void(const std::vector<Array>&)>& rule, const Array& unless) {
  if (segments.empty()) return;
  const Device device = segments.front().front().device();
  OpenProgram& program = open_program(device);
  program.run("a rule over many arrays follows");
  const Array here = unless.defined() ? unless.to_device(device) : unless;
  const View condition = here.defined() ? readable(here) : View{};
  std::vector<std::vector<Array>> flat;
  bool uniform = config.fusion;
  for (const std::vector<Array>& arrays : segments) {
    std::vector<Array>& row = flat.emplace_back();
    const bool ordered = std::all_of(arrays.begin(), arrays.end(), [](const Array& a) { return a.is_contiguous(); });
    for (std::size_t k = 0; k < arrays.size(); ++k) {
      const Array& a = arrays[k];
      uniform = uniform && ordered && a.size() == arrays.front().size() && a.device() == device &&
                a.dtype() == segments.front()[k].dtype();
      if (ordered) {
        row.push_back(a.reshape({-1}));
        before_write(*row.back().body().storage);
      } else {
        row.push_back(a);
      }
    }
  }
  std::vector<Array> before;  // pending at first, so that the single piece of work does not store them
  const auto apply = [&](const std::vector<Array>& arrays) {
    before.clear();
    if (here.defined())
      for (const Array& a : arrays) before.push_back(cast(a, a.dtype(), contiguous_strides(a.shape())));
    rule(arrays);
  };
  const auto restore = [&](const std::vector<Array>& arrays) {
    for (std::size_t k = 0; k < before.size(); ++k) copyto(arrays[k], before[k], here);
  };
  const auto one_by_one = [&](std::size_t from) {
    for (std::size_t i = from; i < flat.size(); ++i) {
      apply(flat[i]);
      restore(flat[i]);
    }
  };
  if (!uniform || flat.front().front().size() == 0) return one_by_one(0);
  const std::int64_t kernels = kernel_count();
  {
    const Collecting rule_of_one(program);
    apply(flat.front());
  }
  bool done = false;
  if (kernel_count() == kernels) {
    const OpenProgram::Lock lock(program);
    done = program.close_for(flat, here.defined() ? &condition : nullptr, before);
  }
  if (done) return;
  restore(flat.front());
  one_by_one(1);
}

namespace {

/// Returns the elements as a 1-d array in memory order. Copies them if they have gaps.
Array elements_of(const Array& a) {
  const Strides* const strides = &a.strides();
  const Array in_order = a.is_contiguous() ? a : a.transpose(memory_order(a.ndim(), {&strides, 1}));
  return (in_order.is_contiguous() ? in_order : a.copy()).reshape({-1});
}

/// Sets `found`, which may already be true, with any_of_segments over arrays of one dtype and one device.
void look_through(std::vector<std::vector<Array>> segments, const std::function<Array(const Array&)>& test,
                  const Array& found) {
  const Device device = found.device();
  OpenProgram& program = open_program(device);
  for (std::vector<Array>& segment : segments) {
    segment[0] = elements_of(segment[0]);
    readable(segment[0]);
  }
  const View flag = writable(found);
  program.run("a rule over many arrays follows");
  if (config.fusion) {
    const std::int64_t kernels = kernel_count();
    const Collecting rule(program);
    Array value = test(segments.front()[0]);
    const OpenProgram::Lock lock(program);
    if (kernel_count() == kernels && program.close_for_any(segments, value, flag)) return;
  }
  for (const std::vector<Array>& segment : segments) copyto(found, logical_or(found, any(test(segment[0]))));
}

}  // namespace

Array any_of_segments(const std::vector<Array>& arrays, const std::function<Array(const Array&)>& test) {
  Array result;
  std::vector<Array> left;
  for (const Array& a : arrays)
    if (a.size() > 0) left.push_back(a);
  while (!left.empty()) {
    const Array first = left.front();
    const Device device = first.device();
    // flags of other devices are copied to the first device
    const Array found = result.defined() && result.device() == device ? result : Array::empty({}, Dtype::bool_, device);
    if (!found.is(result)) found.fill(false);
    std::vector<std::vector<Array>> segments;
    std::erase_if(left, [&](const Array& a) {
      const bool alike = a.dtype() == first.dtype() && a.device() == device;
      if (alike) segments.push_back({a});
      return alike;
    });
    look_through(std::move(segments), test, found);
    result = !result.defined() || found.is(result) ? found : logical_or(result, found.to_device(result.device()));
  }
  return result.defined() ? result : full({}, false);
}

}  // namespace catenary::lazy
