#pragma once
// Extensions that change hyperparameters, report values, and check them.

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "catenary/training/trainer.h"

namespace catenary::training::extensions {

/// Options of the shifts.
struct ShiftOptions {
  std::optional<double> init = {};    ///< initial value, by default the one that the optimizer had at first
  std::optional<double> target = {};  ///< where the shift stops (not for Linear-, Multistep- and WarmupShift)
  std::string optimizer = "main";     ///< name of the updater's optimizer
  std::int64_t warmup = 0;  ///< calls before the shift, in which the value grows linearly to its initial value
};

/// Changes a hyperparameter of an optimizer ("lr", Adam's "alpha") at each call. Derived classes define the value.
class CT_API Shift : public Extension {
 public:
  void initialize(Trainer& trainer) override;
  void operator()(Trainer& trainer) override;
  void serialize(Serializer& serializer) override;

 protected:
  /// Throws ValueError for a negative warmup.
  Shift(std::string attr, ShiftOptions options);
  /// Returns the value after t calls, counted from the end of the warm-up.
  virtual double value(double init, std::int64_t t) const = 0;
  /// Returns `value`, limited to the target.
  double limited(double value, bool growing) const;

 private:
  double warmed_up(double init, std::int64_t t) const;

  std::string attr_;
  ShiftOptions options_;
  std::int64_t t_ = 0;
  std::optional<double> last_value_;
  std::optional<double> init_;

 protected:
  const ShiftOptions& options() const { return options_; }
};

/// Sets init · rate^t.
class CT_API ExponentialShift : public Shift {
 public:
  ExponentialShift(std::string attr, double rate, ShiftOptions options = {});
  std::string default_name() const override { return "ExponentialShift"; }

 private:
  double value(double init, std::int64_t t) const override;
  double rate_;
};

/// Follows half a cosine from init to the target (by default 0) in max_count calls: target + (init - target) (1 + cos(π
/// t / max_count)) / 2. (Loshchilov and Hutter, arXiv:1608.03983; torch's CosineAnnealingLR)
class CT_API CosineShift : public Shift {
 public:
  /// Throws ValueError for max_count <= 0.
  CosineShift(std::string attr, std::int64_t max_count, ShiftOptions options = {});
  std::string default_name() const override { return "CosineShift"; }

 private:
  double value(double init, std::int64_t t) const override;
  std::int64_t max_count_;
};

/// Sets init · (1 + gamma t)^-power.
class CT_API InverseShift : public Shift {
 public:
  InverseShift(std::string attr, double gamma, double power, ShiftOptions options = {});
  std::string default_name() const override { return "InverseShift"; }

 private:
  double value(double init, std::int64_t t) const override;
  double gamma_, power_;
};

/// Moves linearly from the first to the second value while t goes from the first to the second time.
class CT_API LinearShift : public Shift {
 public:
  LinearShift(std::string attr, std::pair<double, double> values, std::pair<std::int64_t, std::int64_t> times,
              ShiftOptions options = {});
  std::string default_name() const override { return "LinearShift"; }

 private:
  double value(double init, std::int64_t t) const override;
  std::pair<double, double> values_;
  std::pair<std::int64_t, std::int64_t> times_;
};

/// Sets init · gamma^k after k of the steps.
class CT_API MultistepShift : public Shift {
 public:
  MultistepShift(std::string attr, double gamma, std::vector<std::int64_t> steps, ShiftOptions options = {});
  std::string default_name() const override { return "MultistepShift"; }

 private:
  double value(double init, std::int64_t t) const override;
  double gamma_;
  std::vector<std::int64_t> steps_;
};

/// Sets init · (1 - t / max_count)^rate.
class CT_API PolynomialShift : public Shift {
 public:
  PolynomialShift(std::string attr, double rate, std::int64_t max_count, ShiftOptions options = {});
  std::string default_name() const override { return "PolynomialShift"; }

 private:
  double value(double init, std::int64_t t) const override;
  double rate_;
  std::int64_t max_count_;
};

/// Sets init · gamma^⌊t / step⌋.
class CT_API StepShift : public Shift {
 public:
  StepShift(std::string attr, double gamma, std::int64_t step, ShiftOptions options = {});
  std::string default_name() const override { return "StepShift"; }

 private:
  double value(double init, std::int64_t t) const override;
  double gamma_;
  std::int64_t step_;
};

/// Moves linearly from warmup_start to init during the first warmup_iter calls.
class CT_API WarmupShift : public Shift {
 public:
  WarmupShift(std::string attr, double warmup_start, std::int64_t warmup_iter, ShiftOptions options = {});
  std::string default_name() const override { return "WarmupShift"; }

 private:
  double value(double init, std::int64_t t) const override;
  double warmup_start_;
  std::int64_t warmup_iter_;
};

/// Reports a value under a key in each epoch. (chainer's observe_value)
class CT_API observe_value : public Extension {
 public:
  observe_value(std::string key, std::function<double(Trainer&)> function)
      : key_(std::move(key)), function_(std::move(function)) {}
  std::string default_name() const override { return "observe_value"; }
  Trigger trigger() const override { return Trigger(1, "epoch"); }
  int priority() const override { return kPriorityWriter; }
  void operator()(Trainer& trainer) override;

 private:
  std::string key_;
  std::function<double(Trainer&)> function_;
};
/// Reports an optimizer's learning rate as "lr" (Adam's with its bias correction). (chainer's observe_lr)
CT_API observe_value observe_lr(const std::string& optimizer_name = "main", const std::string& observation_key = "lr");

/// Unchains the graphs of reported variables, so that graphs kept by config.keep_graph_on_report (for DumpGraph) do not
/// accumulate. (chainer's unchain_variables)
class CT_API unchain_variables : public Extension {
 public:
  std::string default_name() const override { return "unchain_variables"; }
  int priority() const override { return 0; }  // after extensions that read graphs
  void operator()(Trainer& trainer) override;
};

/// Ends training with ValueError that names the first parameter or persistent array that is not finite (like
/// check_finite() after training), or if all updates are being skipped (Optimizer::check_skipped_updates). (chainer's
/// FailOnNonNumber)
class CT_API FailOnNonNumber : public Extension {
 public:
  std::string default_name() const override { return "FailOnNonNumber"; }
  Trigger trigger() const override { return Trigger(1, "epoch"); }
  void operator()(Trainer& trainer) override;
};

/// Reports the quotient of two sums of reported values, for example an accuracy over batches of different sizes.
/// Iterations that do not report both values are ignored. (chainer's MicroAverage)
class CT_API MicroAverage : public Extension {
 public:
  MicroAverage(std::string numerator_key, std::string denominator_key, std::string result_key,
               Trigger trigger = Trigger(1, "epoch"));
  std::string default_name() const override { return "MicroAverage"; }
  int priority() const override { return kPriorityEditor; }
  void operator()(Trainer& trainer) override;
  void serialize(Serializer& serializer) override;

 private:
  std::string numerator_key_, denominator_key_, result_key_;
  Trigger trigger_;
  double numerator_ = 0, denominator_ = 0;
};

/// Options of ParameterStatistics.
struct ParameterStatisticsOptions {
  bool report_params = true;
  bool report_grads = true;
  std::string prefix = "";
};
/// Reports mean, std, min, max, zeros and percentiles of each parameter and gradient in each epoch, under names such as
/// "predictor/l1/W/data/mean" and ".../data/percentile/3". (chainer's ParameterStatistics)
class CT_API ParameterStatistics : public Extension {
 public:
  explicit ParameterStatistics(const Link& link, ParameterStatisticsOptions options = {});
  std::string default_name() const override { return "ParameterStatistics"; }
  Trigger trigger() const override { return Trigger(1, "epoch"); }
  int priority() const override { return kPriorityWriter; }
  void operator()(Trainer& trainer) override;

 private:
  std::vector<std::pair<std::string, Parameter>> parameters_;
  ParameterStatisticsOptions options_;
};

}  // namespace catenary::training::extensions
