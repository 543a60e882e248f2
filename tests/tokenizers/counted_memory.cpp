// As in tests/io, this program counts calls of `new`.
#include "tests/io/counted_memory.cpp"
