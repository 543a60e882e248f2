#pragma once
// Which of a library's algorithms is the fastest for a computation: measured once where config.autotune says so, and
// kept in the folder of compiled kernels, by card, driver and the library's version.

#include <cstring>
#include <functional>
#include <optional>
#include <string>
#include <type_traits>

#include "catenary/backends/gpu/context.h"

namespace catenary::gpu {

/// The name under which a choice is kept. `library` is its name and version, `what` all else that the choice depends
/// on.
std::string choice_name(const Context& context, const std::string& library, const std::string& what);
/// What is kept under a name; nothing where that is not of this size, which is said.
std::optional<Binary> load_choice(const std::string& name, std::size_t bytes);
/// Says that a choice which was kept is of no use.
void say_no_use(const std::string& name);
void save_choice(const std::string& name, const void* choice, std::size_t bytes);

/// The choice of a computation: that which is kept, if use(choice) says true, or else what `measure` gives, which is
/// kept then. Nothing where that gives none.
template <class Choice, class Use, class Measure>
requires std::is_trivially_copyable_v<Choice> std::optional<Choice> tuned(const Context& context,
                                                                          const std::string& library,
                                                                          const std::string& what, const Use& use,
                                                                          const Measure& measure) {
  const std::string name = choice_name(context, library, what);
  if (const auto kept = load_choice(name, sizeof(Choice))) {
    Choice choice;
    std::memcpy(&choice, kept->data(), sizeof choice);
    if (use(choice)) return choice;
    say_no_use(name);
  }
  const std::optional<Choice> choice = measure();
  if (choice) save_choice(name, &*choice, sizeof *choice);
  return choice;
}

/// The number of the fastest of `count` ways, by the device's clock; nothing where none runs. submit(i) submits what is
/// to be timed to the calling thread's stream, and says false where it cannot.
std::optional<int> fastest(Context& context, int count, const std::function<bool(int)>& submit);

}  // namespace catenary::gpu
