// Out-of-range indices on a device without synchronization: the next synchronization of the stream reports the error,
// with the message that the CPU gives at once.

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "catenary/array/array.h"
#include "catenary/array/creation.h"
#include "catenary/array/elementwise.h"
#include "catenary/array/indexing.h"
#include "catenary/core/environment.h"
#include "catenary/core/os/process.h"
#include "catenary/device/stream.h"
#include "catenary/functions/evaluation.h"
#include "catenary/functions/loss.h"

namespace catenary {
namespace {

bool at_once() { return current_device().is_cpu() || environment::flag("CATENARY_SYNC"); }

/// The step in which `steps` throw an IndexError, and the message without the suffix of late errors.
struct Thrown {
  std::size_t step;
  std::string message;
  bool says_late;
};
Thrown run(const std::vector<std::function<void()>>& steps) {
  std::size_t step = 0;
  try {
    for (; step < steps.size(); ++step) steps[step]();
  } catch (const IndexError& error) {
    const std::string message = error.what();
    const std::size_t late = message.find(" [reported late");
    return {step, message.substr(0, late), late != std::string::npos};
  }
  return {step, "no error", false};
}

TEST(LateErrors, SayWhatTheCpuSaysAtOnce) {
  const Array x = arange(12, Dtype::float32).reshape({3, 4}).eval(), t = array<int>({0, 4, 1});
  const Array rows = array<std::int64_t>({0, 3, 1}), columns = array<std::int64_t>({{0}, {-5}, {1}});
  const struct {
    const char* message;
    std::function<Array()> of;
  } cases[] = {
      {"take: index 3 is out of bounds for axis 0 with size 3", [&] { return x(rows); }},
      {"gather: index 3 is out of bounds for axis 1 with size 3",
       [&] {
         return x.reshape({1, 3, 4})(0, rows, array<std::int64_t>({0, 1, 2}));
       }},
      {"take_along_axis: index -5 is out of bounds for axis 1 with size 4",
       [&] { return take_along_axis(x, columns, 1); }},
      {"scatter: index 3 is out of bounds for axis 0 with size 3",
       [&] {
         const Array y = x.copy();
         scatter_add(y, {rows}, 1);
         return y;
       }},
      {"put_along_axis: index -5 is out of bounds for axis 1 with size 4",
       [&] {
         const Array y = x.copy();
         put_along_axis(y, columns, 1, 1);
         return y;
       }},
      {"softmax_cross_entropy: t must be in [0, 4) or -1, which is ignored, but t[1] is 4",
       [&] { return functions::softmax_cross_entropy(x, t).array(); }},
      {"accuracy: t must be in [0, 4), but t[1] is 4", [&] { return functions::accuracy(x, t).array(); }},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.message);
    Array y;
    const Thrown thrown = run({[&] { y = c.of().eval(); }, [&] { y = (y + 1).eval(); }, [&] { y.to_vector<float>(); }});
    EXPECT_EQ(thrown.message, c.message);
    EXPECT_EQ(thrown.step, at_once() ? 0U : 2U);
    EXPECT_EQ(thrown.says_late, !at_once());
    EXPECT_EQ(x(array<std::int64_t>({2})).to_vector<float>(),
              (std::vector<float>{8, 9, 10, 11}));  // the stream works again
  }
}

TEST(LateErrors, NothingIsWrittenUntilTheyAreSaid) {
  const Array x = zeros({5}, Dtype::float32).eval(), good = array<std::int64_t>({1}), bad = array<std::int64_t>({2, 5});
  const Thrown thrown =
      run({[&] { scatter_add(x, {bad}, 1); }, [&] { x.set(7, good); }, [&] { current_device().synchronize(); }});
  EXPECT_EQ(thrown.message, "scatter: index 5 is out of bounds for axis 0 with size 5");
  EXPECT_EQ(x.to_vector<float>(), std::vector<float>(5, 0));
  x.set(7, good);
  EXPECT_EQ(x.to_vector<float>(), (std::vector<float>{0, 7, 0, 0, 0}));
}

TEST(LateErrors, BelongToTheirStream) {
  const Array x = arange(3, Dtype::float32).eval();
  const Stream s;
  const Thrown thrown = run({[&] {
                               const Stream::Use use(s);
                               x(array<std::int64_t>({9})).eval();
                             },
                             [&] { x.to_vector<float>(); }, [&] { s.synchronize(); }});
  EXPECT_EQ(thrown.message, "take: index 9 is out of bounds for axis 0 with size 3");
  EXPECT_EQ(thrown.step, at_once() ? 0U : 2U);
}

TEST(LateErrors, ComeAtTheirLineWhereThatIsAskedFor) {
  if (environment::flag("CATENARY_SYNC")) return;
  os::ProcessOptions options;
  options.timeout = 200;
  options.environment = {{"CATENARY_SYNC", "1"}, {"GTEST_OUTPUT", ""}};
  const auto result = os::run_process(
      {os::program_path(), "--gtest_filter=LateErrors.*", "--device", current_device().name()}, options);
  EXPECT_NE(result.output.find("[  PASSED  ] 4 tests"), std::string::npos) << result.output << result.errors;
}

}  // namespace
}  // namespace catenary
