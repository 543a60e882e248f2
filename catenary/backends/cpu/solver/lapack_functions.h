#pragma once
// Private to the CPU backend: the Fortran functions of LAPACK for one type of elements. Matrices are in Fortran order.
// Each function returns LAPACK's `info`: 0 for success.

#include <algorithm>
#include <complex>
#include <cstddef>
#include <string>
#include <type_traits>
#include <vector>

#include "catenary/core/os/library.h"

namespace catenary::cpu {

template <class T>
struct LapackPart {
  using type = T;
};
template <class R>
struct LapackPart<std::complex<R>> {
  using type = R;
};

template <class T>
class LapackFunctions {
 public:
  using Real = typename LapackPart<T>::type;
  static constexpr bool kComplex = !std::is_same_v<T, Real>;

  /// Throws FileError if a function is missing.
  explicit LapackFunctions(const os::Library& library)
      : getrf_(find<Getrf>(library, "getrf")),
        getrs_(find<Getrs>(library, "getrs")),
        getri_(find<Getri>(library, "getri")),
        potrf_(find<Potrf>(library, "potrf")),
        geqrf_(find<Geqrf>(library, "geqrf")),
        orgqr_(find<Orgqr>(library, kComplex ? "ungqr" : "orgqr")),
        eigh_(find<Eigh>(library, kComplex ? "heevd" : "syevd")),
        gesdd_(find<Gesdd>(library, "gesdd")),
        geev_(find<Geev>(library, "geev")) {}

  /// Computes LU factors of a [n, n] in place, and pivots, which count from 1.
  int lu(int n, T* a, int* pivots) const {
    int info = 0;
    getrf_(&n, &n, a, &n, pivots, &info);
    return info;
  }
  /// Solves for x [n, k] in place, from LU factors.
  int solve(int n, int k, const T* factors, const int* pivots, T* x) const {
    int info = 0;
    getrs_("N", &n, &k, factors, &n, pivots, x, &n, &info, 1);
    return info;
  }
  /// Replaces LU factors by the inverse.
  int invert(int n, T* factors, const int* pivots, std::vector<T>& work) const {
    return with_work(work, [&](T* area, int size) {
      int info = 0;
      getri_(&n, factors, &n, pivots, area, &size, &info);
      return info;
    });
  }
  /// Replaces the upper triangle of a by U with Uᴴ U = a.
  int cholesky(int n, T* a) const {
    int info = 0;
    potrf_("U", &n, a, &n, &info, 1);
    return info;
  }
  /// Computes R and reflections of a [m, n] in place, and their factors [min(m, n)].
  int qr(int m, int n, T* a, T* factors, std::vector<T>& work) const {
    return with_work(work, [&](T* area, int size) {
      int info = 0;
      geqrf_(&m, &n, a, &m, factors, area, &size, &info);
      return info;
    });
  }
  /// Replaces k reflections in a by the first `columns` columns of their product.
  int q(int m, int columns, int k, T* a, const T* factors, std::vector<T>& work) const {
    return with_work(work, [&](T* area, int size) {
      int info = 0;
      orgqr_(&m, &columns, &k, a, &m, factors, area, &size, &info);
      return info;
    });
  }

  /// Work areas, which a caller keeps for matrices of equal size.
  struct Work {
    std::vector<T> work;
    std::vector<Real> real;
    std::vector<int> integers;
  };

  /// Computes eigenvalues of the Hermitian matrix with the lower triangle of a, and with `vectors` replaces a by the
  /// eigenvectors.
  int eigh(bool vectors, int n, T* a, Real* values, Work& w) const {
    const char* const job = vectors ? "V" : "N";
    const auto call = [&](T* work, int size, Real* real, int real_size, int* integers, int count) {
      int info = 0;
      if constexpr (kComplex) {
        eigh_(job, "L", &n, a, &n, values, work, &size, real, &real_size, integers, &count, &info, 1, 1);
      } else {
        static_cast<void>(real), static_cast<void>(real_size);
        eigh_(job, "L", &n, a, &n, values, work, &size, integers, &count, &info, 1, 1);
      }
      return info;
    };
    if (w.work.empty()) {
      T size{};
      Real real_size{};
      int count = 0;
      if (const int info = call(&size, -1, &real_size, -1, &count, -1)) return info;
      w.work.resize(room(std::real(size)));
      w.real.resize(kComplex ? room(real_size) : 1);
      w.integers.resize(static_cast<std::size_t>(count));
    }
    return call(w.work.data(), int_size(w.work), w.real.data(), int_size(w.real), w.integers.data(),
                int_size(w.integers));
  }

  /// Computes singular values of a [m, n], which is destroyed. `job` is LAPACK's: "A", "S" or "N".
  int svd(const char* job, int m, int n, T* a, Real* values, T* u, T* vh, Work& w) const {
    const int k = std::min(m, n), larger = std::max(m, n), vh_rows = *job == 'A' ? n : std::max(k, 1);
    const auto call = [&](T* work, int size) {
      int info = 0;
      if constexpr (kComplex) {
        gesdd_(job, &m, &n, a, &m, values, u, &m, vh, &vh_rows, work, &size, w.real.data(), w.integers.data(), &info,
               1);
      } else {
        gesdd_(job, &m, &n, a, &m, values, u, &m, vh, &vh_rows, work, &size, w.integers.data(), &info, 1);
      }
      return info;
    };
    if (w.work.empty()) {
      const auto sides = static_cast<std::size_t>(k), longer = static_cast<std::size_t>(larger);
      w.integers.resize(8 * sides);
      if (kComplex)
        w.real.resize(std::max(5 * sides * sides + 5 * sides, 2 * longer * sides + 2 * sides * sides + sides));
      T size{};
      if (const int info = call(&size, -1)) return info;
      w.work.resize(room(std::real(size)));
    }
    return call(w.work.data(), int_size(w.work));
  }

  /// Computes eigenvalues of a [n, n], which is destroyed, and with `vectors` eigenvectors as LAPACK stores them: for
  /// real matrices the real and the imaginary parts of conjugate pairs in neighbouring columns.
  int eig(bool vectors, int n, T* a, std::complex<Real>* values, T* columns, Work& w) const {
    const char* const job = vectors ? "V" : "N";
    const auto count = static_cast<std::size_t>(n);
    w.real.resize(2 * count);
    const int info = with_work(w.work, [&](T* work, int size) {
      int result = 0;
      if constexpr (kComplex) {
        geev_("N", job, &n, a, &n, values, nullptr, &n, columns, &n, work, &size, w.real.data(), &result, 1, 1);
      } else {
        geev_("N", job, &n, a, &n, w.real.data(), w.real.data() + n, nullptr, &n, columns, &n, work, &size, &result, 1,
              1);
      }
      return result;
    });
    if constexpr (!kComplex)
      for (std::size_t i = 0; i < count; ++i) values[i] = {w.real[i], w.real[count + i]};
    return info;
  }

 private:
  // Hidden arguments at the end are the lengths of texts.
  using Getrf = void(const int*, const int*, T*, const int*, int*, int*);
  using Getrs = void(const char*, const int*, const int*, const T*, const int*, const int*, T*, const int*, int*,
                     std::size_t);
  using Getri = void(const int*, T*, const int*, const int*, T*, const int*, int*);
  using Potrf = void(const char*, const int*, T*, const int*, int*, std::size_t);
  using Geqrf = void(const int*, const int*, T*, const int*, T*, T*, const int*, int*);
  using Orgqr = void(const int*, const int*, const int*, T*, const int*, const T*, T*, const int*, int*);
  using Eigh = std::conditional_t<kComplex,
                                  void(const char*, const char*, const int*, T*, const int*, Real*, T*, const int*,
                                       Real*, const int*, int*, const int*, int*, std::size_t, std::size_t),
                                  void(const char*, const char*, const int*, T*, const int*, Real*, T*, const int*,
                                       int*, const int*, int*, std::size_t, std::size_t)>;
  using Gesdd = std::conditional_t<kComplex,
                                   void(const char*, const int*, const int*, T*, const int*, Real*, T*, const int*, T*,
                                        const int*, T*, const int*, Real*, int*, int*, std::size_t),
                                   void(const char*, const int*, const int*, T*, const int*, Real*, T*, const int*, T*,
                                        const int*, T*, const int*, int*, int*, std::size_t)>;
  using Geev =
      std::conditional_t<kComplex,
                         void(const char*, const char*, const int*, T*, const int*, std::complex<Real>*, T*, const int*,
                              T*, const int*, T*, const int*, Real*, int*, std::size_t, std::size_t),
                         void(const char*, const char*, const int*, T*, const int*, Real*, Real*, T*, const int*, T*,
                              const int*, T*, const int*, int*, std::size_t, std::size_t)>;

  template <class F>
  static F* find(const os::Library& library, const char* name) {
    const char letter = kComplex ? (sizeof(Real) == 4 ? 'c' : 'z') : (sizeof(Real) == 4 ? 's' : 'd');
    return library.required<F>((letter + std::string(name) + "_").c_str());
  }
  /// Returns the elements of a work area. Single precision may have rounded the answer down.
  static std::size_t room(Real answer) { return static_cast<std::size_t>(static_cast<double>(answer) * 1.000001) + 1; }
  template <class E>
  static int int_size(const std::vector<E>& area) {
    return static_cast<int>(area.size());
  }
  /// Calls a function with its work area. Asks for the best size first, unless there is one from the previous call.
  template <class F>
  static int with_work(std::vector<T>& work, const F& call) {
    if (work.empty()) {
      T answer{};
      if (const int info = call(&answer, -1)) return info;
      work.resize(room(std::real(answer)));
    }
    return call(work.data(), int_size(work));
  }

  Getrf* const getrf_;
  Getrs* const getrs_;
  Getri* const getri_;
  Potrf* const potrf_;
  Geqrf* const geqrf_;
  Orgqr* const orgqr_;
  Eigh* const eigh_;
  Gesdd* const gesdd_;
  Geev* const geev_;
};

}  // namespace catenary::cpu
