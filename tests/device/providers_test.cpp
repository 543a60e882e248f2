// Tests the lists of libraries that are tried before our own code, with fake libraries.

#include "catenary/device/providers.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "catenary/core/error.h"
#include "catenary/device/backend.h"
#include "catenary/device/device.h"
#include "catenary/device/libraries.h"
#include "catenary/device/primitives.h"

namespace catenary {
namespace {

struct Task {
  int size;
};
std::string describe(const Task& task) { return "a task of " + std::to_string(task.size); }

/// Accepts tasks up to a size, and fails for negative ones.
class Small final : public Provider<Task> {
 public:
  explicit Small(int most) : most_(most) {}
  std::string detail() const override { return "up to " + std::to_string(most_); }
  bool run(const Task& task, std::string& why) override {
    if (task.size < 0) why = "it is negative";
    return task.size >= 0 && task.size <= most_;
  }

 private:
  const int most_;
};

using Tasks = Providers<Task>;

Tasks::Open small(int most) {
  return [most](std::string&) { return std::make_unique<Small>(most); };
}

std::string told(const Tasks& tasks) {
  std::string text;
  for (const LibraryInfo& info : tasks.info())
    text += info.name + (info.usable ? " is used: " : " is not: ") + info.detail + ", " +
            std::to_string(info.computed) + "\n";
  return text;
}

TEST(Providers, AreTriedInOrderAndCounted) {
  Tasks tasks("blas", "here", {{"One", small(1)}, {"Ten", small(10)}}, "");
  tasks.choose("", "CHOICE=");
  EXPECT_EQ(*tasks.run({1}), "One");
  EXPECT_EQ(*tasks.run({2}), "Ten");
  EXPECT_EQ(tasks.run({11}), nullptr);
  tasks.count_own();
  EXPECT_EQ(told(tasks), "One is used: up to 1, 1\nTen is used: up to 10, 1\nown is used: Catenary's own kernels, 1\n");
  testing::internal::CaptureStderr();
  EXPECT_EQ(tasks.run({-1}), nullptr);
  EXPECT_EQ(tasks.run({-2}), nullptr);
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            "catenary: One on here up to 1; refused a task of -1: it is negative; the next provider takes it\n"
            "catenary: Ten on here up to 10; refused a task of -1: it is negative; the next provider takes it\n");
}

TEST(Providers, AreChosenByName) {
  const Tasks::Open none = [](std::string& why) -> std::unique_ptr<Small> {
    why = "it was not found";
    return nullptr;
  };
  Tasks tasks("blas", "here", {{"One", small(1)}, {"Ten", small(10)}, {"None", none}}, "ours are faster");
  tasks.choose("", "CHOICE=");
  EXPECT_EQ(tasks.run({1}), nullptr);
  EXPECT_EQ(tasks.info().at(1).detail, "ours are faster");
  tasks.choose("ten", "CHOICE=ten");
  EXPECT_EQ(*tasks.run({1}), "Ten");
  EXPECT_EQ(told(tasks),
            "Ten is used: up to 10, 1\nown is used: Catenary's own kernels, 0\nOne is not: CHOICE=ten, 0\n"
            "None is not: CHOICE=ten, 0\n");
  tasks.choose("own", "CHOICE=own");
  EXPECT_EQ(tasks.run({1}), nullptr);
  try {
    tasks.choose("none", "CHOICE=none");
    FAIL();
  } catch (const DeviceError& error) {
    EXPECT_STREQ(error.what(), "CHOICE=none: None cannot be used on here: it was not found");
  }
}

TEST(Providers, NoLockIsHeldWhileALibraryComputes) {
  struct Meeting final : Provider<Task> {
    std::atomic<int> there{0};
    std::string detail() const override { return ""; }
    bool run(const Task&, std::string&) override {
      ++there;
      const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
      while (there < 2 && std::chrono::steady_clock::now() < end) std::this_thread::yield();
      return there == 2;
    }
  };
  Tasks tasks("blas", "here", {{"Meeting", [](std::string&) { return std::make_unique<Meeting>(); }}}, "");
  tasks.choose("", "");
  const std::string* other = nullptr;
  std::thread thread([&] { other = tasks.run({1}); });
  const std::string* mine = tasks.run({1});
  thread.join();
  EXPECT_TRUE(mine && other);
}

TEST(Providers, APrimitiveIsASpecOfItsOwn) {
  struct Broken final : Provider<primitives::Scan> {
    std::string detail() const override { return "1.0"; }
    bool run(const primitives::Scan&, std::string& why) override {
      why = "it is broken";
      return false;
    }
  };
  Providers<primitives::Scan> scans("scan", "here", {{"One", [](std::string&) { return std::make_unique<Broken>(); }}},
                                    "");
  scans.choose("", "");
  const View x{nullptr, 0, Dtype::float32, {2, 3}, {3, 1}};
  testing::internal::CaptureStderr();
  EXPECT_EQ(scans.run({ScanOp::sum, x, 0, x}), nullptr);
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            "catenary: One on here 1.0; refused scan_sum of (2, 3): it is broken; the next provider takes it\n");
  EXPECT_EQ(scans.info().at(0).kind, "scan");
}

TEST(Libraries, OfEachKindAreListed) {
  const Device device = current_device();
  std::map<std::string, std::vector<std::string>> names;
  for (const LibraryInfo& library : libraries(device)) {
    names[library.kind].push_back(library.name);
    EXPECT_FALSE(library.detail.empty()) << library.name;
  }
  const std::string backend = device.backend().name();
  const auto own = [&](const char* kind) { return std::count(names[kind].begin(), names[kind].end(), "own"); };
  EXPECT_EQ(names.contains("collectives"), backend == "cuda" || backend == "hip");
  EXPECT_EQ(own("blas"), 1);
  EXPECT_EQ(own("dnn"), device.is_cpu() ? 0 : 1);
  std::size_t one_by_one = 0;
  for (const auto& [kind, list] : names) {
    const std::vector<LibraryInfo> alone = libraries(device, kind);
    for (const LibraryInfo& library : alone) EXPECT_EQ(library.kind, kind);
    EXPECT_EQ(alone.size(), list.size());
    one_by_one += alone.size();
  }
  EXPECT_EQ(one_by_one, libraries(device).size());
  EXPECT_TRUE(libraries(device, "of no such kind").empty());
}

TEST(Providers, PlansAreMadeOnce) {
  PlanCache<int, int> plans;
  int made = 0;
  const auto of = [&](int key) {
    return plans.get(key, [&] {
      ++made;
      return std::make_shared<int>(key);
    });
  };
  const std::shared_ptr<int> first = of(0);
  EXPECT_EQ(of(0), first);
  EXPECT_EQ(made, 1);
  for (int key = 1; key < 5000; ++key) EXPECT_EQ(*of(key), key);
  EXPECT_EQ(*first, 0);
  EXPECT_EQ(made, 5000);
  EXPECT_NE(of(0), first);  // was evicted
}

}  // namespace
}  // namespace catenary
