#include "catenary/autograd/without_values.h"

namespace catenary {

namespace {

thread_local bool without_values = false;

}  // namespace

WithoutValues::WithoutValues() : before_(without_values) { without_values = true; }
WithoutValues::~WithoutValues() { without_values = before_; }
bool WithoutValues::holds() { return without_values; }

const Shape& shape_of(const Parameter& parameter) { return parameter.node().shape(); }

}  // namespace catenary
