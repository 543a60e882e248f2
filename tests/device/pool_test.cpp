// The memory pool, tested on a simulated source and on the device.

#include "catenary/device/pool.h"

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <random>
#include <string>
#include <tuple>
#include <vector>

#include "catenary/array/array.h"
#include "catenary/array/creation.h"
#include "catenary/array/elementwise.h"
#include "catenary/core/error.h"
#include "catenary/device/allocation_limit.h"
#include "catenary/device/device.h"

namespace catenary {
namespace {

/// Addresses without memory behind them.
struct Ledger {
  std::size_t capacity = std::size_t{1} << 40, held = 0;
  std::map<char*, std::size_t> allocations;
  std::map<char*, std::pair<std::size_t, int>> parts;  // bytes, count
  char* next = reinterpret_cast<char*>(std::uintptr_t{1} << 20);
  void* stream = nullptr;
  int synchronised = 0;
  std::vector<std::pair<void*, void*>> ordered;  // pairs of streams: work of the first precedes the second
};

class Counting final : public MemorySource {
 public:
  Counting(Ledger& ledger, bool parts) : ledger_(ledger), parts_(parts) {}
  std::string name() const override { return "test:0"; }
  std::size_t total_bytes() const override { return ledger_.capacity; }
  void* allocate(std::size_t bytes) override {
    if (ledger_.held + bytes > ledger_.capacity) return nullptr;
    ledger_.held += bytes;
    char* made = ledger_.next;
    ledger_.next += bytes + 4096;  // adjacent blocks of different allocations do not touch
    ledger_.allocations[made] = bytes;
    return made;
  }
  void free(void* allocation, std::size_t bytes) noexcept override {
    const auto found = ledger_.allocations.find(static_cast<char*>(allocation));
    if (found == ledger_.allocations.end() || found->second != bytes) {
      ADD_FAILURE() << "freed what was not allocated";
      return;
    }
    ledger_.held -= bytes;
    ledger_.allocations.erase(found);
  }
  bool has_parts() const override { return parts_; }
  void* part(void* allocation, std::size_t offset, std::size_t bytes) override {
    EXPECT_LE(offset + bytes, ledger_.allocations.at(static_cast<char*>(allocation)));
    char* part = static_cast<char*>(allocation) + offset;
    EXPECT_TRUE(ledger_.parts.emplace(part, std::pair(bytes, 1)).second) << "a part that is there already";
    return part;
  }
  void free_part(void* part) noexcept override { EXPECT_EQ(ledger_.parts.erase(static_cast<char*>(part)), 1u); }
  void* stream() const override { return ledger_.stream; }
  void order_after_current(void* stream) noexcept override { ledger_.ordered.emplace_back(ledger_.stream, stream); }
  void synchronize() override { ++ledger_.synchronised; }

 private:
  Ledger& ledger_;
  const bool parts_;
};

class Pool : public testing::Test {
 protected:
  Ledger ledger;
  MemoryPool pool{std::make_unique<Counting>(ledger, true), {}};
  int a = 0, b = 0;  // two streams
};

TEST_F(Pool, CountsAsCuPyDoes) {
  EXPECT_EQ(pool.allocate(0), nullptr);
  void* x = pool.allocate(1);
  void* y = pool.allocate(513);
  EXPECT_EQ(pool.used_bytes(), 512u + 1024u);
  EXPECT_EQ(pool.total_bytes(), 512u + 1024u);
  EXPECT_EQ(pool.free_bytes(), 0u);
  EXPECT_EQ(pool.n_free_blocks(), 0u);
  pool.free(x, 1);
  EXPECT_EQ(pool.used_bytes(), 1024u);
  EXPECT_EQ(pool.free_bytes(), 512u);
  EXPECT_EQ(pool.n_free_blocks(), 1u);
  EXPECT_EQ(pool.allocate(500), x);
  pool.free(x, 500);
  pool.free(y, 513);
  pool.free(nullptr, 0);
  EXPECT_EQ(pool.n_free_blocks(), 2u);
  EXPECT_EQ(pool.peak_bytes(), 512u + 1024u);
  pool.free_all_blocks();
  EXPECT_EQ(pool.total_bytes(), 0u);
  EXPECT_EQ(ledger.held, 0u);
}

TEST_F(Pool, TellsWhoWatches) {
  std::vector<MemoryEvent> events;
  EXPECT_EQ(watch_memory(&events), nullptr);
  void* block = pool.allocate(700);
  pool.free(block, 700);
  void* again = pool.allocate(900);  // reuses the block, without a new allocation
  EXPECT_EQ(watch_memory(nullptr), &events);
  pool.free(again, 900);  // not tracked
  std::vector<std::tuple<MemoryEvent::Kind, std::string, std::size_t, std::size_t, void*>> found;
  for (const MemoryEvent& e : events) found.emplace_back(e.kind, e.device, e.bytes, e.block_bytes, e.block);
  const decltype(found) expected{{MemoryEvent::allocated, "test:0", 0, 1024, nullptr},
                                 {MemoryEvent::taken, "test:0", 700, 1024, block},
                                 {MemoryEvent::freed, "test:0", 0, 1024, block},
                                 {MemoryEvent::taken, "test:0", 900, 1024, block}};
  EXPECT_EQ(found, expected);
}

TEST_F(Pool, SplitsAndMerges) {
  void* whole = pool.allocate(10 * 512);
  pool.free(whole, 10 * 512);
  void* x = pool.allocate(2 * 512);
  void* y = pool.allocate(3 * 512);
  void* z = pool.allocate(5 * 512);
  EXPECT_EQ(x, whole);
  EXPECT_EQ(static_cast<char*>(y) - static_cast<char*>(x), 2 * 512);
  EXPECT_EQ(static_cast<char*>(z) - static_cast<char*>(y), 3 * 512);
  EXPECT_EQ(ledger.allocations.size(), 1u);
  EXPECT_EQ(pool.n_free_blocks(), 0u);
  pool.free(x, 2 * 512);
  pool.free(z, 5 * 512);
  EXPECT_EQ(pool.n_free_blocks(), 2u);
  pool.free_all_blocks();  // y keeps the allocation
  EXPECT_EQ(pool.total_bytes(), 10u * 512);
  pool.free(y, 3 * 512);
  EXPECT_EQ(pool.n_free_blocks(), 1u);
  EXPECT_EQ(pool.allocate(10 * 512), whole);
  pool.free(whole, 10 * 512);
  pool.free_all_blocks();
  EXPECT_EQ(ledger.held, 0u);
  EXPECT_TRUE(ledger.parts.empty());
}

TEST_F(Pool, TakesTheSmallestThatFits) {
  void* large = pool.allocate(9 * 512);
  void* fitting = pool.allocate(4 * 512);
  void* small = pool.allocate(512);
  pool.free(large, 9 * 512);
  pool.free(fitting, 4 * 512);
  pool.free(small, 512);
  EXPECT_EQ(pool.allocate(3 * 512), fitting);
  pool.allocate(512);  // this block or the remainder, which have equal sizes
  EXPECT_EQ(pool.allocate(8 * 512), large);
}

TEST_F(Pool, WithoutPartsBlocksAreWhole) {
  MemoryPool whole(std::make_unique<Counting>(ledger, false), {.direct_below = 100});
  void* x = whole.allocate(8 * 512);
  whole.free(x, 8 * 512);
  EXPECT_EQ(whole.allocate(7 * 512), x);  // blocks up to a quarter larger are reused
  EXPECT_EQ(whole.used_bytes(), 8u * 512);
  whole.free(x, 7 * 512);
  void* y = whole.allocate(512);
  EXPECT_NE(y, x);
  whole.free(y, 512);
  void* direct = whole.allocate(100);
  EXPECT_EQ(whole.used_bytes(), 0u);
  whole.free(direct, 100);
}

TEST_F(Pool, EveryStreamHasItsOwn) {
  ledger.stream = &a;
  void* x = pool.allocate(512);
  pool.free(x, 512);
  ledger.stream = &b;
  void* y = pool.allocate(512);
  EXPECT_NE(x, y);
  EXPECT_TRUE(ledger.ordered.empty());
  ledger.stream = &a;
  pool.free(y, 512);  // orders a's work so far before b's next work
  ASSERT_EQ(ledger.ordered.size(), 1u);
  EXPECT_EQ(ledger.ordered[0], (std::pair<void*, void*>(&a, &b)));
  EXPECT_EQ(pool.allocate(512), x);
  ledger.stream = &b;
  EXPECT_EQ(pool.allocate(512), y);
  EXPECT_EQ(ledger.synchronised, 0);
}

TEST_F(Pool, AStreamThatEndsLeavesItsBlocks) {
  void* whole = pool.allocate(4 * 512);
  pool.free(whole, 4 * 512);
  ledger.stream = &a;
  void* held = pool.allocate(512);
  void* large = pool.allocate(6 * 512);
  pool.free(large, 6 * 512);
  void* parts[] = {pool.allocate(512), pool.allocate(512), pool.allocate(512)};
  for (void* part : parts) pool.free(part, 512);
  pool.end_stream(&a);
  ledger.stream = nullptr;
  EXPECT_EQ(pool.allocate(6 * 512), large);
  EXPECT_EQ(pool.allocate(4 * 512), whole);
  pool.free(held, 512);
  EXPECT_TRUE(ledger.ordered.empty());
  EXPECT_EQ(pool.allocate(512), held);
}

TEST_F(Pool, Ladder) {
  ledger.capacity = 8 * 512;
  void* x = pool.allocate(3 * 512);
  void* y = pool.allocate(3 * 512);
  // returns unused allocations
  pool.free(x, 3 * 512);
  void* z = pool.allocate(5 * 512);
  EXPECT_EQ(ledger.synchronised, 0);
  // blocks freed in another stream may be reused after a synchronization
  pool.free(z, 5 * 512);
  ledger.stream = &a;
  void* p = pool.allocate(512);  // new memory, after z's memory was returned
  ledger.stream = &b;
  void* q = pool.allocate(4 * 512);
  pool.free(q, 4 * 512);
  void* q1 = pool.allocate(512);  // a part, so that the remainder cannot be returned
  ledger.stream = &a;
  void* r = pool.allocate(3 * 512);
  EXPECT_EQ(ledger.synchronised, 1);
  EXPECT_EQ(static_cast<char*>(r) - static_cast<char*>(q1), 512);
  try {
    pool.allocate(2 * 512);
    FAIL();
  } catch (const OutOfMemoryError& error) {
    const std::string text = error.what();
    for (const char* part :
         {"out of memory on test:0: 1024 bytes (1.00 KiB) requested", "4.00 KiB in 4 blocks", "limit           none",
          "device      4.00 KiB", "3.00 KiB = 2 of 1.50 KiB", "1.00 KiB = 2 of 512 B"})
      EXPECT_NE(text.find(part), std::string::npos) << part << "\n" << text;
  }
  pool.free(y, 3 * 512);
  pool.free(p, 512);
  pool.free(r, 3 * 512);
  pool.free(q1, 512);
  void* all = pool.allocate(8 * 512);
  pool.free(all, 8 * 512);
}

TEST_F(Pool, Limits) {
  EXPECT_EQ(pool.get_limit(), 0u);
  pool.set_limit(4 * 512);
  void* x = pool.allocate(3 * 512);
  EXPECT_THROW(pool.allocate(2 * 512), OutOfMemoryError);
  EXPECT_THROW(pool.allocate(2 * 512), DeviceError);
  pool.free(x, 3 * 512);
  x = pool.allocate(4 * 512);
  pool.free(x, 4 * 512);
  ledger.capacity = 4096;
  pool.set_limit_fraction(0.5);
  EXPECT_EQ(pool.get_limit(), 2048u);
  EXPECT_THROW(pool.set_limit_fraction(1.5), ValueError);
  EXPECT_THROW(pool.set_limit_fraction(-0.1), ValueError);
  pool.set_limit_fraction(0);
  EXPECT_EQ(pool.get_limit(), 0u);
}

TEST_F(Pool, ScopesLimitTheirOwnAllocations) {
  void* before = pool.allocate(3 * 512);
  {
    const AllocationLimit outer(6 * 512, "the outer scope");
    void* x = pool.allocate(4 * 512);
    try {
      pool.allocate(3 * 512);
      FAIL();
    } catch (const OutOfMemoryError& error) {
      EXPECT_STREQ(error.what(),
                   "1536 bytes are needed, but the outer scope may use at most 3072 bytes, of which 2048 are in use");
    }
    pool.free(before, 3 * 512);  // counts against the scope's own blocks, but not below 0
    pool.free(x, 4 * 512);
    x = pool.allocate(5 * 512);
    {
      const AllocationLimit inner(512, "the inner scope");
      EXPECT_THROW(pool.allocate(2 * 512), OutOfMemoryError);
      void* y = pool.allocate(512);
      EXPECT_THROW(pool.allocate(512), OutOfMemoryError);
      pool.free(y, 512);
    }
    EXPECT_THROW(pool.allocate(2 * 512), OutOfMemoryError);
    pool.free(x, 5 * 512);
    EXPECT_THROW(pool.allocate(std::size_t{1} << 63), OutOfMemoryError);
  }
  void* all = pool.allocate(100 * 512);
  pool.free(all, 100 * 512);
}

TEST_F(Pool, RandomUse) {
  std::mt19937 random(1);
  struct Held {
    char* at;
    std::size_t bytes;
  };
  std::vector<Held> held;
  std::size_t used = 0;
  for (int step = 0; step < 20000; ++step) {
    ledger.stream = random() % 3 == 0 ? static_cast<void*>(&a) : nullptr;
    if (held.empty() || random() % 2) {
      const std::size_t bytes = 1 + random() % (random() % 4 ? 3000 : 100000);
      auto* at = static_cast<char*>(pool.allocate(bytes));
      for (const Held& other : held)
        ASSERT_TRUE(at + bytes <= other.at || other.at + other.bytes <= at) << "step " << step;
      held.push_back({at, bytes});
      used += (bytes + 511) / 512 * 512;
    } else {
      std::swap(held[random() % held.size()], held.back());
      pool.free(held.back().at, held.back().bytes);
      used -= (held.back().bytes + 511) / 512 * 512;
      held.pop_back();
    }
    if (held.size() > 60) {
      pool.free_all_blocks();
      for (int i = 0; i < 50; ++i) {
        pool.free(held.back().at, held.back().bytes);
        used -= (held.back().bytes + 511) / 512 * 512;
        held.pop_back();
      }
    }
    if (step == 10000) pool.end_stream(&a);
    ASSERT_EQ(pool.used_bytes(), used);
    ASSERT_EQ(pool.total_bytes(), ledger.held);
  }
  for (const Held& block : held) pool.free(block.at, block.bytes);
  pool.free_all_blocks();
  EXPECT_EQ(ledger.held, 0u);
  EXPECT_TRUE(ledger.parts.empty());
}

TEST(DevicePool, BlocksOfAnArrayAreReused) {
  const Device device = current_device();
  MemoryPool& pool = memory_pool(device);
  constexpr std::int64_t kElements = 1 << 20;
  { zeros({kElements}, Dtype::float32).eval(); }
  const std::size_t total = pool.total_bytes();
  for (int i = 0; i < 3; ++i) {
    const Array x = full({kElements}, 1.5, Dtype::float32).eval();
    EXPECT_EQ(x[kElements - 1].item<float>(), 1.5f);
  }
  EXPECT_EQ(pool.total_bytes(), total);
  pool.free_all_blocks();
  EXPECT_LT(pool.free_bytes(), total);
}

// Many arrays of odd sizes keep their contents while others are allocated and freed.
TEST(DevicePool, PartsOfAllocationsAreApart) {
  std::mt19937 random(2);
  std::vector<std::pair<Array, float>> held;
  memory_pool().free_all_blocks();
  { zeros({100000}, Dtype::float32).eval(); }
  for (int step = 0; step < 300; ++step) {
    if (held.size() < 20 || random() % 2) {
      const auto size = static_cast<std::int64_t>(1 + random() % 30000);
      const float value = static_cast<float>(step);
      held.emplace_back(full({size}, value, Dtype::float32).eval(), value);
    } else {
      std::swap(held[random() % held.size()], held.back());
      const auto [x, value] = held.back();
      const std::vector<float> values = (x + 1).to_vector<float>();
      ASSERT_EQ(values, std::vector<float>(values.size(), value + 1));
      held.pop_back();
    }
  }
}

}  // namespace
}  // namespace catenary
