#include "catenary/core/version.h"

#define CT_TEXT_(x) #x
#define CT_TEXT(x) CT_TEXT_(x)

namespace catenary {

const char* version() {
  return CT_TEXT(CATENARY_VERSION_MAJOR) "." CT_TEXT(CATENARY_VERSION_MINOR) "." CT_TEXT(CATENARY_VERSION_PATCH);
}

int version_number() { return CATENARY_VERSION; }

}  // namespace catenary
