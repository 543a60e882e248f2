#pragma once
// Functions of POSIX that tests call, for the build for Windows, which includes this header before each of their
// sources.

#include <stdlib.h>
#include <string.h>

inline int setenv(const char* name, const char* value, int replace) {
  if (!replace && getenv(name)) return 0;
  if (strcmp(name, "TMPDIR") == 0) _putenv_s("TMP", value);  // where Windows looks for the folder for temporary files
  return _putenv_s(name, value);
}

inline int unsetenv(const char* name) { return _putenv_s(name, ""); }
