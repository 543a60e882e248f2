#pragma once
// Programs that run beside this process and end with it, their output read line by line.

#include <string>
#include <utility>
#include <vector>

#include "catenary/core/export.h"

namespace catenary::os {

/// What a child has written, or how it ended.
struct ChildEvent {
  enum class Kind { output, errors, ended };
  int child;  ///< the number that start() gave
  Kind kind;
  std::string text = {};  ///< whole lines; one that was not finished gets its end with the stream's
  int exit_code = -1;     ///< of one that ended by itself
  int signal = 0;         ///< that ended it, or 0
};

/// Children of this process. Each is the first of a process group and dies with the thread that started it; what they
/// leave behind comes to us. Used by the main thread of a program that has no others.
class CT_API Children {
 public:
  Children();
  Children(const Children&) = delete;
  Children& operator=(const Children&) = delete;
  /// Kills all that still run, with what they started, and waits for them, for some seconds at most.
  ~Children();

  /// Starts a program (searched in PATH unless its name has a slash) with empty input, with these variables on top of
  /// ours and these descriptors beside its streams. Numbers are given from 0. Throws FileError.
  int start(const std::vector<std::string>& command,
            const std::vector<std::pair<std::string, std::string>>& environment, const std::vector<int>& descriptors);
  /// Has a process beside this one kill all children that were started so far, with what they started, when this one
  /// dies without its destructors: by SIGKILL, say. `mark` is a text in the children's environment that no other
  /// process has. Where no process can be made, nothing is guarded.
  void guard(const std::string& mark);
  /// What happened, at the latest after `seconds`, or as soon as a signal came. A child's end comes after all that it
  /// wrote. A call takes some MiB of each child at most, so that one that writes without end does not fill the memory.
  std::vector<ChildEvent> wait(double seconds);
  /// Sends a signal to a child that runs, and to what it started.
  void signal(int child, int number) const;
  int running() const;

 private:
  struct Child;
  void read(Child& child, int stream, std::vector<ChildEvent>& events);
  std::vector<Child> children_;
  int guard_ = -1, life_ = -1;  // the process of guard(), and the pipe whose end it waits for
};

/// Two ends of a line between processes: who holds one reads its end when the other's last holder is gone.
class CT_API Lifeline {
 public:
  /// Throws FileError.
  Lifeline();
  Lifeline(const Lifeline&) = delete;
  Lifeline& operator=(const Lifeline&) = delete;
  ~Lifeline();
  /// To be handed on.
  int far_end() const { return ends_[1]; }
  void close_far_end();
  /// Tells who holds the far end as if we were gone.
  void cut();

 private:
  int ends_[2] = {-1, -1};
};

/// From now on a thread waits at the far end of a lifeline that this process was started with, and calls f once it is
/// cut. Throws FileError where the descriptor is none.
CT_API void when_cut(int far_end, void (*f)());

}  // namespace catenary::os
