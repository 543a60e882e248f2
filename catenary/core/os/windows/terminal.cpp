#include "catenary/core/os/terminal.h"

#include <cstdlib>
#include <iostream>

#include "catenary/core/os/windows/detail.h"

namespace catenary::os {

namespace {

HANDLE stream_of(int descriptor) {
  return ::GetStdHandle(descriptor == kStandardOutput  ? STD_OUTPUT_HANDLE
                        : descriptor == kStandardError ? STD_ERROR_HANDLE
                                                       : STD_INPUT_HANDLE);
}

/// Makes the console take UTF-8, before anything is written.
[[maybe_unused]] const bool prepared = [] {
  DWORD mode = 0;
  if (::GetConsoleMode(stream_of(kStandardOutput), &mode) || ::GetConsoleMode(stream_of(kStandardError), &mode))
    ::SetConsoleOutputCP(CP_UTF8);
  return true;
}();

}  // namespace

bool is_terminal(int descriptor) {
  DWORD mode = 0;
  const HANDLE stream = stream_of(descriptor);
  if (!::GetConsoleMode(stream, &mode)) return false;
  // for the control sequences that callers write
  if (descriptor > 0) ::SetConsoleMode(stream, mode | ENABLE_PROCESSED_OUTPUT | ENABLE_VIRTUAL_TERMINAL_PROCESSING);
  return true;
}

bool read_line(std::string& line) {
  const HANDLE stream = ::GetStdHandle(STD_INPUT_HANDLE);
  DWORD mode = 0;
  if (!::GetConsoleMode(stream, &mode)) {
    if (!std::getline(std::cin, line)) return false;
    if (line.ends_with('\r')) line.pop_back();
    return true;
  }
  // as bytes, the letters would be those of the console's own code page
  std::wstring text;
  for (DWORD n = 1; n > 0 && !text.ends_with(L'\n');) {
    wchar_t piece[1024];
    if (!::ReadConsoleW(stream, piece, 1024, &n, nullptr)) break;
    text.append(piece, n);
  }
  constexpr wchar_t kControlZ = 26;
  if (text.empty() || text[0] == kControlZ) return false;
  text.erase(text.find_last_not_of(L"\r\n") + 1);
  line = narrow(text);
  return true;
}

int terminal_width(int descriptor) {
  CONSOLE_SCREEN_BUFFER_INFO info{};
  if (::GetConsoleScreenBufferInfo(stream_of(descriptor), &info)) return info.srWindow.Right - info.srWindow.Left + 1;
  const char* columns = std::getenv("COLUMNS");
  const int width = columns ? std::atoi(columns) : 0;
  return width > 0 ? width : 80;
}

}  // namespace catenary::os
