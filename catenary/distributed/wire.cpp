#include "catenary/distributed/wire.h"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <exception>
#include <optional>
#include <utility>

#include "catenary/core/environment.h"
#include "catenary/core/format.h"
#include "catenary/core/os/process.h"

namespace catenary::distributed {

namespace {

using Clock = std::chrono::steady_clock;

/// Long, as it is no error that rank 0 validates while the others wait; a rank that dies is known of at once.
constexpr double kLimitMinutes = 30;

std::int64_t nanoseconds_of(double minutes) {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::duration<double, std::ratio<60>>(minutes))
      .count();
}

std::atomic<std::int64_t>& limit_in_nanoseconds() {
  static std::atomic<std::int64_t> limit = [] {
    const std::string text = environment::text("CATENARY_COLLECTIVE_TIMEOUT");
    return nanoseconds_of(text.empty() ? kLimitMinutes : std::strtod(text.c_str(), nullptr));
  }();
  return limit;
}

}  // namespace

Wire::Wire(std::shared_ptr<Transport> transport)
    : transport_(std::move(transport)),
      letters_(static_cast<std::size_t>(transport_->size())),
      steps_(letters_.size()) {}

const std::shared_ptr<Wire>& Wire::job() {
  static const auto wire = std::make_shared<Wire>(connect());
  return wire;
}

const std::shared_ptr<Wire>& Wire::background() {
  static const std::shared_ptr<Wire> wire = [] {
    std::shared_ptr<Transport> transport = job()->transport().background();
    return transport ? std::make_shared<Wire>(std::move(transport)) : nullptr;
  }();
  return wire;
}

std::chrono::nanoseconds Wire::limit() { return std::chrono::nanoseconds(limit_in_nanoseconds().load()); }

void Wire::set_limit(double minutes) { limit_in_nanoseconds() = nanoseconds_of(minutes); }

void Wire::begin(const std::string& doing) {
  doing_ = doing;
  transport_->note(doing);
}

void Wire::send(int to, const void* data, std::size_t bytes) {
  const auto* at = static_cast<const std::byte*>(data);
  for (std::size_t n; bytes > 0; at += n, bytes -= n) {
    n = std::min(bytes, Transport::max_bytes);
    started_.push_back({transport_->send(to, at, n), to});
  }
}

void Wire::receive(int from, void* data, std::size_t bytes) {
  auto* at = static_cast<std::byte*>(data);
  for (std::size_t n; bytes > 0; at += n, bytes -= n) {
    n = std::min(bytes, Transport::max_bytes);
    started_.push_back({transport_->receive(from, at, n), from});
  }
}

void Wire::wait(const std::function<Progress()>& look, const std::function<std::vector<int>()>& peers) {
  try {
    std::optional<Clock::time_point> since;  // most waits are over before a clock is asked
    for (Progress progress; (progress = look()) != Progress::all;) {
      const Clock::time_point now = Clock::now();
      if (progress == Progress::some || !since) since = now;
      if (now - *since > limit()) out_of_time(peers());
      if (progress == Progress::none) transport_->pause(now - *since);
    }
  } catch (const std::exception& error) {  // what is under way can be neither finished nor taken back
    abort(error.what());
  }
}

void Wire::finish() {
  wait(
      [this] {
        const auto done = std::erase_if(started_, [&](const Started& s) { return transport_->done(s.transfer); });
        return started_.empty() ? Progress::all : done > 0 ? Progress::some : Progress::none;
      },
      [this] {
        std::vector<int> silent;
        for (const Started& s : started_) silent.push_back(s.peer);
        return silent;
      });
}

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

Letter Wire::open(int from, const Frame& frame) {
  Letter letter{frame, std::shared_ptr<std::byte[]>(new std::byte[frame.head.bytes])};
  receive(from, letter.bytes.get(), frame.head.bytes);
  finish();
  return letter;
}

Frame Wire::next_agreement(int from) {
  for (;;) {
    Frame frame;
    receive(from, &frame, sizeof frame);
    finish();
    if (frame.kind == Frame::agreement) return frame;
    letters_[static_cast<std::size_t>(from)].push_back(open(from, frame));
  }
}

Letter Wire::next_letter(int from, std::uint32_t group, std::int32_t tag) {
  const auto fits = [&](const Letter& letter) { return letter.frame.group == group && letter.frame.tag == tag; };
  std::deque<Letter>& waiting = letters_[static_cast<std::size_t>(from)];
  if (const auto found = std::find_if(waiting.begin(), waiting.end(), fits); found != waiting.end()) {
    Letter letter = std::move(*found);
    waiting.erase(found);
    return letter;
  }
  for (;;) {
    Frame frame;
    receive(from, &frame, sizeof frame);
    finish();
    if (frame.kind != Frame::message)
      abort(fmt::format("rank {} sends nothing, it is in {}", from, static_cast<const char*>(frame.doing)));
    Letter letter = open(from, frame);
    if (fits(letter)) return letter;
    waiting.push_back(std::move(letter));
  }
}

std::string Wire::name_of(int rank) const { return fmt::format("rank {} of {}", rank, transport_->size()); }

void Wire::abort(const std::string& doing, const std::string& why) const noexcept {
  std::string text = why;
  try {
    text = fmt::format("{} on {}, {}: {}", name_of(transport_->rank()), os::host_name(), doing, why);
  } catch (...) {
    // no memory for more words
  }
  transport_->abort(text);
  std::terminate();  // never reached; the compiler does not know that of a virtual function
}

void Wire::out_of_time(std::vector<int> silent) const {
  std::string who;
  // those that are elsewhere, where that is known; else those that have not answered
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
  abort(fmt::format("waited {:.3g} minutes for {}; CATENARY_COLLECTIVE_TIMEOUT sets the limit",
                    std::chrono::duration<double, std::ratio<60>>(limit()).count(), who));
}

}  // namespace catenary::distributed
