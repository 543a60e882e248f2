#include "catenary/backends/gpu/context.h"

#include <algorithm>
#include <chrono>

#include "catenary/core/environment.h"
#include "catenary/core/error.h"
#include "catenary/core/format.h"
#include "catenary/core/os/file.h"
#include "catenary/core/sha256.h"
#include "catenary/device/compilation_notice.h"
#include "catenary/device/deferred.h"
#include "catenary/device/kernel_cache.h"
#include "catenary/device/trace.h"
#include "catenary/kernels/texts.h"

namespace catenary::gpu {

namespace {

// A part of the cache's key. Increase it when binaries are made or called differently although their text is unchanged.
constexpr int kFormat = 1;

/// Returns the record of a kernel for check-kernels, if CATENARY_KERNEL_LOG=FOLDER is set: the sources that allow it to
/// be compiled for any other card (kernels of processors excepted). `text` names one of kernels/, or is empty.
std::string record_of(std::string_view text, std::string_view function, const std::string& define_lines,
                      const std::string& body) {
  if (environment::text("CATENARY_KERNEL_LOG").empty()) return {};
  std::string content = fmt::format("kernel {}\n", function);
  if (!text.empty()) content += fmt::format("text {}\n", text);
  content += define_lines;
  if (text.empty()) content += fmt::format("\n{}", body);
  return content;
}

void keep_record(const std::string& record) {
  if (record.empty()) return;
  const std::string folder = environment::text("CATENARY_KERNEL_LOG");
  os::make_directories(folder);
  os::write_file(fmt::format("{}/{}.kernel", folder, sha256(record)), record);
}

int next_number() {
  static std::atomic<int> number{0};
  return number.fetch_add(1);
}

// The thread's last launches, as a ring buffer. Kernels are never freed.
constexpr unsigned kNoted = 8;
thread_local const std::string* noted[kNoted];
thread_local unsigned noted_count;

void note_launch(const std::string& what) { noted[noted_count++ % kNoted] = &what; }

/// The kernels of a context that the calling thread has used, to find them without a lock.
auto& known_kernels(int number) {
  thread_local std::vector<std::unordered_map<KernelKey, const Kernel*, KernelKey::Hash>> known;
  if (known.size() <= static_cast<std::size_t>(number)) known.resize(static_cast<std::size_t>(number) + 1);
  return known[static_cast<std::size_t>(number)];
}

const ThreadState kKnownKernels([] { known_kernels(0); });

/// A device's memory as seen by the pool.
class DeviceMemory final : public MemorySource {
 public:
  DeviceMemory(Driver& driver, int index) : driver_(driver), index_(index) {}

  std::string name() const override { return fmt::format("{}:{}", driver_.name(), index_); }
  std::size_t total_bytes() const override { return driver_.info(index_).memory_bytes; }
  void* allocate(std::size_t bytes) override { return driver_.allocate(index_, bytes); }
  void free(void* allocation, std::size_t) noexcept override { driver_.free(index_, allocation); }
  bool has_parts() const override { return true; }
  void* part(void* allocation, std::size_t offset, std::size_t bytes) override {
    return driver_.part(index_, allocation, offset, bytes);
  }
  void free_part(void* part) noexcept override { driver_.free_part(part); }
  void* stream() const override { return driver_.stream(index_); }
  void order_after_current(void* stream) noexcept override {
    try {
      driver_.follow(index_, stream, driver_.stream(index_));
    } catch (const DeviceError&) {
      // a lost device, which runs nothing any more
    }
  }
  void synchronize() override { driver_.synchronize(index_); }

 private:
  Driver& driver_;
  const int index_;
};

}  // namespace

bool is_synchronous() {
  static const bool synchronous = environment::flag("CATENARY_SYNC");
  return synchronous;
}

std::string last_launches() {
  if (is_synchronous() || noted_count == 0) return {};
  std::string text;
  for (unsigned i = 0; i < std::min(kNoted, noted_count); ++i)
    text += (i ? "; " : "") + *noted[(noted_count - 1 - i) % kNoted];
  return fmt::format(
      " [reported late: this thread launched, newest first, {}. Set CATENARY_SYNC=1 to get the error from the "
      "operation "
      "that fails, with the name of its kernel]",
      text);
}

bool float64_is_off() { return environment::flag("CATENARY_NO_FLOAT64"); }

Context::Context(Driver& d, int i)
    : driver(d),
      index(i),
      info(d.info(i)),
      is_llvmpipe(info.platform == "rusticl" && info.name.starts_with("llvmpipe")),
      loops(info.is_cpu && !is_llvmpipe && !environment::flag("CATENARY_GPU_FORMS")),
      pool(std::make_unique<DeviceMemory>(d, i), {.unit = std::max<std::size_t>(512, info.alignment)}),
      range_errors(d, i),
      computations(fmt::format("{}:{}", d.name(), i)),
      number_(next_number()),
      uploads_(d, i),
      downloads_(d, i) {}

void Context::write(void* handle, std::size_t offset, const void* from, std::size_t bytes) {
  // a processor's memory is the host's, and copying large data twice costs more than waiting
  if (!loops || bytes <= Staging::kPieceBytes) return uploads_.upload(handle, offset, from, bytes);
  driver.write(index, handle, offset, from, bytes);
  driver.synchronize_stream(index, driver.stream(index));
}

void Context::read(void* to, void* handle, std::size_t offset, std::size_t bytes) {
  void* const stream = driver.stream(index);
  if (loops) {
    driver.read(index, to, handle, offset, bytes);
    driver.synchronize_stream(index, stream);
  } else {
    downloads_.download(to, handle, offset, bytes);
  }
  range_errors.raise(stream);
}

const Kernel& Context::kernel(const char* text, const char* name, const Defines& defines, std::string (*before)()) {
  KernelKey key(KernelKey::Kind::text);
  key.add(text).add(name);
  for (const Define& define : defines)
    key.add(define.name)
        .add(define.text)
        .add(define.text ? reinterpret_cast<std::uintptr_t>(define.more) : static_cast<std::uint64_t>(define.number));
  if (const Kernel* const known = find(key)) return *known;
  const std::string lines = define_lines(defines),
                    body = (before ? before() : std::string()) + std::string(kernels::text(text));
  return add(key, name,
             {.text = assemble_source(driver.name(), driver.defines(index), lines, body),
              .operations = text,
              .record = record_of(before ? "" : text, name, lines, body)});
}

const Kernel& Context::add_generated(const KernelKey& key, const char* name, GeneratedText made) {
  made.record = record_of({}, name, {}, made.text);
  made.text = assemble_source(driver.name(), driver.defines(index), {}, made.text);
  return add(key, name, made);
}

const Kernel& Context::user_kernel(const UserKernelText& user) {
  KernelKey by_number(KernelKey::Kind::user);
  by_number.add(user.number);
  auto& mine = known_kernels(number_);
  if (const auto known = mine.find(by_number); user.number && known != mine.end()) return *known->second;
  KernelKey key(KernelKey::Kind::user);
  key.add(std::uint64_t{user.portable}).add(user.module).add_content(user.function).add_content(user.text);
  const Kernel* kernel = find(key);
  if (!kernel) kernel = &add(key, std::string(user.function), generated_of(user));
  if (user.number) mine.emplace(by_number, kernel);
  return *kernel;
}

GeneratedText Context::generated_of(const UserKernelText& user) const {
  GeneratedText made{.text = std::string(user.text),
                     .operations = "the user's kernel",
                     .name = std::string(user.name),
                     .module = user.module};
  if (user.portable) {
    const std::string body = "#line 1\n" + made.text;  // line numbers start with the user's text
    made.text = assemble_source(driver.name(), driver.defines(index), {}, body);
    made.record = record_of({}, std::string(user.function), {}, body);
  }
  return made;
}

std::pair<void*, std::size_t> Context::user_variable(const UserKernelText& user, const std::string& name) {
  const GeneratedText made = generated_of(user);
  std::lock_guard lock(mutex_);
  return driver.variable(index, module_of(made.name, made.text, made.module), name);
}

const Kernel* Context::find(const KernelKey& key) {
  auto& known = known_kernels(number_);
  if (const auto mine = known.find(key); mine != known.end()) return mine->second;
  std::lock_guard lock(mutex_);
  const auto found = kernels_.find(key);
  return found == kernels_.end() ? nullptr : known.emplace(key, found->second.get()).first->second;
}

const Kernel& Context::add(const KernelKey& key, const std::string& function, const GeneratedText& text) {
  std::lock_guard lock(mutex_);
  auto found = kernels_.find(key);  // another thread may have added it
  if (found == kernels_.end()) {
    if (tracing("source")) fmt::print(stderr, "{}\n", text.text);
    auto made = std::make_unique<Kernel>();
    made->name = text.name.empty() ? function : text.name;
    made->what = fmt::format("{} ({})", made->name, text.operations);
    made->function = driver.function(index, module_of(made->name, text.text, text.module), function);
    if (!loops) keep_record(text.record);
    found = kernels_.emplace(key, std::move(made)).first;
  }
  return *known_kernels(number_).emplace(key, found->second.get()).first->second;
}

void* Context::module_of(const std::string& name, const std::string& source, std::uint64_t number) {
  const std::string digest = sha256(fmt::format("{}\n{}\n{}\n{}\n{}\n{}\n{}", kFormat, driver.name(), info.platform,
                                                info.arch, info.name, info.driver, source));
  void*& module = modules_[number ? fmt::format("{} {}", digest, number) : digest];
  if (module) return module;
  const auto start = std::chrono::steady_clock::now();
  const auto report = [&](const char* how) {
    const std::chrono::duration<double, std::milli> time = std::chrono::steady_clock::now() - start;
    if (tracing("compile"))
      fmt::print(stderr, "{} {} on {}:{} in {:.0f} ms\n", how, name, driver.name(), index, time.count());
  };
  if (const auto binary = load_kernel(digest)) {
    try {
      module = driver.load(index, *binary);
      loaded.fetch_add(1);
      report("load");
      return module;
    } catch (const DeviceError&) {
      // cached by another driver with an equal name: compile it again below, and replace it
    }
  }
  Driver::Compiled made;
  try {
    const CompilationNotice notice(fmt::format("{}:{}", driver.name(), index));
    made = driver.compile(index, source);
  } catch (const DeviceError& error) {
    fail<DeviceError>("kernel {} cannot be compiled for {}:{} ({}): {}", name, driver.name(), index, info.name,
                      error.what());
  }
  module = made.module ? made.module : driver.load(index, made.binary);
  compiled.fetch_add(1);
  report("compile");
  if (!made.binary.empty()) save_kernel(digest, made.binary);
  return module;
}

void Context::launch(const Kernel& kernel, const LaunchShape& shape, const Args& args) {
  if (shape.group_count() == 0) return;
  driver.launch(index, kernel.function, shape, args);
  submitted(kernel.what, [&](const std::string& device) {
    return fmt::format("kernel {} failed on {}, {}", kernel.what, device, shape.text());
  });
}

void Context::submitted_by(const std::string& library) {
  submitted(library, [&](const std::string& device) {
    return fmt::format("a computation by {} failed on {}", library, device);
  });
}

template <class Describe>
void Context::submitted(const std::string& what, const Describe& failure) {
  if (!is_synchronous()) return note_launch(what);
  try {
    driver.synchronize_stream(index, driver.stream(index));
  } catch (const DeviceError& error) {
    fail<DeviceError>("{}: {}", failure(fmt::format("{}:{}", driver.name(), index)), error.what());
  }
}

void Context::check_dtype(Dtype dtype, const char* what) const {
  if (part_dtype(dtype) != Dtype::float64 || info.has_f64) return;
  fail<DeviceError>(
      "{}: {}:{} ({}) has no float64{}; give its arrays float32 (astype(Dtype::float32), or the dtype at their "
      "creation), or bring them to another device (to_device)",
      what, driver.name(), index, info.name, float64_is_off() ? ", as CATENARY_NO_FLOAT64 says" : "");
}

std::int64_t Context::groups_for(std::int64_t items, int group_size) const {
  return std::min((items + group_size - 1) / group_size, static_cast<std::int64_t>(info.compute_units) * 32);
}

}  // namespace catenary::gpu
