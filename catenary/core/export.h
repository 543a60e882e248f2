#pragma once
// What is public carries CT_API; everything else stays hidden inside the library.
#define CT_API __attribute__((visibility("default")))
