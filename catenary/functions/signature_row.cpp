#include "catenary/functions/signature_row.h"

#include <algorithm>

namespace catenary::functions {

namespace detail {

void describe_options(Signature& to, const std::vector<std::string>& members, std::string_view names) {
  const std::size_t first = to.arguments.size();
  for (const std::string& member : members) to.arguments.push_back({member, to.arguments.size()});
  std::vector<std::string> listed = ::catenary::detail::split_names(std::string(names).c_str());
  const auto is_listed = [&](const std::string& member) {
    return std::any_of(listed.begin(), listed.end(), [&](const std::string& name) {
      return name.ends_with(member) && name.size() <= member.size() + 1;
    });
  };
  for (const std::string& word : listed) {
    const bool is_keyword_only = word.starts_with('=');
    for (std::size_t i = 0; i < members.size(); ++i) {
      if (word.ends_with("...") ? is_listed(members[i]) : word.substr(is_keyword_only) != members[i]) continue;
      to.arguments[first + i].is_keyword_only = is_keyword_only;
      to.order.push_back(first + i);
    }
  }
}

}  // namespace detail

std::span<const Signature> signatures() {
  static const std::vector<Signature> all = [] {
    using namespace detail;
    std::vector<Signature> list;
    for (const auto family : {activation_signatures,
                              math_basic_signatures,
                              math_elementwise_signatures,
                              math_special_signatures,
                              math_reduction_signatures,
                              math_matrix_signatures,
                              array_axes_signatures,
                              array_join_signatures,
                              patch_signatures,
                              resampling_signatures,
                              roi_signatures,
                              pooling_signatures,
                              convolution_signatures,
                              connection_signatures,
                              embed_signatures,
                              normalization_signatures,
                              decorrelation_signatures,
                              rnn_signatures,
                              loss_signatures,
                              ctc_signatures,
                              metric_loss_signatures,
                              number_loss_signatures,
                              structured_loss_signatures,
                              evaluation_signatures,
                              fft_signatures}) {
      const std::span<const Signature> rows = family();
      list.insert(list.end(), rows.begin(), rows.end());
    }
    return list;
  }();
  return all;
}

}  // namespace catenary::functions
