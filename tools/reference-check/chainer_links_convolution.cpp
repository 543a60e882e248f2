// Entries of links with convolutions.

#include "catenary/links/convolution.h"
#include "catenary/links/inception.h"
#include "chainer_links.h"

namespace reference {

namespace L = catenary::links;

namespace {

using Channels = std::optional<std::int64_t>;

/// A number or null.
Channels channels(const json& j) { return j.is_null() ? Channels() : Channels(j.get<std::int64_t>()); }
catenary::PerAxis sizes(const json& j) {
  return j.is_array() ? catenary::Shape(j.get<std::vector<std::int64_t>>()) : catenary::Shape{j.get<std::int64_t>()};
}

template <class Options>
void set_window(Keywords& k, Options& options) {
  for (const auto& [name, member] : {std::pair("stride", &options.stride), std::pair("pad", &options.pad)})
    if (k.given(name)) *member = sizes(k.get(name));
}
/// Options of convolutions and of their transposed kin.
template <class Options>
Options options_of(Keywords& k) {
  Options options;
  set_window(k, options);
  if (k.given("dilate")) options.dilate = sizes(k.get("dilate"));
  k.set("groups", options.groups);
  k.set("nobias", options.nobias);
  return options;
}

template <class Link, class Options>
void add_fixed(LinkTable& table, const char* name) {
  table.add(name, [](const Positions& a, Keywords& k) {
    return Link(channels(a.get(0)), a.get(1), sizes(a.get(2)), options_of<Options>(k));
  });
}
template <class Link, class Options>
void add_nd(LinkTable& table, const char* name) {
  table.add(name, [](const Positions& a, Keywords& k) {
    return Link(a.get(0).get<int>(), channels(a.get(1)), a.get(2), sizes(a.get(3)), options_of<Options>(k));
  });
}

}  // namespace

void add_convolution_links(LinkTable& table) {
  using Convolution = L::ConvolutionLinkOptions;
  using Deconvolution = L::DeconvolutionLinkOptions;
  add_fixed<L::Convolution1D, Convolution>(table, "Convolution1D");
  add_fixed<L::Convolution2D, Convolution>(table, "Convolution2D");
  add_fixed<L::Convolution3D, Convolution>(table, "Convolution3D");
  add_fixed<L::DilatedConvolution2D, Convolution>(table, "DilatedConvolution2D");
  add_nd<L::ConvolutionND, Convolution>(table, "ConvolutionND");
  add_fixed<L::Deconvolution1D, Deconvolution>(table, "Deconvolution1D");
  add_fixed<L::Deconvolution2D, Deconvolution>(table, "Deconvolution2D");
  add_fixed<L::Deconvolution3D, Deconvolution>(table, "Deconvolution3D");
  add_nd<L::DeconvolutionND, Deconvolution>(table, "DeconvolutionND");
  table.add("DepthwiseConvolution2D", [](const Positions& a, Keywords& k) {
    L::DepthwiseConvolutionLinkOptions options;
    set_window(k, options);
    k.set("nobias", options.nobias);
    return L::DepthwiseConvolution2D(channels(a.get(0)), a.get(1), sizes(a.get(2)), options);
  });
  table.add("DeformableConvolution2D", [](const Positions& a, Keywords& k) {
    L::DeformableConvolutionLinkOptions options;
    set_window(k, options);
    return L::DeformableConvolution2D(channels(a.get(0)), a.get(1), sizes(a.get(2)), options);
  });
  table.add("LocalConvolution2D", [](const Positions& a, Keywords& k) {
    L::LocalConvolutionLinkOptions options;
    if (k.given("stride")) options.stride = sizes(k.get("stride"));
    k.set("nobias", options.nobias);
    return L::LocalConvolution2D(a.get(0), a.get(1), sizes(k.get("in_size")), sizes(k.get("ksize")), options);
  });
  table.add("MLPConvolution2D", [](const Positions& a, Keywords& k) {
    L::MLPConvolutionOptions options;
    set_window(k, options);
    return L::MLPConvolution2D(channels(a.get(0)), a.get(1).get<std::vector<std::int64_t>>(), sizes(a.get(2)), options);
  });
  table.add("Inception", [](const Positions& a, Keywords&) {
    return L::Inception(channels(a.get(0)), a.integer(1), a.integer(2), a.integer(3), a.integer(4), a.integer(5),
                        a.integer(6));
  });
  table.add("InceptionBN", [](const Positions& a, Keywords&) {
    L::InceptionBNOptions options;
    if (a.size() > 7) options.proj_pool = channels(a.get(7));
    return L::InceptionBN(channels(a.get(0)), a.integer(1), a.integer(2), a.integer(3), a.integer(4), a.integer(5),
                          a.get(6).get<std::string>(), options);
  });
}

}  // namespace reference
