#pragma once
// Finds the fastest of a library's algorithms for a computation. If config.autotune allows, measures once and caches
// the choice in the folder of compiled kernels, by card, driver and the library's version.

#include <cstring>
#include <functional>
#include <optional>
#include <string>
#include <type_traits>

#include "catenary/backends/gpu/context.h"

namespace catenary::gpu {

/// Returns the name of a cached choice. `library` is its name and version, `what` everything else that the choice
/// depends on.
std::string choice_name(const Context& context, const std::string& library, const std::string& what);
/// Loads a cached choice. Returns nothing, and reports it, if its size is different.
std::optional<Binary> load_choice(const std::string& name, std::size_t bytes);
/// Reports that a cached choice is unusable.
void say_no_use(const std::string& name);
void save_choice(const std::string& name, const void* choice, std::size_t bytes);

/// Returns the cached choice of a computation if use(choice) accepts it, otherwise the result of `measure`, which is
/// then cached. Returns nothing if `measure` does.
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

/// Returns the number of the fastest of `count` variants by the device's clock, or nothing if none runs. submit(i)
/// submits variant i to the calling thread's stream, or returns false.
std::optional<int> fastest(Context& context, int count, const std::function<bool(int)>& submit);

}  // namespace catenary::gpu
