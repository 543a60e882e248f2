#include "catenary/autograd/defined.h"

#include "catenary/core/format.h"

namespace catenary::detail {

void throw_undefined(const char* function, const std::string& name) {
  fail<ValueError>("{}: {} is an undefined Variable; assign a value first, or check defined()", function, name);
}

}  // namespace catenary::detail
