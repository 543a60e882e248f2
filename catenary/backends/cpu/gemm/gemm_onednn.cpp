#include "catenary/backends/cpu/gemm/gemm_onednn.h"

#include <optional>

#include "catenary/backends/cpu/onednn/plugin.h"
#include "catenary/core/environment.h"
#include "catenary/core/format.h"
#include "catenary/core/os/installation.h"
#include "catenary/core/os/library.h"
#include "catenary/core/parallel.h"

namespace catenary::cpu {
namespace {

struct Plugin {
  const CatenaryOnednn* table = nullptr;
  std::string info;

  Plugin() {
    if (!environment::flag("CATENARY_ONEDNN", true)) {
      info = "oneDNN: off (CATENARY_ONEDNN=0)";
      return;
    }
    const std::string path = os::library_folder() + "/" + os::plugin_file("onednn");
    std::string why;
    const std::optional<os::Library> library = os::Library::find(path, &why);
    if (!library) {
      info = "oneDNN: not loaded: " + why;
      return;
    }
    auto* get = library->function<const CatenaryOnednn*()>("catenary_onednn");
    const CatenaryOnednn* found = get ? get() : nullptr;
    if (!found || found->interface != CT_ONEDNN_INTERFACE) {
      info = "oneDNN: not loaded: " + path + " is of another version of Catenary";
      return;
    }
    table = found;
    info = std::string("oneDNN ") + table->version + " (" + path + ")";
  }
};

const Plugin& plugin() {
  static const Plugin* loaded = new Plugin;  // never unloaded: its threads may outlive static destruction
  return *loaded;
}

// An operand of rows × columns in BLAS's terms: 'N' with unit column stride or 'T' with unit row stride, and the
// leading dimension.
struct Blas {
  char trans = 0;
  std::int64_t ld = 0;
  Blas(std::int64_t rows, std::int64_t columns, std::int64_t rs, std::int64_t cs) {
    if ((cs == 1 || columns == 1) && (rs >= columns || rows == 1)) {
      trans = 'N', ld = rows == 1 ? columns : rs;
    } else if ((rs == 1 || rows == 1) && (cs >= rows || columns == 1)) {
      trans = 'T', ld = columns == 1 ? rows : cs;
    }
  }
};

class Onednn final : public Provider<GemmArgs<float>> {
 public:
  std::string detail() const override { return onednn_info(); }

  bool run(const GemmArgs<float>& g, std::string& why) override {
    if (g.k == 0) return false;
    const Blas a(g.m, g.k, g.a_rs, g.a_cs), b(g.k, g.n, g.b_rs, g.b_cs), c(g.m, g.n, g.c_rs, g.c_cs);
    if (!a.trans || !b.trans || c.trans != 'N') return false;
    // sgemm has no bias, so store it in C and add the product.
    const bool bias = g.bias_n || g.bias_m;
    if (bias) {
      parallel_for(g.m, 1 + 16384 / g.n, [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t i = begin; i < end; ++i) {
          float* row = g.c + i * c.ld;
          const float shift = g.bias_m ? g.bias_m[i] : 0.0f;
          for (std::int64_t j = 0; j < g.n; ++j)
            row[j] = (g.accumulate ? row[j] : 0.0f) + shift + (g.bias_n ? g.bias_n[j] : 0.0f);
        }
      });
    }
    const float beta = g.accumulate || bias ? 1.0f : 0.0f;
    const int status =
        plugin().table->sgemm(a.trans, b.trans, g.m, g.n, g.k, g.a, a.ld, g.b, b.ld, beta, g.c, c.ld, num_threads());
    if (status != 0) why = fmt::format("it cannot multiply (status {})", status);
    return status == 0;
  }
};

}  // namespace

std::unique_ptr<Provider<GemmArgs<float>>> open_onednn(std::string& why) {
  if (plugin().table) return std::make_unique<Onednn>();
  why = onednn_info();
  return nullptr;
}
std::string onednn_info() { return plugin().info; }
std::string describe(const GemmArgs<float>& g) {
  return fmt::format("a product of float32 [{}, {}, {}]", g.m, g.n, g.k);
}

}  // namespace catenary::cpu
