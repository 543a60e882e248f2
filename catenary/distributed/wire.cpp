#include "catenary/distributed/wire.h"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <exception>
#include <limits>
#include <optional>
#include <utility>

#include "catenary/core/environment.h"
#include "catenary/core/format.h"
#include "catenary/core/os/process.h"

namespace catenary::distributed {

namespace {

using Clock = std::chrono::steady_clock;

/// Long, because rank 0 may validate while the others wait. The exit of a rank is detected at once.
constexpr double kLimitMinutes = 30;

constexpr std::int64_t kNoLimit = std::numeric_limits<std::int64_t>::max();

std::int64_t nanoseconds_of(double minutes) {
  const double nanoseconds = minutes * 60e9;
  return nanoseconds < static_cast<double>(kNoLimit) ? static_cast<std::int64_t>(nanoseconds) : kNoLimit;
}

std::atomic<std::int64_t>& limit_in_nanoseconds() {
  static std::atomic<std::int64_t> limit = [] {
    const std::string text = environment::text("CATENARY_COLLECTIVE_TIMEOUT");
    return nanoseconds_of(text.empty() ? kLimitMinutes : std::strtod(text.c_str(), nullptr));
  }();
  return limit;
}

}  // namespace

Wire::Wire(std::shared_ptr<Transport> transport, bool letters)
    : transport_(std::move(transport)),
      has_letters_(letters),
      incoming_(static_cast<std::size_t>(transport_->size())),
      letters_(incoming_.size()),
      agreements_(incoming_.size()),
      posted_(incoming_.size()),
      received_(incoming_.size()),
      steps_(incoming_.size()) {}

const std::shared_ptr<Wire>& Wire::job() {
  static const auto wire = std::make_shared<Wire>(connect(), true);
  return wire;
}

const std::shared_ptr<Wire>& Wire::background() {
  static const std::shared_ptr<Wire> wire = [] {
    std::shared_ptr<Transport> transport = job()->transport().background();
    return transport ? std::make_shared<Wire>(std::move(transport), false) : nullptr;
  }();
  return wire;
}

std::chrono::nanoseconds Wire::limit() { return std::chrono::nanoseconds(limit_in_nanoseconds().load()); }

double Wire::limit_in_minutes() {
  const std::int64_t nanoseconds = limit_in_nanoseconds();
  return nanoseconds == kNoLimit ? std::numeric_limits<double>::infinity() : static_cast<double>(nanoseconds) / 60e9;
}

void Wire::set_limit(double minutes) { limit_in_nanoseconds() = nanoseconds_of(minutes); }

void Wire::begin(const std::string& doing) {
  doing_ = doing;
  transport_->note(doing);
}

void Wire::start_send(int to, const void* data, std::size_t bytes, Lane lane, std::vector<Started>& started) {
  const auto* at = static_cast<const std::byte*>(data);
  for (std::size_t n; bytes > 0; at += n, bytes -= n) {
    n = std::min(bytes, Transport::max_bytes);
    started.push_back({transport_->send(to, at, n, lane), to});
  }
}

void Wire::start_receive(int from, void* data, std::size_t bytes, Lane lane, std::vector<Started>& started) {
  auto* at = static_cast<std::byte*>(data);
  for (std::size_t n; bytes > 0; at += n, bytes -= n) {
    n = std::min(bytes, Transport::max_bytes);
    started.push_back({transport_->receive(from, at, n, lane), from});
  }
}

void Wire::send(int to, const void* data, std::size_t bytes) {
  start_send(to, data, bytes, Lane::collectives, started_);
}

void Wire::receive(int from, void* data, std::size_t bytes) {
  start_receive(from, data, bytes, Lane::collectives, started_);
}

void Wire::wait(const std::function<Progress()>& look, const std::function<std::vector<int>()>& peers) {
  try {
    std::optional<Clock::time_point> since;  // most waits end before the clock is needed
    for (;;) {
      Progress progress = look();
      bool letters = false;
      if (progress == Progress::none) {
        transport_->listen();
        letters = take_letters();
        progress = look();
      }
      if (progress == Progress::all) return;
      const Clock::time_point now = Clock::now();
      if (progress == Progress::some || !since) since = now;
      if (now - *since > limit()) out_of_time(peers());
      if (progress == Progress::none && !letters) transport_->pause(now - *since);
    }
  } catch (const std::exception& error) {  // pending transfers can be neither finished nor cancelled
    abort(error.what());
  }
}

Wire::Progress Wire::look_after(std::vector<Started>& started) {
  const auto done = std::erase_if(started, [&](const Started& s) { return transport_->done(s.transfer); });
  return started.empty() ? Progress::all : done > 0 ? Progress::some : Progress::none;
}

void Wire::wait_for(std::vector<Started>& started) {
  wait([&] { return look_after(started); },
       [&] {
         std::vector<int> silent;
         for (const Started& s : started) silent.push_back(s.peer);
         return silent;
       });
}

void Wire::finish() { wait_for(started_); }

void Wire::tell(const std::vector<int>& ranks) {
  for (const int rank : ranks) {
    ++steps_[static_cast<std::size_t>(rank)];
    transport_->shared_blocks()->tell(rank);
  }
}

void Wire::await_steps(const std::vector<int>& ranks, const std::vector<std::uint64_t>& since, std::uint64_t steps) {
  SharedBlocks& blocks = *transport_->shared_blocks();
  for (const int rank : ranks) {
    const std::uint64_t until = since[static_cast<std::size_t>(rank)] + steps;
    wait([&] { return blocks.has_told(rank, until) ? Progress::all : Progress::none; },
         [rank] { return std::vector<int>{rank}; });
  }
}

void Wire::send_agreement(int to, Frame& frame) {
  frame.letters = posted_[static_cast<std::size_t>(to)];
  send(to, &frame, sizeof frame);
}

Frame Wire::next_agreement(int from) {
  std::deque<Frame>& early = agreements_[static_cast<std::size_t>(from)];
  Frame frame;
  if (!early.empty()) {
    frame = early.front();
    early.pop_front();
  } else {
    receive(from, &frame, sizeof frame);
  }
  finish();
  return frame;
}

void Wire::post(int to, const Frame& frame, const void* data) {
  ++posted_[static_cast<std::size_t>(to)];
  std::vector<Started> started;
  start_send(to, &frame, sizeof frame, Lane::letters, started);
  start_send(to, data, frame.head.bytes, Lane::letters, started);
  wait_for(started);
}

bool Wire::take_letters() {
  if (!has_letters_) return false;
  bool moved = false;
  for (int from = 0; from < transport_->size(); ++from) {
    Incoming& incoming = incoming_[static_cast<std::size_t>(from)];
    if (incoming.stage != Incoming::nothing) moved = move_on(from, incoming) || moved;
  }
  for (int from; (from = transport_->letter_from()) >= 0;) {
    Incoming& incoming = incoming_[static_cast<std::size_t>(from)];
    if (incoming.stage != Incoming::nothing) break;  // its bytes may be done before its frame is found done
    incoming.letter = {};
    start_receive(from, &incoming.letter.frame, sizeof(Frame), Lane::letters, incoming.started);
    incoming.stage = Incoming::frame;
    moved = true;
    move_on(from, incoming);
  }
  return moved;
}

bool Wire::move_on(int from, Incoming& incoming) {
  bool moved = false;
  for (Progress progress; (progress = look_after(incoming.started)) != Progress::none; moved = true) {
    if (progress == Progress::some) continue;
    Letter& letter = incoming.letter;
    if (incoming.stage == Incoming::frame) {
      letter.bytes.reset(new std::byte[letter.frame.head.bytes]);
      start_receive(from, letter.bytes.get(), letter.frame.head.bytes, Lane::letters, incoming.started);
      incoming.stage = Incoming::bytes;
      continue;
    }
    letters_[static_cast<std::size_t>(from)].push_back(std::move(letter));
    ++received_[static_cast<std::size_t>(from)];
    incoming.stage = Incoming::nothing;
    return true;
  }
  return moved;
}

Letter Wire::next_letter(int from, std::uint32_t group, std::optional<std::int32_t> tag) {
  const auto at = static_cast<std::size_t>(from);
  std::deque<Letter>& come = letters_[at];
  std::deque<Letter>::iterator found;
  std::size_t missing = 0;  // transfers of the letter being received
  wait(
      [&] {
        found = std::find_if(come.begin(), come.end(), [&](const Letter& letter) {
          return letter.frame.group == group && (!tag || letter.frame.tag == *tag);
        });
        if (found != come.end()) return Progress::all;
        const std::size_t before = std::exchange(missing, incoming_[at].started.size());
        if (incoming_[at].stage != Incoming::nothing) return before != missing ? Progress::some : Progress::none;
        switch (transport_->coming(from, Lane::letters)) {
          case Coming::never:
            fail<Error>("rank {} has ended", from);
          case Coming::something:
            return Progress::none;  // received before the next check
          case Coming::nothing_yet:
            break;
        }
        std::deque<Frame>& early = agreements_[at];
        if (early.empty() && transport_->coming(from, Lane::collectives) == Coming::something) {
          Frame frame;
          receive(from, &frame, sizeof frame);
          finish();
          early.push_back(frame);
        }
        if (!early.empty() && early.front().letters == received_[at])
          fail<Error>("rank {} sends nothing, it is in {}", from, early.front().doing);
        return Progress::none;
      },
      [&] { return std::vector<int>{from}; });
  Letter letter = std::move(*found);
  come.erase(found);
  return letter;
}

std::string Wire::name_of(int rank) const { return fmt::format("rank {} of {}", rank, transport_->size()); }

void Wire::abort(const std::string& doing, const std::string& why) const noexcept {
  std::string text = why;
  try {
    text = fmt::format("{} on {}, {}: {}", name_of(transport_->rank()), os::host_name(), doing, why);
  } catch (...) {
    // no memory to extend the message
  }
  transport_->abort(text);
  std::terminate();  // unreachable, which the compiler cannot know for a virtual function
}

void Wire::out_of_time(std::vector<int> silent) const {
  std::string who;
  // prefer ranks that are known to be in another operation over ranks that have not answered
  for (int rank = 0; rank < transport_->size(); ++rank) {
    const std::string elsewhere = transport_->noted(rank);
    if (rank != transport_->rank() && !elsewhere.empty() && elsewhere != doing_)
      who += fmt::format("{}rank {} (in or after: {})", who.empty() ? "" : ", ", rank, elsewhere);
  }
  if (who.empty()) {
    std::sort(silent.begin(), silent.end());
    silent.erase(std::unique(silent.begin(), silent.end()), silent.end());
    who = fmt::format("rank {}", fmt::join(silent, ", "));
  }
  abort(
      fmt::format("waited {:.3g} minutes for {}; CATENARY_COLLECTIVE_TIMEOUT sets the limit", limit_in_minutes(), who));
}

}  // namespace catenary::distributed
