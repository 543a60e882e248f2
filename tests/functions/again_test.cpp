// Each function tells all that it is made of: what the tests of this room apply on the processor gives the same bits
// once more.

#include "tests/again.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "catenary/device/device.h"

namespace {

class EveryFunctionAgain final : public testing::EmptyTestEventListener {
 public:
  void OnTestStart(const testing::TestInfo& test) override {
    const std::string name = std::string(test.test_suite_name()) + "." + test.name();
    if (name.starts_with("Forget.")) return;  // a program's own function, of which it tells nothing
    if (name == "BatchRenormalization.IsBatchNormalizationWithinTheLimits") return;  // changes inputs in place
    if (catenary::current_device() == catenary::Device()) again_ = std::make_unique<tests::Again>();
  }
  void OnTestEnd(const testing::TestInfo& test) override {
    if (!again_) return;
    const std::string wrong = test.result()->Failed() ? "" : again_->check();
    again_.reset();
    if (!wrong.empty()) ADD_FAILURE() << wrong;
  }

 private:
  std::unique_ptr<tests::Again> again_;
};

const bool added = [] {
  testing::UnitTest::GetInstance()->listeners().Append(new EveryFunctionAgain);
  return true;
}();

}  // namespace
