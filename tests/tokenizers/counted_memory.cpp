// As in tests/io: this program counts its `new`, too.
#include "tests/io/counted_memory.cpp"
