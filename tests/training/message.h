#pragma once
// What an error says.

#include <string>

#include "catenary/core/error.h"

namespace catenary {

/// The words of the ValueError that a call throws.
template <class Call>
std::string message_of(Call&& call) {
  try {
    call();
  } catch (const ValueError& error) {
    return error.what();
  }
  return "nothing was thrown";
}

}  // namespace catenary
