#pragma once
// Public names carry CT_API. All other names are hidden inside the library.
#define CT_API __attribute__((visibility("default")))
