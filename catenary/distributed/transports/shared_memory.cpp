// Transport for ranks started by `catenary launch` on one machine: ring buffers and blocks in shared memory.

#include <algorithm>
#include <cstring>
#include <deque>
#include <vector>

#include "catenary/core/environment.h"
#include "catenary/core/format.h"
#include "catenary/core/os/children.h"
#include "catenary/core/os/process.h"
#include "catenary/distributed/job.h"
#include "catenary/distributed/launch.h"
#include "catenary/distributed/transport.h"

namespace catenary::distributed::transports {

namespace {

using std::chrono::nanoseconds;
constexpr nanoseconds kSpin = std::chrono::microseconds(50), kSleep = std::chrono::milliseconds(100);

class SharedMemoryTransport final : public Transport, public SharedBlocks {
 public:
  SharedMemoryTransport(std::shared_ptr<const Job> job, int rank, int channel)
      : job_(std::move(job)),
        rank_(rank),
        channel_(channel),
        // with fewer cores than ranks, spinning would keep the core from the rank that it waits for
        spin_(job_->size() <= os::usable_processors() ? kSpin : nanoseconds(0)),
        peers_(static_cast<std::size_t>(job_->size())) {}

  std::string name() const override { return "shared memory"; }
  int rank() const override { return rank_; }
  int size() const override { return job_->size(); }
  std::string host() const override { return host_identity(); }

  Transfer send(int to, const void* data, std::size_t bytes, Lane lane) override {
    return start({to, lane, out}, {static_cast<std::byte*>(const_cast<void*>(data)), bytes});
  }
  Transfer receive(int from, void* data, std::size_t bytes, Lane lane) override {
    return start({from, lane, in}, {static_cast<std::byte*>(data), bytes});
  }

  bool done(Transfer transfer) override {
    const int n = job_->size(), peer = static_cast<int>(transfer % n);
    const Queue& queue = queue_of({peer, static_cast<Lane>(transfer / n / 2 % 2), static_cast<Way>(transfer / n % 2)});
    const auto is_done = [&] { return transfer / (4 * n) < queue.finished; };
    if (is_done()) return true;
    move_all();
    if (is_done()) return true;
    if (!has_ended(peer)) return false;
    move_all();  // data that it wrote before it exited
    if (!is_done()) fail<Error>("rank {} has ended", peer);
    return true;
  }

  SharedBlocks* shared_blocks() override { return this; }
  std::byte* block(int rank) const override { return job_->block(channel_, rank); }

  void tell(int rank) override {
    job_->ring(channel_, rank_, rank).steps.fetch_add(1, std::memory_order_seq_cst);
    job_->ring_bell(channel_, rank);
  }

  bool has_told(int rank, std::uint64_t steps) override {
    const std::atomic<std::uint64_t>& told = job_->ring(channel_, rank, rank_).steps;
    if (told.load(std::memory_order_acquire) >= steps) return true;
    if (!has_ended(rank)) return false;
    if (told.load(std::memory_order_acquire) < steps) fail<Error>("rank {} has ended", rank);
    return true;
  }

  Coming coming(int from, Lane lane) override {
    if (!queue_of({from, lane, in}).pieces.empty()) return Coming::nothing_yet;
    const Job::Ring& ring = ring_of({from, lane, in});
    const auto has = [&] { return ring.written.load(std::memory_order_acquire) != ring.taken.load(); };
    if (has()) return Coming::something;
    if (!has_ended(from)) return Coming::nothing_yet;
    return has() ? Coming::something : Coming::never;
  }
  int letter_from() override {
    for (int peer = 0; peer < job_->size(); ++peer)
      if (peer != rank_ && coming(peer, Lane::letters) == Coming::something) return peer;
    return -1;
  }

  void listen() override { heard_ = own_bell().rings.load(std::memory_order_seq_cst); }

  void pause(nanoseconds waited) override {
    end_if_told();
    if (waited < spin_) {
#if defined(__x86_64__)
      for (int i = 0; i < 16; ++i) __builtin_ia32_pause();
#endif
      return;
    }
    Job::Bell& bell = own_bell();
    bell.asleep.store(1, std::memory_order_seq_cst);
    if (bell.rings.load(std::memory_order_seq_cst) == heard_) os::wait_for_change(bell.rings, heard_, kSleep);
    bell.asleep.store(0, std::memory_order_relaxed);
  }

  std::shared_ptr<Transport> background() override {
    return std::make_shared<SharedMemoryTransport>(job_, rank_, channel_ + 1);
  }

  void note(const std::string& doing) override { job_->note(rank_, doing); }
  std::string noted(int rank) const override { return job_->noted(rank); }

  [[noreturn]] void abort(const std::string& why) noexcept override {
    job_->end(why);  // the launcher prints it
    os::end_process(1);
  }

 private:
  enum Way { out, in };
  struct Piece {
    std::byte* data;
    std::size_t left;
  };
  /// Transfers in one direction with one peer, in order.
  struct Queue {
    std::deque<Piece> pieces;
    std::int64_t finished = 0, started = 0;
  };
  struct Peer {
    Queue queues[2][2];  // by lane and direction
  };
  struct Stream {
    int peer;
    Lane lane;
    Way way;
  };

  Queue& queue_of(const Stream& s) {
    return peers_[static_cast<std::size_t>(s.peer)].queues[static_cast<int>(s.lane)][s.way];
  }
  Job::Ring& ring_of(const Stream& s) const {
    const int number = s.lane == Lane::letters ? Job::letters : channel_;
    return s.way == out ? job_->ring(number, rank_, s.peer) : job_->ring(number, s.peer, rank_);
  }

  Transfer start(const Stream& s, Piece piece) {
    Queue& queue = queue_of(s);
    queue.pieces.push_back(piece);
    const Transfer transfer = ((queue.started++ * 2 + static_cast<int>(s.lane)) * 2 + s.way) * job_->size() + s.peer;
    move(s);
    return transfer;
  }

  /// Exits if the job has ended. The launcher has the reason, so print nothing.
  void end_if_told() const {
    if (job_->ending()) os::end_process(1);
  }

  bool has_ended(int peer) const {
    end_if_told();
    return job_->rank(peer).ended.load(std::memory_order_acquire) != 0;
  }

  void move_all() {
    for (int peer = 0; peer < job_->size(); ++peer)
      for (const Lane lane : {Lane::collectives, Lane::letters})
        for (const Way way : {out, in}) move({peer, lane, way});
  }

  /// Moves as many bytes as the ring has room for, or contains.
  void move(const Stream& s) {
    Queue& queue = queue_of(s);
    if (queue.pieces.empty()) return;
    Job::Ring& ring = ring_of(s);
    const Way way = s.way;
    std::atomic<std::uint64_t>& mine = way == out ? ring.written : ring.taken;
    const std::atomic<std::uint64_t>& other = way == out ? ring.taken : ring.written;
    std::uint64_t position = mine.load(std::memory_order_relaxed);
    const std::uint64_t seen = other.load(std::memory_order_acquire);
    std::uint64_t room = way == out ? seen + Job::Ring::bytes - position : seen - position;
    const bool moves = room > 0;
    while (!queue.pieces.empty()) {
      Piece& piece = queue.pieces.front();
      while (piece.left > 0 && room > 0) {
        const std::size_t offset = position % Job::Ring::bytes;
        const std::size_t n = std::min({piece.left, static_cast<std::size_t>(room), Job::Ring::bytes - offset});
        std::byte* const at = ring.data.data() + offset;
        std::memcpy(way == out ? at : piece.data, way == out ? piece.data : at, n);
        piece.data += n;
        piece.left -= n;
        position += n;
        room -= n;
      }
      if (piece.left > 0) break;
      queue.pieces.pop_front();
      ++queue.finished;
    }
    if (!moves) return;
    mine.store(position, std::memory_order_seq_cst);
    job_->ring_bell(channel_, s.peer);
  }

  Job::Bell& own_bell() const { return job_->rank(rank_).bells[static_cast<std::size_t>(channel_)]; }

  std::shared_ptr<const Job> job_;
  int rank_, channel_;
  nanoseconds spin_;
  std::uint32_t heard_ = 0;
  std::vector<Peer> peers_;
};

}  // namespace

std::shared_ptr<Transport> shared_memory() {
  const std::string text = environment::text("CATENARY_LAUNCH");
  if (text.empty()) return nullptr;
  const LaunchedRank self = LaunchedRank::parse(text);
  try {
    auto job = std::make_shared<const Job>(Job::inherited(os::Handle{self.memory}));
    os::when_cut(os::Handle{self.lifeline}, [] { os::end_process(1); });
    return std::make_shared<SharedMemoryTransport>(std::move(job), self.rank, 0);
  } catch (const Error& error) {
    fail<Error>(
        "CATENARY_LAUNCH={} says that this process is rank {} of a job of catenary launch, but {} (a program in "
        "between "
        "has closed it? Without the variable the process runs alone)",
        text, self.rank, error.what());
  }
}

}  // namespace catenary::distributed::transports
