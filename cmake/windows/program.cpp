// Part of every program for Windows: files and streams keep their line ends, as on other systems.

#include <fcntl.h>
#include <io.h>
#include <stdlib.h>

#include <initializer_list>

namespace {

[[maybe_unused]] const bool prepared = [] {
  _fmode = _O_BINARY;
  for (const int stream : {0, 1, 2}) _setmode(stream, _O_BINARY);
  return true;
}();

}  // namespace
