#include "catenary/backends/cpu/solver/lapack.h"

#include <cmath>
#include <complex>
#include <condition_variable>
#include <cstring>
#include <mutex>
#include <vector>

#include "catenary/backends/cpu/movement/move.h"
#include "catenary/backends/cpu/solver/lapack_functions.h"
#include "catenary/core/error.h"
#include "catenary/core/parallel.h"

namespace catenary::cpu {

namespace {

constexpr std::int64_t kOneThread = 200;  // up to this size a library's threads cost more than they save

/// The number of a library's threads, which is one for all its callers. Calls that need another number wait.
class LibraryThreads {
 public:
  explicit LibraryThreads(void (*set)(int)) : set_(set) {}
  bool can_change() const { return set_ != nullptr; }

  /// A call of the library with this number of threads.
  class Use {
   public:
    Use(LibraryThreads& of, int threads) : of_(of) {
      std::unique_lock lock(of_.mutex_);
      of_.ended_.wait(lock, [&] { return of_.calls_ == 0 || of_.threads_ == threads; });
      if (of_.threads_ != threads && of_.set_) of_.set_(threads);
      of_.threads_ = threads;
      ++of_.calls_;
    }
    Use(const Use&) = delete;
    Use& operator=(const Use&) = delete;
    ~Use() {
      std::lock_guard lock(of_.mutex_);
      if (--of_.calls_ == 0) of_.ended_.notify_all();
    }

   private:
    LibraryThreads& of_;
  };

 private:
  void (*const set_)(int);
  std::mutex mutex_;
  std::condition_variable ended_;
  int threads_ = 0, calls_ = 0;
};

template <class T>
T* matrix_at(const View& view, std::int64_t i) {
  return static_cast<T*>(view.data()) + i * view.strides[0];
}

constexpr std::int64_t kTransposed = 8;  // columns at a time: a cache line of float64

/// Copies matrix i of a batch into Fortran order.
template <class T>
void to_columns(const View& view, std::int64_t i, T* to) {
  const std::int64_t m = view.shape[1], n = view.shape[2], down = view.strides[1], right = view.strides[2];
  const T* from = matrix_at<T>(view, i);
  for (std::int64_t first = 0; first < n; first += kTransposed) {
    const std::int64_t end = std::min(first + kTransposed, n);
    for (std::int64_t r = 0; r < m; ++r)
      for (std::int64_t c = first; c < end; ++c) to[c * m + r] = from[r * down + c * right];
  }
}

/// Copies a matrix in Fortran order into matrix i of a C-ordered batch.
template <class T>
void from_columns(const T* from, const View& view, std::int64_t i) {
  const std::int64_t m = view.shape[1], n = view.shape[2];
  T* to = matrix_at<T>(view, i);
  for (std::int64_t first = 0; first < n; first += kTransposed) {
    const std::int64_t end = std::min(first + kTransposed, n);
    for (std::int64_t r = 0; r < m; ++r)
      for (std::int64_t c = first; c < end; ++c) to[r * n + c] = from[c * m + r];
  }
}

/// Copies matrix i of a batch into C order.
template <class T>
void to_rows(const View& view, std::int64_t i, T* to) {
  const std::int64_t m = view.shape[1], n = view.shape[2], down = view.strides[1], right = view.strides[2];
  const T* from = matrix_at<T>(view, i);
  for (std::int64_t r = 0; r < m; ++r)
    for (std::int64_t c = 0; c < n; ++c) to[r * n + c] = from[r * down + c * right];
}

/// Returns whether no element is an infinity or a NaN.
template <class T>
bool all_finite(const T* x, std::int64_t count) {
  using R = typename LapackPart<T>::type;
  const R* parts = reinterpret_cast<const R*>(x);
  const std::int64_t n = count * static_cast<std::int64_t>(sizeof(T) / sizeof(R));
  R sum = 0;  // of zeros, unless an element is not finite
  for (std::int64_t i = 0; i < n; ++i) sum += parts[i] * R(0);
  return sum == 0;
}

class Lapack final : public Provider<Solve> {
 public:
  Lapack(const os::Library& library, const char* threads)
      : detail_(library.path()),
        single_(library),
        double_(library),
        single_complex_(library),
        double_complex_(library),
        threads_(threads ? library.function<void(int)>(threads) : nullptr) {}

  std::string detail() const override { return detail_; }

  bool run(const Solve& p, std::string&) override {
    if (std::max(p.a.shape[1], p.a.shape[2]) > kLargestLapack || p.a.size() == 0) return false;
    switch (p.a.dtype) {
      case Dtype::float32:
        return run(single_, p);
      case Dtype::float64:
        return run(double_, p);
      case Dtype::complex64:
        return run(single_complex_, p);
      case Dtype::complex128:
        return run(double_complex_, p);
      default:
        return false;
    }
  }

 private:
  template <class T>
  bool run(const LapackFunctions<T>& f, const Solve& p) {
    // LAPACK's results for NaNs differ between implementations.
    const bool eliminates = p.op != SolveOp::cholesky && p.op <= SolveOp::lu;
    if (!LapackFunctions<T>::kComplex && eliminates && !all_finite(matrix_at<T>(p.a, 0), p.a.size())) return false;
    std::vector<char> ok(p.ok.size(), 1);
    switch (p.op) {
      case SolveOp::cholesky:
        cholesky(f, p, ok);
        break;
      case SolveOp::solve:
      case SolveOp::inv:
      case SolveOp::lu:
      case SolveOp::det:
        eliminate(f, p, ok);
        break;
      case SolveOp::eigh:
        eigh(f, p, ok);
        break;
      case SolveOp::qr:
      case SolveOp::q:
        qr(f, p);
        break;
      case SolveOp::svd:
        svd(f, p, ok);
        break;
      case SolveOp::eig:
        eig(f, p, ok);
        break;
    }
    std::copy(ok.begin(), ok.end(), p.ok.begin());
    return true;
  }

  /// Calls body(begin, end) for ranges of matrices. Many matrices are shared by our threads, and a large one by the
  /// library's.
  template <class F>
  void each(const Solve& p, const F& body) {
    const std::int64_t batch = p.a.shape[0], m = p.a.shape[1], n = p.a.shape[2];
    const bool ours = !threads_.can_change() || batch >= num_threads() || std::max(m, n) <= kOneThread;
    const LibraryThreads::Use use(threads_, ours ? 1 : num_threads());
    if (!ours) return body(std::int64_t{0}, batch);
    const std::int64_t grain = kGrain / std::max<std::int64_t>(m * n * std::min(m, n), 1);
    parallel_for(batch, std::max<std::int64_t>(grain, 1), body);
  }

  /// In Fortran's view a lower triangle is the upper triangle of the transpose, so that nothing is transposed: Uᴴ U is
  /// the conjugate of a, and L is the transpose of U.
  template <class T>
  void cholesky(const LapackFunctions<T>& f, const Solve& p, std::vector<char>& ok) {
    const std::int64_t n = p.a.shape[1];
    each(p, [&](std::int64_t from, std::int64_t to) {
      for (std::int64_t i = from; i < to; ++i) {
        T* l = matrix_at<T>(p.out, i);
        to_rows(p.a, i, l);
        bool definite = f.cholesky(static_cast<int>(n), l) == 0;
        for (std::int64_t r = 0; r < n; ++r) {
          std::fill(l + r * n + r + 1, l + (r + 1) * n, T(0));
          definite = definite && !std::isnan(std::real(l[r * n + r]));
        }
        ok[static_cast<std::size_t>(i)] = definite;
      }
    });
  }

  /// Factors the matrices by LU and computes solutions, inverses or determinants.
  template <class T>
  void eliminate(const LapackFunctions<T>& f, const Solve& p, std::vector<char>& ok) {
    const std::int64_t n = p.a.shape[1], k = p.op == SolveOp::solve ? p.b.shape[2] : 0;
    each(p, [&](std::int64_t from, std::int64_t to) {
      const Scratch matrix(n * n * std::int64_t{sizeof(T)}), right(n * k * std::int64_t{sizeof(T)});
      T *const a = matrix.as<T>(), *const x = right.as<T>();
      std::vector<int> pivots(static_cast<std::size_t>(n));
      std::vector<T> work;
      for (std::int64_t i = from; i < to; ++i) {
        to_columns(p.a, i, a);
        const bool regular = f.lu(static_cast<int>(n), a, pivots.data()) == 0;
        ok[static_cast<std::size_t>(i)] = regular;
        if (p.op == SolveOp::lu) {
          from_columns(a, p.out, i);
          std::int32_t* const counted_from_0 = matrix_at<std::int32_t>(p.b, i);
          for (std::int64_t j = 0; j < n; ++j) counted_from_0[j] = pivots[static_cast<std::size_t>(j)] - 1;
        } else if (p.op == SolveOp::det) {
          determinant(a, pivots, matrix_at<T>(p.out, i));
        } else if (regular && p.op == SolveOp::inv) {
          f.invert(static_cast<int>(n), a, pivots.data(), work);
          from_columns(a, p.out, i);
        } else if (regular) {
          to_columns(p.b, i, x);
          f.solve(static_cast<int>(n), static_cast<int>(k), a, pivots.data(), x);
          from_columns(x, p.out, i);
        }
      }
    });
  }

  /// Writes the value, the sign and the logarithm of a determinant from LU factors.
  template <class T>
  static void determinant(const T* factors, const std::vector<int>& pivots, T* to) {
    if constexpr (!LapackFunctions<T>::kComplex) {
      const std::size_t n = pivots.size();
      T value = 1, sign = 1, logarithm = 0;
      for (std::size_t i = 0; i < n; ++i) {
        const T pivot = pivots[i] == static_cast<int>(i) + 1 ? factors[i * n + i] : -factors[i * n + i];
        value *= pivot;
        sign = pivot > 0 ? sign : pivot < 0 ? -sign : pivot * 0;
        logarithm += std::log(std::abs(pivot));
      }
      to[0] = value;
      to[1] = sign;
      to[2] = logarithm;
    }
  }

  template <class T>
  void eigh(const LapackFunctions<T>& f, const Solve& p, std::vector<char>& ok) {
    using R = typename LapackPart<T>::type;
    const std::int64_t n = p.a.shape[1];
    const bool vectors = p.out.size() > 0;
    each(p, [&](std::int64_t from, std::int64_t to) {
      const Scratch matrix(n * n * std::int64_t{sizeof(T)});
      T* const a = matrix.as<T>();
      typename LapackFunctions<T>::Work work;
      for (std::int64_t i = from; i < to; ++i) {
        to_columns(p.a, i, a);
        bool computed = true;
        for (std::int64_t c = 0; c < n && computed; ++c) computed = all_finite(a + c * n + c, n - c);
        computed = computed && f.eigh(vectors, static_cast<int>(n), a, matrix_at<R>(p.b, i), work) == 0;
        if (computed && vectors) from_columns(a, p.out, i);
        ok[static_cast<std::size_t>(i)] = computed;
      }
    });
  }

  /// Computes R and reflections, or Q from them.
  template <class T>
  void qr(const LapackFunctions<T>& f, const Solve& p) {
    const auto m = static_cast<int>(p.a.shape[1]), n = static_cast<int>(p.a.shape[2]);
    const int columns = static_cast<int>(p.out.shape[2]), k = std::min(m, n);
    each(p, [&](std::int64_t from, std::int64_t to) {
      const Scratch matrix(std::int64_t{m} * std::max(n, columns) * std::int64_t{sizeof(T)});
      T* const a = matrix.as<T>();
      std::vector<T> work;
      for (std::int64_t i = from; i < to; ++i) {
        to_columns(p.a, i, a);
        if (p.op == SolveOp::qr) {
          f.qr(m, n, a, matrix_at<T>(p.b, i), work);
        } else {
          f.q(m, columns, k, a, matrix_at<T>(p.b, i), work);
        }
        from_columns(a, p.out, i);
      }
    });
  }

  /// In Fortran's view the transpose of a is decomposed: its left vectors are the rows of vh, its right ones those of
  /// u.
  template <class T>
  void svd(const LapackFunctions<T>& f, const Solve& p, std::vector<char>& ok) {
    using R = typename LapackPart<T>::type;
    const auto m = static_cast<int>(p.a.shape[1]), n = static_cast<int>(p.a.shape[2]);
    const bool vectors = p.out.size() > 0, full = vectors && p.out.shape[2] == m && p.second->shape[1] == n;
    each(p, [&](std::int64_t from, std::int64_t to) {
      const Scratch matrix(std::int64_t{m} * n * std::int64_t{sizeof(T)});
      T* const a = matrix.as<T>();
      typename LapackFunctions<T>::Work work;
      for (std::int64_t i = from; i < to; ++i) {
        to_rows(p.a, i, a);
        ok[static_cast<std::size_t>(i)] = all_finite(a, std::int64_t{m} * n) &&
                                          f.svd(!vectors ? "N"
                                                : full   ? "A"
                                                         : "S",
                                                n, m, a, matrix_at<R>(p.b, i), vectors ? matrix_at<T>(*p.second, i) : a,
                                                vectors ? matrix_at<T>(p.out, i) : a, work) == 0;
      }
    });
  }

  template <class T>
  void eig(const LapackFunctions<T>& f, const Solve& p, std::vector<char>& ok) {
    using Complex = std::complex<typename LapackPart<T>::type>;
    const std::int64_t n = p.a.shape[1];
    const bool vectors = p.out.size() > 0;
    each(p, [&](std::int64_t from, std::int64_t to) {
      const Scratch matrix(2 * n * n * std::int64_t{sizeof(T)});
      T *const a = matrix.as<T>(), *const columns = a + n * n;
      typename LapackFunctions<T>::Work work;
      for (std::int64_t i = from; i < to; ++i) {
        to_columns(p.a, i, a);
        Complex* const values = matrix_at<Complex>(p.b, i);
        const bool computed = f.eig(vectors, static_cast<int>(n), a, values, columns, work) == 0;
        if (computed && vectors) to_complex(columns, values, p.out, i);
        ok[static_cast<std::size_t>(i)] = computed;
      }
    });
  }

  /// Copies eigenvectors into the rows of matrix i of a batch. LAPACK stores a conjugate pair as real and imaginary
  /// parts.
  template <class T, class Complex>
  static void to_complex(const T* from, const Complex* values, const View& view, std::int64_t i) {
    const std::int64_t n = view.shape[1];
    for (std::int64_t k = 0; k < n; ++k) {
      Complex* const to = matrix_at<Complex>(view, i) + k * n;
      if constexpr (LapackFunctions<T>::kComplex) {
        std::copy_n(from + k * n, n, to);
      } else {
        const T side = values[k].imag() > 0 ? T(1) : T(-1);
        const bool pair = values[k].imag() != 0;
        const T *const real = from + (pair && side < 0 ? k - 1 : k) * n, *const imaginary = real + n;
        for (std::int64_t r = 0; r < n; ++r) to[r] = {real[r], pair ? side * imaginary[r] : T(0)};
      }
    }
  }

  const std::string detail_;
  const LapackFunctions<float> single_;
  const LapackFunctions<double> double_;
  const LapackFunctions<std::complex<float>> single_complex_;
  const LapackFunctions<std::complex<double>> double_complex_;
  LibraryThreads threads_;
};

}  // namespace

std::unique_ptr<Provider<Solve>> open_lapack(const std::string& file, const char* threads, std::string& why) {
  const std::optional<os::Library> library = os::Library::find(file, &why);
  if (!library) return nullptr;
  try {
    return std::make_unique<Lapack>(*library, threads);
  } catch (const Error& error) {
    why = error.what();
    return nullptr;
  }
}

}  // namespace catenary::cpu
