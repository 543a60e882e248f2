// Entries of links with convolutions.

#include "catenary/links/convolution.h"
#include "catenary/links/inception.h"
#include "chainer_links.h"

namespace reference {

namespace L = catenary::links;

namespace {

using Channels = std::optional<std::int64_t>;
using catenary::PerAxis;

/// Links with input channels, output channels, window sizes and options.
template <class Link>
void add_windows(LinkTable& table, const char* name) {
  table.add(name, [](const Positions& a, Keywords& k) {
    return Link(a.value<Channels>(0), a.integer(1), a.value<PerAxis>(2), k.options());
  });
}
template <class Link>
void add_nd(LinkTable& table, const char* name) {
  table.add(name, [](const Positions& a, Keywords& k) {
    return Link(a.value<int>(0), a.value<Channels>(1), a.integer(2), a.value<PerAxis>(3), k.options());
  });
}

}  // namespace

void add_convolution_links(LinkTable& table) {
  add_windows<L::Convolution1D>(table, "Convolution1D");
  add_windows<L::Convolution2D>(table, "Convolution2D");
  add_windows<L::Convolution3D>(table, "Convolution3D");
  add_windows<L::DilatedConvolution2D>(table, "DilatedConvolution2D");
  add_nd<L::ConvolutionND>(table, "ConvolutionND");
  add_windows<L::Deconvolution1D>(table, "Deconvolution1D");
  add_windows<L::Deconvolution2D>(table, "Deconvolution2D");
  add_windows<L::Deconvolution3D>(table, "Deconvolution3D");
  add_nd<L::DeconvolutionND>(table, "DeconvolutionND");
  add_windows<L::DepthwiseConvolution2D>(table, "DepthwiseConvolution2D");
  add_windows<L::DeformableConvolution2D>(table, "DeformableConvolution2D");
  table.add("LocalConvolution2D", [](const Positions& a, Keywords& k) {
    return L::LocalConvolution2D(a.integer(0), a.integer(1), k.integers("in_size"), k.integers("ksize"), k.options());
  });
  table.add("MLPConvolution2D", [](const Positions& a, Keywords& k) {
    const std::vector<std::int64_t> channels = a.get(1);
    return L::MLPConvolution2D(a.value<Channels>(0), channels, a.value<PerAxis>(2), k.options());
  });
  table.add("Inception", [](const Positions& a, Keywords&) {
    return L::Inception(a.value<Channels>(0), a.integer(1), a.integer(2), a.integer(3), a.integer(4), a.integer(5),
                        a.integer(6));
  });
  table.add("InceptionBN", [](const Positions& a, Keywords&) {
    L::InceptionBNOptions options;
    if (a.size() > 7) options.proj_pool = a.value<Channels>(7);
    return L::InceptionBN(a.value<Channels>(0), a.integer(1), a.integer(2), a.integer(3), a.integer(4), a.integer(5),
                          a.value<std::string>(6), options);
  });
}

}  // namespace reference
