#pragma once
// Checks and messages for programs that parse their options with CLI11. This header does not include CLI11.

#include <cstdint>
#include <exception>
#include <functional>
#include <string>
#include <type_traits>
#include <vector>

#include "catenary/core/export.h"

namespace catenary::command_line {

/// A check of an option's value, for CLI11's `Option::check`.
struct CT_API Check {
  std::function<std::string(const std::string&)> error;  ///< returns the error of a value, or an empty text
  std::string expects;                                   ///< for --help

  /// Converts to CLI::Validator.
  template <class Validator>
  requires std::is_constructible_v<Validator, std::function<std::string(std::string&)>, std::string>
  operator Validator() const {  // NOLINT(google-explicit-constructor)
    return Validator([check = error](std::string& value) { return check(value); }, expects);
  }
};

/// Accepts whole numbers from `low` to `high`.
CT_API Check whole_number(std::int64_t low, std::uint64_t high);
/// Accepts zero and whole numbers from `low` to `high`.
CT_API Check zero_or_whole_number(std::int64_t low, std::uint64_t high);
/// Accepts finite numbers from `low` to `high`; infinities as bounds stand for none.
CT_API Check number(double low, double high);
/// Accepts finite numbers above 0.
CT_API Check positive_number();
/// Accepts one of the words.
CT_API Check one_of(std::vector<std::string> words);

/// Returns the entry of `names` that is most similar to `word`, or "" if none is.
CT_API std::string nearest(const std::string& word, const std::vector<std::string>& names);

/// An error in a command line, as CLI11 found it.
struct CT_API Mistake {
  std::string program;               ///< with its subcommand
  std::string kind, message;         ///< the name of CLI11's exception, and its text
  std::vector<std::string> rest;     ///< words that no option took
  std::vector<std::string> options;  ///< names of all options, with their dashes
};
/// Returns a line that names the error and the likely intention.
CT_API std::string message(const Mistake& mistake);
/// Returns the last part of a path, as the system divides paths.
CT_API std::string file_name(const std::string& path);
/// Writes a line to standard error.
CT_API void complain(const std::string& line);
/// Writes to standard error why a program ends, and returns its exit status 1. For std::bad_alloc, which says nothing,
/// it writes how much memory the process holds, how much the machine has, and how to need less.
CT_API int failure(const std::string& program, const std::exception& error);

/// Prints the requested help, or the error in the command line. Returns the exit status: 0 after help, else 2. `App`
/// and `Error` are CLI::App and CLI::ParseError.
template <class App, class Error>
int exit(const App& app, const Error& error) {
  if (error.get_exit_code() == 0) return app.exit(error);
  Mistake mistake{.program = file_name(app.get_name()),
                  .kind = error.get_name(),
                  .message = error.what(),
                  .rest = {},
                  .options = {}};
  const App* command = &app;
  for (auto below = command->get_subcommands(); !below.empty(); below = command->get_subcommands()) {
    command = below.front();
    mistake.program += " " + command->get_name();
  }
  mistake.rest = app.remaining(true);
  // after its first word comes another program's command line
  if (command->get_prefix_command() && mistake.rest.size() > 1) mistake.rest.resize(1);
  for (const auto* option : command->get_options()) {
    for (const std::string& name : option->get_snames()) mistake.options.push_back("-" + name);
    for (const std::string& name : option->get_lnames()) mistake.options.push_back("--" + name);
  }
  complain(message(mistake));
  return 2;
}

}  // namespace catenary::command_line
