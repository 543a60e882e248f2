#include "catenary/links/sequential.h"

#include <utility>

#include "catenary/core/format.h"

namespace catenary {

const Model& ChainList::operator[](std::int64_t i) const {
  const std::int64_t at = i < 0 ? i + size() : i;
  if (at < 0 || at >= size()) fail<IndexError>("ChainList: index {} is out of range for {} links", i, size());
  return links_[static_cast<std::size_t>(at)];
}

void ChainList::visit_members(MemberVisitor& visitor) const {
  for (std::size_t i = 0; i < links_.size(); ++i) visitor(std::to_string(i), links_[i].link());
}

void ChainList::detach(CopyMode mode) {
  // Model::copy detaches the links, so they are removed before this link is detached
  std::vector<Model> links = std::exchange(links_, {});
  Link::detach(mode);
  for (Model& link : links) link = link.copy(mode);
  links_ = std::move(links);
}

void Sequential::append(const Model& link) { steps_.push_back({link, {}}); }
void Sequential::append_function(Function function) { steps_.push_back({{}, std::move(function)}); }

Variable Sequential::operator()(const Variable& x) const {
  return hooked(
      *this,
      [&] {
        Variable y = x;
        for (const Step& step : steps_) y = step.function ? step.function(y) : step.link(y);
        return y;
      },
      x);
}

Sequential Sequential::repeat(int n, CopyMode mode) const {
  if (n < 0) fail<ValueError>("Sequential::repeat: n must not be negative, got {}", n);
  Sequential result;
  for (int i = 0; i < n; ++i)
    for (const Step& step : steps_)
      result.steps_.push_back({step.link.defined() ? step.link.copy(mode) : Model(), step.function});
  return result;
}

void Sequential::visit_members(MemberVisitor& visitor) const {
  int number = 0;
  for (const Step& step : steps_)
    if (step.link.defined()) visitor(std::to_string(number++), step.link.link());
}

void Sequential::detach(CopyMode mode) {
  std::vector<Step> steps = std::exchange(steps_, {});
  Link::detach(mode);
  for (Step& step : steps)
    if (step.link.defined()) step.link = step.link.copy(mode);
  steps_ = std::move(steps);
}

}  // namespace catenary
