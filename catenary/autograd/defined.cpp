#include "catenary/autograd/defined.h"

#include "catenary/core/format.h"

namespace catenary::detail {

void throw_undefined(const char* function, const std::string& name) {
  fail<ValueError>("{}: {} is an undefined Variable: nothing was assigned to it, or it stands for what is not there",
                   function, name);
}

}  // namespace catenary::detail
