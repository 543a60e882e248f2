#include "catenary/distributed/collectives.h"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <utility>

#include "catenary/core/format.h"
#include "catenary/distributed/sums.h"

namespace catenary::distributed {

namespace {

/// Of an all-reduce, a pass; of a broadcast, what a rank hands on while the next comes. What is under way stays in the
/// caches.
constexpr std::size_t kPass = std::size_t{4} << 20, kPiece = std::size_t{1} << 20;

void put(char* to, std::size_t capacity, const std::string& text) {
  std::memcpy(to, text.data(), std::min(text.size(), capacity - 1));
}

/// Memory for what comes from a rank. Where there is none the others cannot be told any more than that the job ends.
void* room(const Wire& wire, const Group::Place& place, int from, const Head& head) {
  try {
    return place(from, head);
  } catch (const std::exception& error) {
    wire.abort(error.what());
  }
}

/// A text with its end replaced by a number of the whole, where it is longer than what is compared.
std::string fitted(const std::string& text, std::size_t capacity) {
  if (text.size() < capacity) return text;
  const std::string number = fmt::format("… {:x}", std::hash<std::string>()(text));
  return text.substr(0, capacity - 1 - number.size()) + number;
}

}  // namespace

Group::Group(std::shared_ptr<Wire> wire, std::vector<int> members, std::uint32_t id)
    : wire_(std::move(wire)), members_(std::move(members)), id_(id) {
  const int self = wire_->transport().rank();
  rank_ = static_cast<int>(std::find(members_.begin(), members_.end(), self) - members_.begin());
  const std::string host = wire_->transport().host();
  hosts_.resize(members_.size());
  Part part{{.bytes = host.size(), .type = 1}, host.data()};
  exchange("create_communicator", std::vector<const Part*>(members_.size(), &part),
           std::vector<bool>(members_.size(), true), [&](int from, const Head& head) {
             std::string& of = hosts_[static_cast<std::size_t>(from)];
             of.resize(head.bytes);
             return of.data();
           });
}

std::shared_ptr<Group> Group::world() {
  static std::uint32_t worlds = 0;
  const std::shared_ptr<Wire>& wire = Wire::job();
  std::vector<int> all(static_cast<std::size_t>(wire->transport().size()));
  std::iota(all.begin(), all.end(), 0);
  return std::shared_ptr<Group>(new Group(wire, std::move(all), ++worlds));
}

std::shared_ptr<Group> Group::split(int color, int key) {
  const int mine[] = {color, key};
  std::vector<std::array<int, 2>> all(members_.size());
  const Part part{{.bytes = sizeof mine, .type = 1}, mine};
  exchange("split", std::vector<const Part*>(members_.size(), &part), std::vector<bool>(members_.size(), true),
           [&](int from, const Head&) { return all[static_cast<std::size_t>(from)].data(); });
  std::vector<std::pair<int, int>> chosen;  // key, rank
  for (std::size_t r = 0; r < all.size(); ++r)
    if (all[r][0] == color) chosen.emplace_back(all[r][1], static_cast<int>(r));
  std::sort(chosen.begin(), chosen.end());
  std::vector<int> members;
  for (const auto& entry : chosen) members.push_back(member(entry.second));
  const auto id = static_cast<std::uint32_t>(std::hash<std::string>()(fmt::format("{} {} {}", id_, ++splits_, color)));
  return std::shared_ptr<Group>(new Group(wire_, std::move(members), id));
}

void Group::begin(const std::string& doing) { wire_->begin(fmt::format("{} (collective {})", doing, number_)); }

int Group::agree(const std::string& doing, int vote) {
  const std::lock_guard lock(wire_->mutex());
  return agree_held(doing, vote);
}

/// In round k each rank hears of what 2^k ranks do, so after log n rounds of all. What one hears is compared with what
/// it does itself, and a difference is passed on.
int Group::agree_held(const std::string& doing, int vote) {
  ++number_;
  begin(doing);
  Frame mine{.group = id_, .number = number_, .vote = vote};
  put(mine.doing, sizeof mine.doing, fitted(doing, sizeof mine.doing));
  for (int distance = 1; distance < size(); distance *= 2) {
    const int to = (rank_ + distance) % size(), from = (rank_ + size() - distance) % size();
    const Frame sent = mine;
    wire_->send(member(to), &sent, sizeof sent);
    const Frame theirs = wire_->next_agreement(member(from));
    if (theirs.group != id_)
      wire_->abort(fmt::format("rank {} is in {} of another communicator", member(from), std::string(theirs.doing)));
    mine.vote = std::max(mine.vote, theirs.vote);
    const bool same = theirs.number == number_ && std::strcmp(theirs.doing, mine.doing) == 0;
    if (mine.difference[0]) continue;
    const std::string difference = theirs.difference[0] ? std::string(theirs.difference)
                                   : same               ? std::string()
                                          : fmt::format("rank {} calls {}, rank {} calls {}", std::min(from, rank_),
                                                        from < rank_ ? theirs.doing : mine.doing, std::max(from, rank_),
                                                        from < rank_ ? mine.doing : theirs.doing);
    put(mine.difference, sizeof mine.difference, difference);
  }
  if (mine.difference[0])
    fail<ValueError>("ranks do different things in their collective {}: {}", number_, std::string(mine.difference));
  return mine.vote;
}

/// Pass by pass each rank gets one slice of all ranks' data, sums it in the order of ranks, and gives it to all.
void Group::allreduce(const std::string& doing, void* data, std::int64_t count, Dtype dtype, int divisor) {
  const std::lock_guard lock(wire_->mutex());
  agree_held(doing);
  const int n = size();
  if (n == 1) return;
  const std::size_t item = itemsize(dtype);
  const auto pass = static_cast<std::int64_t>(kPass / item) * n;
  const auto slice_bytes = static_cast<std::size_t>((std::min(pass, count) + n - 1) / n) * item;
  scratch_.resize(slice_bytes * static_cast<std::size_t>(n));
  for (std::int64_t begin = 0; begin < count; begin += pass) {
    const std::int64_t length = std::min(pass, count - begin);
    const auto first = [&](int r) { return begin + length * r / n; };
    const auto at = [&](int r) { return static_cast<std::byte*>(data) + static_cast<std::size_t>(first(r)) * item; };
    const auto bytes = [&](int r) { return static_cast<std::size_t>(first(r + 1) - first(r)) * item; };
    std::vector<const void*> parts(static_cast<std::size_t>(n));
    for (int step = 1; step < n; ++step) {
      const int to = (rank_ + step) % n, from = (rank_ + n - step) % n;
      std::byte* const theirs = scratch_.data() + static_cast<std::size_t>(from) * slice_bytes;
      parts[static_cast<std::size_t>(from)] = theirs;
      wire_->send(member(to), at(to), bytes(to));
      wire_->receive(member(from), theirs, bytes(rank_));
    }
    wire_->finish();
    parts[static_cast<std::size_t>(rank_)] = at(rank_);
    sum_in_order(dtype, parts, at(rank_), first(rank_ + 1) - first(rank_), divisor);
    for (int step = 1; step < n; ++step) {
      const int to = (rank_ + step) % n, from = (rank_ + n - step) % n;
      wire_->send(member(to), at(rank_), bytes(rank_));
      wire_->receive(member(from), at(from), bytes(from));
    }
    wire_->finish();
  }
}

/// Down a binomial tree, piece by piece: while a rank hands one on, the next comes.
void Group::bcast(const std::string& doing, const Part& part, int root, const Place& place) {
  const std::lock_guard lock(wire_->mutex());
  agree_held(doing);
  const int n = size(), place_in_tree = (rank_ + n - root) % n;
  const auto rank_at = [&](int i) { return member((i + root) % n); };
  int parent = -1;
  std::vector<int> children;
  for (int bit = 1; bit < n; bit *= 2) {
    if (place_in_tree & bit) {
      parent = rank_at(place_in_tree - bit);
      break;
    }
    if (place_in_tree + bit < n) children.push_back(rank_at(place_in_tree + bit));
  }
  std::reverse(children.begin(), children.end());  // the one with most below it first

  Head head = part.head;
  if (parent >= 0) wire_->receive(parent, &head, sizeof head);
  wire_->finish();
  for (const int child : children) wire_->send(child, &head, sizeof head);
  auto* const bytes =
      static_cast<std::byte*>(parent < 0 ? const_cast<void*>(part.data) : room(*wire_, place, root, head));
  for (std::size_t begin = 0; begin < head.bytes; begin += kPiece) {
    const std::size_t length = std::min(kPiece, static_cast<std::size_t>(head.bytes) - begin);
    if (parent >= 0) {
      wire_->receive(parent, bytes + begin, length);
      wire_->finish();
    }
    for (const int child : children) wire_->send(child, bytes + begin, length);
  }
  wire_->finish();
}

void Group::exchange(const std::string& doing, const std::vector<const Part*>& to, const std::vector<bool>& from,
                     const Place& place) {
  const std::lock_guard lock(wire_->mutex());
  agree_held(doing);
  const int n = size();
  std::vector<Head> heads(static_cast<std::size_t>(n));
  const auto for_each_peer = [&](auto&& sends, auto&& receives) {
    for (int step = 1; step < n; ++step) {
      const auto target = static_cast<std::size_t>((rank_ + step) % n);
      const auto source = static_cast<std::size_t>((rank_ + n - step) % n);
      if (to[target]) sends(members_[target], *to[target]);
      if (from[source]) receives(source);
    }
    wire_->finish();
  };
  for_each_peer([&](int rank, const Part& part) { wire_->send(rank, &part.head, sizeof part.head); },
                [&](std::size_t r) { wire_->receive(members_[r], &heads[r], sizeof heads[r]); });
  for_each_peer([&](int rank, const Part& part) { wire_->send(rank, part.data, part.head.bytes); },
                [&](std::size_t r) {
                  wire_->receive(members_[r], room(*wire_, place, static_cast<int>(r), heads[r]), heads[r].bytes);
                });
  const auto self = static_cast<std::size_t>(rank_);
  if (to[self] && from[self]) {
    const Part& part = *to[self];
    void* const at = place(rank_, part.head);
    if (part.head.bytes > 0) std::memcpy(at, part.data, part.head.bytes);
  }
}

void Group::send(const std::string& doing, const Part& part, int to, int tag) {
  const std::lock_guard lock(wire_->mutex());
  wire_->begin(doing);
  const Frame frame{.kind = Frame::message, .group = id_, .tag = tag, .head = part.head};
  wire_->send(member(to), &frame, sizeof frame);
  wire_->send(member(to), part.data, part.head.bytes);
  wire_->finish();
}

Letter Group::receive(const std::string& doing, int from, int tag) {
  const std::lock_guard lock(wire_->mutex());
  wire_->begin(doing);
  return wire_->next_letter(member(from), id_, tag);
}

}  // namespace catenary::distributed
