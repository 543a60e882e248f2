#pragma once
// Hooks observe every function that the calling thread runs, or a single FunctionNode. (chainer.FunctionHook,
// chainer.function_hooks)
//
//   TimerHook hook;
//   {
//     HookScope scope(hook);
//     loss.backward();
//   }
//   hook.print_report();

#include <cstdint>
#include <iosfwd>
#include <string>
#include <vector>

#include "catenary/autograd/function_node.h"

namespace catenary {

/// Observes every call of a function and of its gradient. (chainer.FunctionHook)
class CT_API FunctionHook {
 public:
  virtual ~FunctionHook();
  /// Returns the hook's name. A thread cannot use two hooks with the same name at once.
  virtual std::string name() const = 0;
  /// Called when the hook is added to a function, or to the thread (null), and when it is removed.
  virtual void added(FunctionNode*) {}
  virtual void deleted(FunctionNode*) {}
  virtual void forward_preprocess(FunctionNode&, Inputs) {}
  virtual void forward_postprocess(FunctionNode&, Inputs) {}
  virtual void backward_preprocess(FunctionNode&, Inputs, Grads) {}
  virtual void backward_postprocess(FunctionNode&, Inputs, Grads) {}
};

/// Uses a hook for all functions of the calling thread until the end of the scope. Throws ValueError if a hook of that
/// name is in use.
class CT_API HookScope {
 public:
  explicit HookScope(FunctionHook& hook);
  ~HookScope();
  HookScope(const HookScope&) = delete;
  HookScope& operator=(const HookScope&) = delete;

 private:
  FunctionHook& hook_;
};

/// Returns the hooks of the calling thread, oldest first.
CT_API const std::vector<FunctionHook*>& get_function_hooks();

/// Measures the time of each function, forward and backward. Runs deferred work and synchronizes the device before and
/// after each function, so that a function is charged for its own work only. (chainer.function_hooks.TimerHook)
class CT_API TimerHook : public FunctionHook {
 public:
  struct Call {
    std::string function;
    double seconds;
  };
  struct Summary {
    std::string function;
    double elapsed_time;
    std::int64_t occurrence;
  };
  std::string name() const override { return "TimerHook"; }
  void forward_preprocess(FunctionNode&, Inputs x) override;
  void forward_postprocess(FunctionNode& f, Inputs x) override;
  void backward_preprocess(FunctionNode&, Inputs x, Grads gy) override;
  void backward_postprocess(FunctionNode& f, Inputs x, Grads gy) override;

  const std::vector<Call>& call_history() const { return history_; }
  /// Returns the seconds spent in all functions. Nested calls are counted once.
  double total_time() const { return total_; }
  /// Returns one entry per function, in order of first call.
  std::vector<Summary> summary() const;
  /// Prints Chainer's table. unit: "sec", "ms", "us", "ns", "auto" (by the largest time) or "auto_foreach". Throws
  /// ValueError for any other unit.
  void print_report(std::ostream& to, const std::string& unit = "auto") const;
  void print_report() const;

 private:
  void start();
  void stop(FunctionNode& f);
  std::vector<double> running_;  // start times of the calls in progress
  std::vector<Call> history_;
  double total_ = 0;
};

/// Prints each function's name and its input arrays. (chainer.function_hooks.PrintHook)
class CT_API PrintHook : public FunctionHook {
 public:
  PrintHook();
  explicit PrintHook(std::ostream& to, std::string separator = {}, std::string end = "\n")
      : to_(to), separator_(separator), end_(end) {}
  std::string name() const override { return "PrintHook"; }
  void forward_preprocess(FunctionNode& f, Inputs x) override;
  void backward_preprocess(FunctionNode& f, Inputs x, Grads gy) override;

 private:
  static std::string debug_text(const Array& a);
  std::ostream& to_;
  std::string separator_, end_;
};

/// Measures how much each function increases the used bytes of its device's memory pool, and the pool's total size.
/// (chainer.function_hooks.CupyMemoryProfileHook)
class CT_API MemoryHook : public FunctionHook {
 public:
  struct Call {
    std::string function;
    std::int64_t used_bytes, acquired_bytes;
    int depth;
  };
  struct Summary {
    std::string function;
    std::int64_t used_bytes, acquired_bytes, occurrence;
  };
  std::string name() const override { return "MemoryHook"; }
  void forward_preprocess(FunctionNode&, Inputs x) override;
  void forward_postprocess(FunctionNode& f, Inputs x) override;
  void backward_preprocess(FunctionNode&, Inputs x, Grads gy) override;
  void backward_postprocess(FunctionNode& f, Inputs x, Grads gy) override;

  const std::vector<Call>& call_history() const { return history_; }
  std::int64_t total_used_bytes() const { return total_used_; }
  std::int64_t total_acquired_bytes() const { return total_acquired_; }
  std::vector<Summary> summary() const;
  /// Prints Chainer's table. unit: "B", "KB", "MB", "GB", "TB", "auto" or "auto_foreach". Throws ValueError for any
  /// other unit.
  void print_report(std::ostream& to, const std::string& unit = "auto") const;
  void print_report() const;

 private:
  struct Bytes {
    std::int64_t used, acquired;
  };
  static Bytes bytes();
  void stop(FunctionNode& f);
  std::vector<Bytes> running_;
  std::vector<Call> history_;
  std::int64_t total_used_ = 0, total_acquired_ = 0;
};

}  // namespace catenary
