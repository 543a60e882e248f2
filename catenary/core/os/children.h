#pragma once
// Programs that run beside this process and end with it. Their output is read line by line.

#include <string>
#include <utility>
#include <vector>

#include "catenary/core/export.h"
#include "catenary/core/os/handle.h"

namespace catenary::os {

/// Output of a child, or its end.
struct ChildEvent {
  enum class Kind { output, errors, ended };
  int child;  ///< the number that start() returned
  Kind kind;
  std::string text = {};  ///< whole lines; an unfinished last line gets a line feed
  int exit_code = -1;     ///< of a child that exited
  int signal = 0;         ///< the signal that ended it, or 0
};

/// Children of this process. Each leads a process group and dies with the thread that started it. Orphaned
/// grandchildren become children of this process. Use it only from the main thread of a single-threaded program.
class CT_API Children {
 public:
  Children();
  Children(const Children&) = delete;
  Children& operator=(const Children&) = delete;
  /// Kills all running children and their descendants, and waits a few seconds for them.
  ~Children();

  /// Starts a program (searched in PATH unless its name has a slash) with empty input, additional environment variables
  /// and additional handles. Returns its number, counted from 0. Throws FileError.
  int start(const std::vector<std::string>& command,
            const std::vector<std::pair<std::string, std::string>>& environment, const std::vector<Handle>& handles);
  /// Starts a process that kills all children started so far, with their descendants, if this process dies without
  /// running destructors, for instance by SIGKILL. `mark` is a text that only the children's environments contain. If
  /// no process can be made, nothing is guarded.
  void guard(const std::string& mark);
  /// Returns the events so far, after at most `seconds` or as soon as a signal came. The end of a child comes after all
  /// its output. A call reads at most some MiB of each child, so that endless output does not fill the memory.
  std::vector<ChildEvent> wait(double seconds);
  /// Sends a signal to a running child and its process group.
  void signal(int child, int number) const;
  int running() const;

 private:
  struct Child;
  void read(Child& child, int stream, std::vector<ChildEvent>& events);
  std::vector<Child> children_;
  int guard_ = -1;              // the process of guard()
  Handle life_ = Handle::none;  // the pipe whose end it waits for
};

/// A connection between processes. A process that holds one end notices when the last holder of the far end is gone.
class CT_API Lifeline {
 public:
  /// Throws FileError.
  Lifeline();
  Lifeline(const Lifeline&) = delete;
  Lifeline& operator=(const Lifeline&) = delete;
  ~Lifeline();
  /// Returns the end to pass on.
  Handle far_end() const { return ends_[1]; }
  void close_far_end();
  /// Ends the connection, as if this process were gone.
  void cut();

 private:
  Handle ends_[2] = {Handle::none, Handle::none};
};

/// Starts a thread that waits at the far end of a lifeline, which this process inherited, and calls f when it is cut.
/// Throws FileError for an invalid handle.
CT_API void when_cut(Handle far_end, void (*f)());

}  // namespace catenary::os
