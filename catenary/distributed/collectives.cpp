#include "catenary/distributed/collectives.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <numeric>
#include <utility>

#include "catenary/core/format.h"
#include "catenary/distributed/sums.h"

namespace catenary::distributed {

namespace {

/// Bytes per rank and pass of an allreduce by messages, and per piece of a broadcast. Small enough to stay in the
/// caches.
constexpr std::size_t kPiece = std::size_t{1} << 20;

/// Allocates memory for a message. On failure the other ranks cannot get an exception any more, so the job ends.
void* room(const Wire& wire, const Group::Place& place, int from, const Head& head) {
  try {
    return place(from, head);
  } catch (const std::exception& error) {
    wire.abort(error.what());
  }
}

/// Replaces the end of a text by a hash of the whole if it is longer than the compared part.
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

Group::Group(std::shared_ptr<Wire> wire, const Group& of)
    : wire_(std::move(wire)), members_(of.members_), hosts_(of.hosts_), id_(of.id_), rank_(of.rank_) {}

std::shared_ptr<Group> Group::background() {
  if (const std::shared_ptr<Wire>& wire = Wire::background(); wire && !background_)
    background_.reset(new Group(wire, *this));
  return background_;
}

std::shared_ptr<Group> Group::world() {
  static std::uint32_t worlds = 0;
  const std::shared_ptr<Wire>& wire = Wire::job();
  std::vector<int> all(static_cast<std::size_t>(wire->transport().size()));
  std::iota(all.begin(), all.end(), 0);
  return std::shared_ptr<Group>(new Group(wire, std::move(all), ++worlds));
}

std::shared_ptr<Group> Group::of(const std::vector<int>& ranks) {
  static std::map<std::vector<int>, int> made;  // number of groups with each list of ranks, equal on all of them
  const std::shared_ptr<Wire>& wire = Wire::job();
  const int self = wire->transport().rank(), size = wire->transport().size();
  for (const int rank : ranks) {
    if (rank < 0 || rank >= size)
      fail<ValueError>("create_communicator: rank {} does not exist; the job has {} ranks", rank, size);
    if (std::count(ranks.begin(), ranks.end(), rank) > 1)
      fail<ValueError>("create_communicator: rank {} is named twice in {}", rank, fmt::join(ranks, ", "));
  }
  if (std::find(ranks.begin(), ranks.end(), self) == ranks.end())
    fail<ValueError>("create_communicator: rank {} is none of {}", self, fmt::join(ranks, ", "));
  const std::string name = fmt::format("ranks {}, {}", fmt::join(ranks, " "), ++made[ranks]);
  return std::shared_ptr<Group>(new Group(wire, ranks, static_cast<std::uint32_t>(std::hash<std::string>()(name))));
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

/// In round k each rank learns the operations of 2^k ranks, so log n rounds reach all. Each rank compares received
/// operations with its operation and passes differences on.
int Group::agree_held(const std::string& doing, int vote) {
  ++number_;
  begin(doing);
  Frame mine{.group = id_, .number = number_, .vote = vote};
  put_text(mine.doing, sizeof mine.doing, fitted(doing, sizeof mine.doing));
  for (int distance = 1; distance < size(); distance *= 2) {
    const int to = (rank_ + distance) % size(), from = (rank_ + size() - distance) % size();
    Frame sent = mine;
    wire_->send_agreement(member(to), sent);
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
    put_text(mine.difference, sizeof mine.difference, difference);
  }
  if (mine.difference[0])
    fail<ValueError>("ranks do different things in their collective {}: {}", number_, std::string(mine.difference));
  return mine.vote;
}

/// The operands of an allreduce.
struct Group::Sum {
  const std::byte* data;
  std::byte* result;
  std::int64_t count;
  std::size_t item;
  Dtype dtype;
  int divisor;
  std::size_t bytes(std::int64_t elements) const { return static_cast<std::size_t>(elements) * item; }

  /// The data in pieces, each cut into slices.
  struct Slices {
    const Sum& sum;
    std::int64_t piece;  ///< elements of a piece
    int slices;

    /// Returns the number of elements of piece i before slice k.
    std::int64_t count(std::int64_t i, int k) const { return std::min(piece, sum.count - i * piece) * k / slices; }
    std::size_t at(std::int64_t i, int k) const { return sum.bytes(i * piece + count(i, k)); }
    std::size_t bytes(std::int64_t i, int k) const { return sum.bytes(count(i, k + 1) - count(i, k)); }
  };
};

void Group::allreduce(const std::string& doing, const void* data, void* result, std::int64_t count, Dtype dtype,
                      int divisor) {
  const std::lock_guard lock(wire_->mutex());
  agree_held(doing);
  const Sum sum{
      static_cast<const std::byte*>(data), static_cast<std::byte*>(result), count, itemsize(dtype), dtype, divisor};
  if (count == 0) return;
  if (size() == 1) {
    if (result != data) std::memcpy(result, data, sum.bytes(count));
  } else if (wire_->transport().shared_blocks()) {
    allreduce_in_blocks(sum);
  } else {
    allreduce_by_messages(sum);
  }
}

/// In each pass, each rank receives one slice of all ranks' data, sums it in the order of ranks, and sends it to all.
void Group::allreduce_by_messages(const Sum& sum) {
  const int n = size();
  const auto pass = static_cast<std::int64_t>(kPiece / sum.item) * n;
  const std::size_t slice_bytes = sum.bytes((std::min(pass, sum.count) + n - 1) / n);
  scratch_.resize(slice_bytes * static_cast<std::size_t>(n));
  std::vector<const void*> parts(static_cast<std::size_t>(n));
  for (std::int64_t begin = 0; begin < sum.count; begin += pass) {
    const std::int64_t length = std::min(pass, sum.count - begin);
    const auto first = [&](int r) { return begin + length * r / n; };
    const auto at = [&](int r) { return sum.bytes(first(r)); };
    const auto bytes = [&](int r) { return sum.bytes(first(r + 1) - first(r)); };
    for (int step = 1; step < n; ++step) {
      const int to = (rank_ + step) % n, from = (rank_ + n - step) % n;
      std::byte* const theirs = scratch_.data() + static_cast<std::size_t>(from) * slice_bytes;
      parts[static_cast<std::size_t>(from)] = theirs;
      wire_->send(member(to), sum.data + at(to), bytes(to));
      wire_->receive(member(from), theirs, bytes(rank_));
    }
    wire_->finish();
    parts[static_cast<std::size_t>(rank_)] = sum.data + at(rank_);
    sum_in_order(sum.dtype, parts, sum.result + at(rank_), first(rank_ + 1) - first(rank_), sum.divisor);
    for (int step = 1; step < n; ++step) {
      const int to = (rank_ + step) % n, from = (rank_ + n - step) % n;
      wire_->send(member(to), sum.result + at(rank_), bytes(rank_));
      wire_->receive(member(from), sum.result + at(from), bytes(from));
    }
    wire_->finish();
  }
}

/// Each rank copies its data into its block piece by piece, and the other ranks read them there. With two ranks or
/// little data, each rank sums the whole piece. With more ranks, each sums a slice, writes the sums into its block, and
/// reads the other slices. A rank copies the next piece before it waits for the last slices of the others, to keep
/// waits short.
///
/// Pieces rotate through four slots in a block, and so do their sums. Four are enough: a rank that writes piece i has
/// seen that the others wrote piece i - 2, and they had finished with piece i - 4 before that.
void Group::allreduce_in_blocks(const Sum& sum) {
  SharedBlocks& blocks = *wire_->transport().shared_blocks();
  constexpr std::size_t kPlaces = 4, kPlace = SharedBlocks::bytes / (2 * kPlaces);
  constexpr std::size_t kLittle = std::size_t{16} << 10;
  const int n = size();
  const bool each_all = n == 2 || sum.bytes(sum.count) <= kLittle;
  const Sum::Slices cut{sum, static_cast<std::int64_t>(kPlace / sum.item), each_all ? 1 : n};
  const int slices = cut.slices, mine = each_all ? 0 : rank_;
  const std::int64_t pieces = (sum.count + cut.piece - 1) / cut.piece, last = pieces - 1;
  const auto place = [&](int rank, std::int64_t i, int k, bool of_sums = false) {
    const std::size_t number = static_cast<std::size_t>(i) % kPlaces + (of_sums ? kPlaces : 0);
    return blocks.block(member(rank)) + number * kPlace + sum.bytes(cut.count(i, k));
  };
  std::vector<int> others, everybody;
  for (int step = 1; step < n; ++step) others.push_back(member((rank_ + step) % n));
  for (int r = 0; r < wire_->transport().size(); ++r)
    if (r != member(rank_)) everybody.push_back(r);
  wire_->await_steps(everybody, wire_->steps(), 0);  // ranks that are still reading results of the previous operation,
                                                     // in any group
  const std::vector<std::uint64_t> since = wire_->steps();
  std::uint64_t told = 0;
  const auto tell = [&] {
    wire_->tell(others);
    return ++told;
  };
  const auto await_others = [&](std::uint64_t steps) { wire_->await_steps(others, since, steps); };

  std::vector<const void*> parts(static_cast<std::size_t>(n));
  const auto lay_down = [&](std::int64_t i) {
    for (int k = 0; k < slices; ++k)
      if (each_all || k != rank_) std::memcpy(place(rank_, i, k), sum.data + cut.at(i, k), cut.bytes(i, k));
    return tell();
  };
  const auto sum_up = [&](std::int64_t i) {
    for (int r = 0; r < n; ++r)
      parts[static_cast<std::size_t>(r)] = r == rank_ ? sum.data + cut.at(i, mine) : place(r, i, mine);
    sum_in_order(sum.dtype, parts, sum.result + cut.at(i, mine), cut.count(i, mine + 1) - cut.count(i, mine),
                 sum.divisor);
    if (each_all) return told;
    std::memcpy(place(rank_, i, mine, true), sum.result + cut.at(i, mine), cut.bytes(i, mine));
    return tell();
  };
  const auto take = [&](std::int64_t i) {
    for (int k = 0; k < slices; ++k)
      if (!each_all && k != rank_) std::memcpy(sum.result + cut.at(i, k), place(k, i, k, true), cut.bytes(i, k));
  };

  std::uint64_t laid = lay_down(0), summed = 0;  // steps that the other ranks have announced at this point
  for (std::int64_t i = 0; i < pieces; ++i) {
    const std::uint64_t laid_next = i < last ? lay_down(i + 1) : 0;
    await_others(laid);
    const std::uint64_t summed_now = sum_up(i);
    if (i > 0) {
      await_others(summed);
      take(i - 1);
    }
    laid = laid_next;
    summed = summed_now;
  }
  await_others(summed);
  take(last);
  tell();
}

/// Broadcasts down a binomial tree in pieces: a rank forwards a piece while it receives the next.
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
  std::reverse(children.begin(), children.end());  // the child with the largest subtree first

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
  wire_->post(member(to), {.group = id_, .tag = tag, .head = part.head}, part.data);
}

Letter Group::receive(const std::string& doing, int from, std::optional<int> tag) {
  const std::lock_guard lock(wire_->mutex());
  wire_->begin(doing);
  return wire_->next_letter(member(from), id_, tag);
}

std::vector<bool> flags(const Group& group, int which) {
  std::vector<bool> result(static_cast<std::size_t>(group.size()), which < 0);
  if (which >= 0) result[static_cast<std::size_t>(which)] = true;
  return result;
}

std::vector<const Part*> copies(const Part& part, const std::vector<bool>& to) {
  std::vector<const Part*> result;
  for (const bool wanted : to) result.push_back(wanted ? &part : nullptr);
  return result;
}

std::vector<const Part*> addresses(const std::vector<Part>& parts) {
  std::vector<const Part*> result;
  for (const Part& part : parts) result.push_back(&part);
  return result;
}

std::vector<const Part*> nothing(const Group& group) {
  return std::vector<const Part*>(static_cast<std::size_t>(group.size()));
}

}  // namespace catenary::distributed
