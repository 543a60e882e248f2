// Linear algebra by LAPACK on the processor, where it is installed, and by our own code with CATENARY_SOLVER=own.

#include <thread>
#include <vector>

#include "catenary/core/os/process.h"
#include "tests/array/matrices.h"
#include "tests/paths.h"

namespace ct = catenary;
namespace linalg = ct::linalg;
using namespace testing_arrays;

namespace {

std::int64_t computed(const std::string& name) {
  for (const ct::LibraryInfo& library : ct::libraries(ct::Device(), "solver"))
    if (library.name == name) return library.computed;
  return -1;
}

double residual(const Array& a, const Array& x, const Array& b) { return largest(product(a, x) - wide(b)); }

TEST(Solver, IsListedAndCounted) {
  const ct::DeviceScope host{ct::Device()};
  const std::string name = first_solver();
  const std::int64_t before = computed(name);
  const Array a = normal({5, 5}), b = normal({5, 2});
  EXPECT_LT(residual(a, linalg::solve(a, b), b), 1e-12);
  EXPECT_EQ(computed(name), before + 1);
  EXPECT_GE(computed("own"), 0);
}

/// Every operation for batches that our threads share, large matrices, and views in other orders.
TEST(Solver, SizesAndOrders) {
  const ct::DeviceScope host{ct::Device()};
  for (const Dtype dtype : {Dtype::float32, Dtype::float64, Dtype::complex64, Dtype::complex128})
    for (const Shape& shape : {Shape{40, 7, 7}, Shape{3, 70, 70}, Shape{1, 1}, Shape{270, 270}, Shape{2, 0, 5, 5}}) {
      SCOPED_TRACE(shape.str() + ct::dtype_name(dtype));
      const std::int64_t n = shape.back();
      const Array any = normal(shape, dtype), shifted = any + ct::eye(n, {}, 0, dtype) * static_cast<double>(n);
      const Array identity = ct::zeros(shape, dtype) + ct::eye(n, {}, 0, dtype);
      const double few = 100 * static_cast<double>(n) * epsilon(dtype);
      for (const Array& a : {shifted.eval(), ct::matrix_transpose(shifted.eval())}) {
        const Array b = normal(shape, dtype), x = linalg::solve(a, b);
        EXPECT_TRUE(x.is_contiguous());
        EXPECT_LT(residual(a, x, b), few);
        EXPECT_LT(residual(a, linalg::inv(a), identity), few);
        const Array definite = ct::matmul(a, adjoint(a)).eval(), l = linalg::cholesky(definite);
        EXPECT_LT(largest(product(l, adjoint(l)) - wide(definite)), few * static_cast<double>(n));
        const Array hermitian = (a + adjoint(a)).eval();
        const auto [w, v] = linalg::eigh(hermitian);
        EXPECT_TRUE(v.is_contiguous());
        Shape row = w.shape();
        row.insert(w.ndim() - 1, 1);
        EXPECT_LT(largest(product(hermitian, v) - wide(v) * wide(w).reshape(row)), few * static_cast<double>(n));
        EXPECT_LT(from_orthonormal(v), few);
      }
    }
}

TEST(Solver, NumbersThatAreNotFinite) {
  const ct::DeviceScope host{ct::Device()};
  Array a = normal({3, 4, 4});
  a.set(kNan, 1, 2, 2);
  const Array x = linalg::solve(a, normal({4, 2}));
  EXPECT_TRUE(ct::isfinite(x(0)).all() && ct::isfinite(x(2)).all());
  EXPECT_TRUE(ct::isnan(x(1)).any());
  EXPECT_THROW(linalg::cholesky(a), ct::LinAlgError);
  EXPECT_THROW(linalg::eigh(a), ct::LinAlgError);
  EXPECT_TRUE(ct::isnan(linalg::det(a)(1)).any());
}

// Calls from several threads, which need different numbers of the library's threads.
TEST(Solver, ConcurrentCalls) {
  const ct::DeviceScope host{ct::Device()};
  const Array one = (normal({300, 300}) + 300 * ct::eye(300)).eval(),
              many = (normal({50, 9, 9}) + 9 * ct::eye(9)).eval();
  const Array b = normal({300}).eval(), c = normal({9, 1}).eval();
  std::vector<double> worst(4);
  std::vector<std::thread> threads;
  for (std::size_t t = 0; t < worst.size(); ++t)
    threads.emplace_back([&, t] {
      for (int i = 0; i < 5; ++i) {
        const Array x =
            t % 2 ? ct::matmul(one, linalg::solve(one, b)) - b : ct::matmul(many, linalg::solve(many, c)) - c;
        worst[t] = std::max(worst[t], largest(x));
      }
    });
  for (std::thread& thread : threads) thread.join();
  for (const double difference : worst) EXPECT_LT(difference, 1e-12);
}

/// Runs in a process of its own.
TEST(InsideSolver, LargeMatrix) {
  const Array a = normal({257, 257}) + 257 * ct::eye(257);
  EXPECT_LT(residual(a, linalg::inv(a), ct::eye(257)), 1e-12);
  EXPECT_LT(residual(a, linalg::inv(a), ct::eye(257)), 1e-12);
  std::printf("by %s\n", first_solver().c_str());
}

ct::os::ProcessResult inside(const std::string& solver) {
  return ct::os::run_process({ct::os::program_path(), "--gtest_filter=InsideSolver.*", "--device", "cpu"},
                             {.timeout = 100, .environment = {{"CATENARY_SOLVER", solver}, {"GTEST_OUTPUT", ""}}});
}

TEST(Solver, IsChosenByAVariable) {
  const ct::os::ProcessResult own = inside("own");
  EXPECT_TRUE(own.ok()) << own.output << own.errors;
  EXPECT_NE(own.output.find("by own\n"), std::string::npos) << own.output;
  EXPECT_EQ(own.errors.find("LAPACK"), std::string::npos) << own.errors;
  // Without a library, a large matrix reports it once.
  const ct::os::ProcessResult any = inside("");
  EXPECT_TRUE(any.ok()) << any.output << any.errors;
  const std::size_t report = any.errors.find("catenary: no LAPACK was found");
  EXPECT_EQ(report != std::string::npos, any.output.find("by own\n") != std::string::npos) << any.errors;
  if (report != std::string::npos) {
    EXPECT_EQ(any.errors.find("LAPACK was found", report + 30), std::string::npos) << any.errors;
  }
  EXPECT_NE(inside("lapak").errors.find("CATENARY_SOLVER=lapak: expected one of own, openblas, mkl, lapack"),
            std::string::npos);
}

}  // namespace
