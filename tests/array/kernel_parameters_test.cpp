// Dtypes of a user's kernel determined by its arguments, by our rules and by CuPy's.

#include "catenary/array/kernel_parameters.h"

#include <gtest/gtest.h>

#include "catenary/array/creation.h"
#include "catenary/core/axis_error.h"
#include "tests/texts.h"

namespace catenary {
namespace {

using Arguments = KernelParameters::Arguments;

Dtype of_number(std::size_t) { return Dtype::float64; }
Dtype of_no_number(std::size_t k) { throw ValueError("asked for the number " + std::to_string(k)); }

using tests::error_of;

#define EXPECT_SAYS(E, words, ...)                              \
  {                                                             \
    const std::string said = error_of<E>([&] { __VA_ARGS__; }); \
    EXPECT_NE(said.find(words), std::string::npos) << said;     \
  }

KernelParameters of_cupy(const std::string& inputs, const std::string& outputs) {
  return {inputs, outputs, "k", KernelRules::cupy};
}

TEST(KernelParameters, ListsAreRead) {
  const KernelParameters k(" float32  x,\traw Type y , half z", "", "k");
  ASSERT_EQ(k.inputs().size(), 3u);
  EXPECT_TRUE(k.outputs().empty());
  EXPECT_EQ(k.inputs()[0].dtype, Dtype::float32);
  EXPECT_FALSE(k.inputs()[0].raw);
  EXPECT_EQ(k.inputs()[1].type + " " + k.inputs()[1].name, "Type y");
  EXPECT_EQ(k.inputs()[1].dtype, std::nullopt);
  EXPECT_TRUE(k.inputs()[1].raw);
  EXPECT_EQ(k.inputs()[2].dtype, Dtype::float16);
  for (const auto& [word, dtype] : {std::pair("bool_", Dtype::bool_),
                                    {"int_", Dtype::int64},
                                    {"int", Dtype::int64},
                                    {"float", Dtype::float64},
                                    {"double", Dtype::float64},
                                    {"complex", Dtype::complex128}})
    EXPECT_EQ(of_cupy(std::string(word) + " x", "").inputs()[0].dtype, dtype) << word;
  for (const char* letter : {"f x", "d x", "i x", "T x"})  // letters that are also codes of dtypes
    EXPECT_EQ(of_cupy(letter, "").inputs()[0].dtype, std::nullopt) << letter;
  EXPECT_TRUE(of_cupy("raw _non_const T x", "").inputs()[0].raw);
}

TEST(KernelParameters, ListsThatCannotBeRead) {
  EXPECT_SAYS(ValueError, "kernel k: 'T' is no parameter; expected 'TYPE NAME'", KernelParameters("T", "", "k"));
  EXPECT_SAYS(ValueError, "'' is no parameter", KernelParameters("T x,", "", "k"));
  EXPECT_SAYS(ValueError, "'const T x' is no parameter", KernelParameters("const T x", "", "k"));
  EXPECT_SAYS(ValueError, "is no parameter", KernelParameters("_non_const T x", "", "k"));
  EXPECT_SAYS(ValueError, "'raw raw T x' is no parameter", KernelParameters("raw raw T x", "", "k"));
  for (const char* name : {"i", "_ind", "__x"})
    EXPECT_SAYS(ValueError, "cannot have the name " + std::string(name),
                KernelParameters("", "T " + std::string(name), "k"));
  EXPECT_SAYS(ValueError, "Invalid kernel name: \"2 names\"", KernelParameters("T x", "T y", "2 names"));
  EXPECT_SAYS(DtypeError, "the type flat32 of parameter x is no dtype, and a placeholder is one letter",
              of_cupy("flat32 x", ""));
  EXPECT_SAYS(DtypeError, "bfloat16", of_cupy("bfloat16 x", ""));
  EXPECT_EQ(KernelParameters("bfloat16 x", "", "k").inputs()[0].dtype, Dtype::bfloat16);
}

TEST(KernelParameters, ArraysDecideTypesBeforeNumbersDo) {
  const KernelParameters k("T x, T s, S t, int32 n", "T y, S z", "k");
  const Array x = zeros({2, 1}, Dtype::float16), y = zeros({2, 3}, Dtype::float16), z = zeros({2, 3}, Dtype::int8);
  const KernelCall call = k.elementwise({&x, nullptr, nullptr, nullptr, &y, &z}, of_no_number);
  EXPECT_EQ(call.dtypes, (std::vector<Dtype>{Dtype::float16, Dtype::float16, Dtype::int8, Dtype::int32, Dtype::float16,
                                             Dtype::int8}));
  EXPECT_FALSE(call.by_number);
  EXPECT_TRUE(call.outputs[0].is(y) && call.outputs[1].is(z));
  const KernelCall made = k.elementwise({&x, nullptr, nullptr, nullptr}, of_number);
  EXPECT_TRUE(made.by_number);
  EXPECT_EQ(made.types, (std::map<std::string, Dtype>{{"S", Dtype::float64}, {"T", Dtype::float16}}));
  EXPECT_EQ(made.outputs[1].dtype(), Dtype::float64);
  EXPECT_EQ(made.outputs[1].shape(), (Shape{2, 1}));
  const Array f = zeros({2}, Dtype::float32);
  EXPECT_SAYS(DtypeError, "kernel k: the parameter \"T x\" takes float16 here, its argument is float32",
              k.elementwise({&f, nullptr, nullptr, nullptr, &y}, of_number));
  EXPECT_SAYS(DtypeError, "the parameter \"int32 n\" takes int32",
              k.elementwise({&x, nullptr, nullptr, &f}, of_number));
  EXPECT_SAYS(DtypeError, "no argument determines the type R of y",
              KernelParameters("T x", "R y", "k").elementwise({&f}, of_number));
}

TEST(KernelParameters, TheLoop) {
  const KernelParameters k("T x, raw T w", "T y", "k");
  const Array x = zeros({3, 1}), w = zeros({7}), y = zeros({3, 4}), none = zeros({0, 4}), row = zeros({4}),
              one = zeros({});
  EXPECT_EQ(k.elementwise({&x, &w, &y}, of_number).shape, (Shape{3, 4}));
  EXPECT_EQ(k.elementwise({&x, &w}, of_number).shape, (Shape{3, 1}));
  EXPECT_EQ(k.elementwise({&none, &w}, of_number).outputs[0].shape(), (Shape{0, 4}));
  EXPECT_EQ(k.elementwise({&one, &w}, of_number).shape, Shape{});
  EXPECT_SAYS(ShapeError, "do not broadcast", k.elementwise({&w, &w, &y}, of_number));
  EXPECT_SAYS(ShapeError, "Out shape is mismatched: y has (4,), expected (3, 4)",
              k.elementwise({&y, &w, &row}, of_number));
  EXPECT_SAYS(ValueError, "Specified 'size'", k.elementwise({&x, &w}, of_number, 3));
  EXPECT_SAYS(DtypeError, "the parameter w takes an array, given a number", k.elementwise({&x, nullptr}, of_number));
  EXPECT_SAYS(DtypeError, "the parameter y takes an array", k.elementwise({&x, &w, nullptr}, of_number));
  EXPECT_SAYS(ValueError, "1 arguments are given, it takes 2 inputs and up to 1 outputs",
              k.elementwise({&x}, of_number));
}

TEST(KernelParameters, ALoopOverNoArray) {
  const KernelParameters numbers("T x", "T y", "k"), raw("raw T x", "raw T y", "k");
  const Array x = zeros({5}), y = zeros({2, 3});
  EXPECT_EQ(numbers.elementwise({nullptr}, of_number).shape, Shape{});
  EXPECT_EQ(raw.elementwise({&x, &y}, of_number).shape, (Shape{2, 3}));
  EXPECT_EQ(raw.elementwise({&x}, of_number, 9).outputs[0].shape(), (Shape{9}));
  EXPECT_SAYS(ValueError, "Loop size is undecided", of_cupy("T x", "T y").elementwise({nullptr}, of_number));
  EXPECT_SAYS(ValueError, "Loop size is undecided", of_cupy("raw T x", "raw T y").elementwise({&x, &y}, of_number));
  EXPECT_EQ(of_cupy("raw T x", "raw T y").elementwise({&x}, of_number, 9).shape, (Shape{9}));
  EXPECT_SAYS(ValueError, "Output array size is Undecided", of_cupy("T x", "raw T y").elementwise({&x}, of_number));
}

TEST(KernelParameters, Reductions) {
  const KernelParameters k("T x, T w", "T y", "k");
  const Array x = zeros({2, 3, 4}), w = zeros({4});
  const KernelReduction all = k.reduction({&x, &w}, of_number, {}, false, true);
  EXPECT_EQ(all.order, (Axes{0, 1, 2}));
  EXPECT_EQ(all.outputs[0].shape(), Shape{});
  EXPECT_EQ(all.rows, 24);
  EXPECT_EQ(all.results, 1);
  const KernelReduction one = k.reduction({&x, &w}, of_number, 1, true, true);
  EXPECT_EQ(one.order, (Axes{0, 2, 1}));
  EXPECT_EQ(one.shape, (Shape{2, 3, 4}));
  EXPECT_EQ(one.outputs[0].shape(), (Shape{2, 1, 4}));
  EXPECT_EQ(one.rows, 3);
  EXPECT_EQ(one.results, 8);
  EXPECT_EQ(k.reduction({&x, nullptr}, of_number, Axes{-1, 0}, false, true).order, (Axes{1, 0, 2}));
  EXPECT_SAYS(AxisError, "axis 3 is out of bounds", k.reduction({&x, &w}, of_number, 3, false, true));
  EXPECT_SAYS(ShapeError, "duplicate value", k.reduction({&x, &w}, of_number, Axes{0, -3}, false, true));
  EXPECT_SAYS(ShapeError, "Out shape is mismatched", k.reduction({&x, &w, &w}, of_number, 1, false, true));
  EXPECT_SAYS(ValueError, "no input is an array that is not raw",
              of_cupy("T x", "T y").reduction({nullptr}, of_number, {}, false, true));
  const Array none = zeros({0, 4}), no_columns = zeros({0, 0});
  EXPECT_SAYS(ValueError, "which has no identity", k.reduction({&none, &w}, of_number, 0, false, false));
  EXPECT_EQ(k.reduction({&none, &w}, of_number, 1, false, false).outputs[0].shape(), (Shape{0}));
  EXPECT_EQ(k.reduction({&no_columns, nullptr}, of_number, 0, false, false).parts(true), 1);
}

TEST(KernelParameters, HowReductionsAreCut) {
  const auto parts = [](std::int64_t results, std::int64_t rows, bool on_processor) {
    KernelReduction call;
    call.results = results;
    call.rows = rows;
    return call.parts(on_processor);
  };
  for (const bool on_processor : {false, true}) {
    EXPECT_EQ(parts(1, 511, on_processor), 1);
    EXPECT_EQ(parts(1, 1024, on_processor), 2);
    EXPECT_EQ(parts(1 << 20, 1 << 20, on_processor), 1);
    EXPECT_EQ(parts(1, 0, on_processor), 1);
  }
  EXPECT_EQ(parts(1, 1 << 24, true), 256);
  EXPECT_EQ(parts(100, 1 << 24, true), 2);
  EXPECT_EQ(parts(1, 1 << 24, false), 16384);
}

}  // namespace
}  // namespace catenary
