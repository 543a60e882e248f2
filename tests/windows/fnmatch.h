#pragma once
// The function of POSIX that tests/main.cpp calls, for the build for Windows: * and ? alone.

inline int fnmatch(const char* pattern, const char* text, int) {
  if (*pattern == '\0') return *text != '\0';
  if (*pattern == '*') {
    for (;; ++text) {
      if (fnmatch(pattern + 1, text, 0) == 0) return 0;
      if (*text == '\0') return 1;
    }
  }
  return *text == '\0' || (*pattern != '?' && *pattern != *text) || fnmatch(pattern + 1, text + 1, 0) != 0;
}
