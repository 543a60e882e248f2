#include "catenary/distributed/device_exchange.h"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <exception>
#include <future>
#include <mutex>
#include <optional>
#include <thread>
#include <tuple>
#include <utility>

#include "catenary/array/body.h"
#include "catenary/array/elementwise_core.h"
#include "catenary/core/format.h"
#include "catenary/core/once.h"
#include "catenary/device/backend.h"
#include "catenary/distributed/collectives.h"
#include "catenary/distributed/gradients.h"
#include "catenary/distributed/objects.h"

namespace catenary::distributed {

namespace {

using Clock = std::chrono::steady_clock;

/// Limit of waits for ranks that may never come, and for NCCL's abort, which is known to hang.
constexpr std::chrono::seconds kPatience(2);
constexpr std::chrono::microseconds kLongestPause(1000);

/// Returns whether the abort has finished in time.
bool abort_for_a_while(const std::shared_ptr<DeviceGroup>& group) {
  auto done = std::make_shared<std::promise<void>>();
  const std::future<void> seen = done->get_future();
  std::thread([group, done] {
    group->abort();
    done->set_value();
  }).detach();
  return seen.wait_for(kPatience) == std::future_status::ready;
}

/// Returns whether all ranks have left the group together. If not, the group is unusable.
bool finish_for_a_while(DeviceGroup& group) {
  try {
    group.finish();
    const Clock::time_point since = Clock::now();
    while (!group.ready()) {
      if (Clock::now() - since > kPatience) return false;
      std::this_thread::sleep_for(kLongestPause);
    }
    return true;
  } catch (const Error&) {
    return false;
  }
}

std::string minutes_text(std::chrono::nanoseconds limit) {
  return fmt::format("it took longer than {:.3g} minutes; CATENARY_COLLECTIVE_TIMEOUT sets the limit",
                     std::chrono::duration<double, std::ratio<60>>(limit).count());
}

}  // namespace

/// One rank's membership in the group of all cards.
struct DeviceExchange::Member {
  int number;  ///< equal on all ranks
  std::string library;
  std::shared_ptr<DeviceGroup> group;
  Stream stream;
};

/// A thread that polls pending tasks, so that other threads need not wait for them.
class DeviceExchange::Watch {
 public:
  struct Task {
    std::string doing;
    std::function<bool()> done;
    std::shared_ptr<DeviceGroup> group;  ///< null for a task without a group
    std::chrono::nanoseconds limit;
    Clock::time_point since = Clock::now();
  };

  Watch() : thread_([this] { run(); }) {}
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;
  ~Watch() {
    {
      const std::lock_guard lock(mutex_);
      ended_ = true;
    }
    changed_.notify_all();
    thread_.join();
  }

  void add(const Wire& wire, Task task) {
    const std::lock_guard lock(mutex_);
    wire_ = &wire;
    tasks_.push_back(std::move(task));
    if (tasks_.size() == 1) changed_.notify_all();
  }
  /// Returns when all added tasks are done.
  void wait() {
    std::unique_lock lock(mutex_);
    hurried_ = true;
    changed_.notify_all();
    changed_.wait(lock, [&] { return tasks_.empty(); });
    hurried_ = false;
  }

 private:
  void run() {
    std::unique_lock lock(mutex_);
    while (!ended_) {
      if (tasks_.empty()) {
        changed_.wait(lock, [&] { return ended_ || !tasks_.empty(); });
      } else {
        changed_.wait_for(lock, std::chrono::milliseconds(hurried_ ? 1 : 100));
      }
      look();
      if (tasks_.empty()) changed_.notify_all();
    }
  }
  void look() {
    while (!tasks_.empty()) {
      Task& first = tasks_.front();
      std::string why;
      try {
        if (first.done()) {
          tasks_.pop_front();
          continue;
        }
        if (first.group) first.group->ready();
      } catch (const std::exception& error) {
        why = error.what();
      }
      if (why.empty() && Clock::now() - first.since > first.limit) why = minutes_text(first.limit);
      if (why.empty()) return;
      // Do not abort the group itself: its stream would continue, and its readers would use values that are not means.
      wire_->abort(first.doing, why);
    }
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Task> tasks_;
  const Wire* wire_ = nullptr;
  bool ended_ = false, hurried_ = false;
  std::thread thread_;
};

DeviceExchange::DeviceExchange() = default;

DeviceExchange::~DeviceExchange() {
  // do not wait for tasks left behind by an exception
  const bool in_order = std::uncaught_exceptions() == 0;
  if (watch_ && in_order) watch_->wait();
  watch_.reset();
  for (auto& [device, member] : members_) {
    if (!member || (in_order && finish_for_a_while(*member->group))) continue;
    if (!abort_for_a_while(member->group))
      static_cast<void>(member.release());  // leaked, because its destructor would wait for the stream
  }
}

bool DeviceExchange::takes(const Device& device, int rank) {
  if (device.backend().collectives()) return true;
  static Once said;
  if (rank == 0)
    said([&] {
      fmt::print(stderr,
                 "pure_nccl: arrays on {} are exchanged through the host, as in 'flat': NCCL and RCCL serve "
                 "cuda:N and hip:N\n",
                 device.name());
    });
  return false;
}

std::unique_ptr<DeviceExchange::Member> DeviceExchange::join(Group& group, const Device& device) {
  DeviceCollectives& collectives = *device.backend().collectives();
  std::string why;
  const std::string library = collectives.library(why);
  // each rank's backend, bus address, library, and the reason if it has no library
  using About = std::tuple<std::string, std::string, std::string, std::string>;
  const std::vector<About> all =
      allgather(group, About{device.backend().name(), device.info().pci, library.substr(0, library.find(' ')), why});
  const auto name_of = [&](std::size_t r) {
    const std::string& host = group.hosts()[r];
    return fmt::format("rank {} on {}", r, host.substr(0, host.find(' ')));
  };
  for (std::size_t r = 0; r < all.size(); ++r) {
    const auto& [backend, card, version, trouble] = all[r];
    if (!trouble.empty())
      fail<DeviceError>(
          "pure_nccl: {} has no {} that can be used: {}. Install it, or choose 'flat', which goes through the host",
          name_of(r), collectives.name(), trouble);
    if (backend != std::get<0>(all[0]) || version != std::get<2>(all[0]))
      fail<DeviceError>(
          "pure_nccl: {} uses {} by version {} of its library, {} uses {} by version {}; the same is expected of all",
          name_of(0), std::get<0>(all[0]), std::get<2>(all[0]), name_of(r), backend, version);
    for (std::size_t before = 0; before < r; ++before) {
      if (card.empty() || card != std::get<1>(all[before]) || group.hosts()[r] != group.hosts()[before]) continue;
      fail<DeviceError>(
          "pure_nccl: rank {} and {} both use the card {}; {} needs a card for each rank: start no more ranks on a "
          "host than it has cards, take the device of communicator.gpu(), or choose 'flat'",
          before, name_of(r), card, collectives.name());
    }
  }

  std::pair<std::string, CollectivesId> made;
  if (group.rank() == 0) {
    try {
      made.second = collectives.make_id(device.index());
    } catch (const Error& error) {
      made.first = error.what();
    }
  }
  made = distributed::bcast(group, made);
  if (!made.first.empty()) fail<DeviceError>("pure_nccl: {}: {}", name_of(0), made.first);

  const std::string doing = fmt::format("joining {} cards by {} {}", group.size(), collectives.name(), library);
  try {
    auto member = std::make_unique<Member>(
        Member{++joined_, fmt::format("{} {}", collectives.name(), std::get<2>(all[0])),
               collectives.join(device.index(), made.second, group.rank(), group.size()), Stream(device)});
    settle(group.wire(), *member, doing);
    return member;
  } catch (const Error& error) {  // other ranks may already be in the group and cannot be informed otherwise
    group.wire().abort(doing, error.what());
  }
}

void DeviceExchange::settle(const Wire& wire, const Member& member, const std::string& doing) {
  const Clock::time_point since = Clock::now();
  for (auto pause = std::chrono::microseconds(1); !member.group->ready(); pause = std::min(2 * pause, kLongestPause)) {
    if (Clock::now() - since > wire.limit()) wire.abort(doing, minutes_text(wire.limit()));
    std::this_thread::sleep_for(pause);
  }
}

DeviceExchange::Member& DeviceExchange::agree(Group& group, const std::string& doing, const Device& device) {
  std::unique_ptr<Member>& member = members_[device.name()];
  group.agree(doing + (member ? fmt::format(" by {} in group {}", member->library, member->number)
                              : fmt::format(" by {} in a new group", device.backend().collectives()->name())));
  if (!member) member = join(group, device);
  return *member;
}

Event DeviceExchange::submit(Group& group, Member& member, const std::string& doing,
                             const std::function<void()>& task) {
  member.stream.wait(current_stream(member.stream.device()).record());
  try {
    const Stream::Use use(member.stream);
    task();
    settle(group.wire(), member, doing);  // only then has the library submitted its work to the stream
  } catch (const Error& error) {
    group.wire().abort(doing, error.what());
  }
  Event done = member.stream.record();
  if (!watch_) watch_ = std::make_unique<Watch>();
  watch_->add(group.wire(), {doing, [done] { return done.done(); }, member.group, group.wire().limit()});
  return done;
}

namespace {

/// Exchanges between cards: sums on a separate stream, divided when the result is requested.
class CardExchange final : public BucketExchange {
 public:
  CardExchange(std::shared_ptr<Bucket> bucket, Array sums, std::optional<Event> done, int ranks)
      : bucket_(std::move(bucket)), sums_(std::move(sums)), done_(std::move(done)), ranks_(ranks) {}
  void wait() const override {
    if (done_) done_->synchronize();
  }
  void check() const override {}  // the ranks agreed before the exchange began
  void finish() override {
    if (done_) current_stream(sums_.device()).wait(*done_);
    const NamedParameters& parameters = bucket_->parameters();
    give_grads(parameters, sums_.astype(parameters.front().second.dtype()) / static_cast<float>(ranks_));
  }

 private:
  std::shared_ptr<Bucket> bucket_;
  Array sums_;
  std::optional<Event> done_;  // empty if there are no elements
  int ranks_;
};

}  // namespace

std::unique_ptr<BucketExchange> DeviceExchange::begin_mean(Group& group, const std::shared_ptr<Bucket>& bucket,
                                                           const std::vector<Array>& gradients) {
  const Dtype dtype = bucket->dtype();
  std::int64_t total = 0;
  for (const Array& gradient : gradients) total += gradient.size();
  const std::string what = fmt::format("{}, {} elements as {}", bucket->doing(), total, dtype);
  Member& member = agree(group, what, gradients.front().device());
  const Array sums = packed(gradients, dtype);
  std::optional<Event> done;
  if (total > 0) {
    const View view = writable(sums);
    done = submit(group, member, what, [&] { member.group->allreduce(view); });
  }
  return std::make_unique<CardExchange>(bucket, sums, std::move(done), group.size());
}

void DeviceExchange::bcast(Group& group, const std::string& doing, const Array& array) {
  Member& member = agree(group, doing, array.device());
  if (array.size() == 0) return;
  const Array values = array.contiguous();
  const View view = writable(values);
  const Event done = submit(group, member, doing, [&] { member.group->bcast(view, 0); });
  current_stream(array.device()).wait(done);
  if (!array.is_contiguous()) copyto(array, values);
}

void DeviceExchange::leave(Group& group) {
  if (watch_) watch_->wait();
  for (const auto& [device, member] : members_) {
    if (!member) continue;
    const std::string doing = "leaving the group of cards by " + member->library;
    try {
      member->group->finish();
      settle(group.wire(), *member, doing);
    } catch (const Error& error) {
      group.wire().abort(doing, error.what());
    }
  }
  members_.clear();
}

}  // namespace catenary::distributed
