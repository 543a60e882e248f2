// Simulates libnvidia-ml.so.1 with three GPUs: one forbids all programs, one is partitioned, and one is lost.

#include <cstdint>
#include <cstdio>

extern "C" {

int nvmlInit_v2() { return 0; }

int nvmlDeviceGetCount_v2(unsigned* count) {
  *count = 3;
  return 0;
}

int nvmlDeviceGetHandleByIndex_v2(unsigned index, void** device) {
  *device = reinterpret_cast<void*>(static_cast<std::uintptr_t>(index + 1));
  return index == 2 ? 15 : 0;
}

int nvmlDeviceGetName(void* device, char* name, unsigned length) {
  std::snprintf(name, length, "Card %d", static_cast<int>(reinterpret_cast<std::uintptr_t>(device)) - 1);
  return 0;
}

int nvmlDeviceGetComputeMode(void* device, int* mode) {
  *mode = device == reinterpret_cast<void*>(1) ? 2 : 0;
  return 0;
}

int nvmlDeviceGetMigMode(void* device, unsigned* current, unsigned* pending) {
  if (device == reinterpret_cast<void*>(1)) return 3;
  *current = *pending = 1;
  return 0;
}
}
