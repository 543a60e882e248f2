#pragma once
// One device of a driver: its memory pool, its compiled kernels, and the way to launch them.

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <typeindex>
#include <unordered_map>

#include "catenary/backends/gpu/driver.h"
#include "catenary/backends/gpu/kernel_key.h"
#include "catenary/backends/gpu/range_errors.h"
#include "catenary/backends/gpu/source.h"
#include "catenary/backends/gpu/staging.h"
#include "catenary/core/dtype.h"
#include "catenary/device/computations.h"
#include "catenary/device/kernel_launcher.h"
#include "catenary/device/pool.h"

namespace catenary::gpu {

/// A compiled kernel. It lives as long as the process.
struct Kernel {
  void* function = nullptr;
  std::string name;
  std::string what;  ///< for messages: the name, and the text or the operations that it is made of
};

/// A generated text.
struct GeneratedText {
  std::string text;
  std::string operations;    ///< for messages: "add, multiply"
  std::string name = {};     ///< for messages, where it is not the function's
  std::string record = {};   ///< for check-kernels, where that is asked for: what the text was put together from
  std::uint64_t module = 0;  ///< UserKernelText's
};

class Context {
 public:
  Context(Driver& driver, int index);

  Driver& driver;
  const int index;
  const DeviceInfo& info;
  /// Mesa's OpenCL on the processor. It gives each work-item a lane of its vectors, so that a work-item alone leaves
  /// the others idle, and ends one without a word that has turned in its loops 65,535 times.
  const bool is_llvmpipe;
  /// Kernels are plain loops in groups of one work-item, as suits the other compilers for processors.
  /// CATENARY_GPU_FORMS=1 (for tests) runs the forms for GPUs there too.
  const bool loops;
  MemoryPool pool;
  RangeErrors range_errors;
  Computations computations;

  /// Host to device: the host's memory may be changed at once. Device to host: waits for the stream, and throws what
  /// kernels found out of range there.
  void write(void* handle, std::size_t offset, const void* from, std::size_t bytes);
  void read(void* to, void* handle, std::size_t offset, std::size_t bytes);

  /// A kernel of a text in kernels/, compiled with these defines; `before` makes text that comes before it, from
  /// nothing but the defines. Both names are the library's own words.
  const Kernel& kernel(const char* text, const char* name, const Defines& defines = {},
                       std::string (*before)() = nullptr);
  /// A kernel of a text that `make` generates, as a GeneratedText; it is only asked for when the key is new.
  template <class Make>
  const Kernel& generated(const KernelKey& key, const char* name, const Make& make) {
    const Kernel* const known = find(key);
    return known ? *known : add_generated(key, name, make());
  }

  const Kernel& user_kernel(const UserKernelText& text);
  std::pair<void*, std::size_t> user_variable(const UserKernelText& text, const std::string& name);

  /// Throws DeviceError for float64 on a device that has none.
  void check_dtype(Dtype dtype, const char* what) const;
  /// Runs a kernel; nothing for 0 groups. All launches come through here.
  void launch(const Kernel& kernel, const LaunchShape& shape, const Args& args);
  void launch(const Kernel& kernel, std::int64_t groups, int group_size, const Args& args) {
    launch(kernel, {groups, group_size}, args);
  }
  /// After a library submitted work. The name lives as long as the process.
  void submitted_by(const std::string& library);
  /// The groups that keep the device busy with `items` work-items of a loop over a grid.
  std::int64_t groups_for(std::int64_t items, int group_size) const;

  /// What else belongs to the device, a list of libraries say: one T(context) for each T, made when first asked for.
  template <class T>
  T& part() {
    std::lock_guard lock(parts_mutex_);
    std::shared_ptr<void>& part = parts_[typeid(T)];
    if (!part) part = std::make_shared<T>(*this);
    return *static_cast<T*>(part.get());
  }

  // Kernels compiled here, and loaded from the disk, so far.
  std::atomic<int> compiled{0}, loaded{0};

 private:
  /// Null for one that is not known. What a thread has used once it finds again without a lock.
  const Kernel* find(const KernelKey& key);
  /// `text`: all that the compiler is told, and what the kernel is made of.
  const Kernel& add(const KernelKey& key, const std::string& function, const GeneratedText& text);
  const Kernel& add_generated(const KernelKey& key, const char* name, GeneratedText made);
  GeneratedText generated_of(const UserKernelText& user) const;
  void* module_of(const std::string& name, const std::string& source, std::uint64_t number);
  /// Notes what was submitted for the messages of later errors; with CATENARY_SYNC waits, so that the error is its own.
  template <class Describe>
  void submitted(const std::string& what, const Describe& failure);

  std::mutex parts_mutex_;
  std::unordered_map<std::type_index, std::shared_ptr<void>> parts_;

  const int number_;  // of the context, for the threads' own tables
  Staging uploads_, downloads_;
  std::mutex mutex_;  // of the kernels
  std::unordered_map<KernelKey, std::unique_ptr<Kernel>, KernelKey::Hash> kernels_;
  std::unordered_map<std::string, void*> modules_;  // by the digest of their source, and their number
};

/// Memory of the pool for intermediate results; given back at the end of the scope, as what follows on the device comes
/// after what was submitted before.
class Scratch {
 public:
  Scratch(Context& context, std::int64_t bytes)
      : context_(context), bytes_(static_cast<std::size_t>(bytes)), handle_(context.pool.allocate(bytes_)) {}
  ~Scratch() { context_.pool.free(handle_, bytes_); }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  void* handle() const { return handle_; }

 private:
  Context& context_;
  std::size_t bytes_;
  void* handle_;
};

}  // namespace catenary::gpu
