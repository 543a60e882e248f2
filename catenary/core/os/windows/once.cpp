// Parts of libstdc++ that std::promise and std::packaged_task need (through std::call_once). GCC compiles libstdc++'s
// own with emulated thread-local storage, which clang's objects cannot use.

#include <mutex>

namespace std {

__thread void* __once_callable;
__thread void (*__once_call)();
extern "C" void __once_proxy() { __once_call(); }

}  // namespace std
