#include "tools/catenary/download.h"

#include <fmt/format.h>

#include <array>
#include <exception>
#include <memory>

#include "catenary/core/error.h"
#include "catenary/core/os/library.h"

namespace catenary::command {

namespace {

/// Numbers of libcurl's interface, equal in all versions (curl/curl.h).
enum Option : int {
  no_progress = 43,
  fail_on_error = 45,
  low_speed_limit = 19,
  low_speed_time = 20,
  follow_location = 52,
  max_redirections = 68,
  connect_timeout = 78,
  no_signal = 99,
  protocols = 181,
  redirect_protocols = 182,
  write_data = 10001,
  url_of = 10002,
  error_buffer = 10010,
  user_agent = 10018,
  progress_data = 10057,
  write_function = 20011,
  header_function = 20079,
  header_data = 10029,
  progress_function = 20219
};
constexpr long kHttp = 1, kHttps = 2;

/// libcurl under any of its names, loaded once.
class Curl {
 public:
  Curl() {
    std::string reasons;
    for (const char* const name : {"libcurl.so.4", "libcurl-gnutls.so.4", "libcurl-nss.so.4"}) {
      std::string why;
      library_ = os::Library::find(name, &why);
      if (library_) break;
      reasons += (reasons.empty() ? "" : "; ") + why;
    }
    if (!library_)
      throw FileError(
          fmt::format("libcurl, which downloads files, was not found ({}): install it (on Debian and Ubuntu: apt-get "
                      "install libcurl4)",
                      reasons));
    library_->required<int(long)>("curl_global_init")(3);
    init = library_->required<void*()>("curl_easy_init");
    set = library_->required<int(void*, int, ...)>("curl_easy_setopt");
    perform = library_->required<int(void*)>("curl_easy_perform");
    cleanup = library_->required<void(void*)>("curl_easy_cleanup");
    text_of = library_->required<const char*(int)>("curl_easy_strerror");
  }
  void* (*init)();
  int (*set)(void*, int, ...);
  int (*perform)(void*);
  void (*cleanup)(void*);
  const char* (*text_of)(int);

 private:
  std::optional<os::Library> library_;
};

/// A receiver called from C, which exceptions must not pass through.
struct Call {
  const Receiver& receiver;
  const std::string& url;
  std::size_t header_bytes = 0;
  std::exception_ptr thrown = nullptr;

  template <class F>
  bool guarded(const F& f) {
    try {
      f();
      return true;
    } catch (...) {
      thrown = std::current_exception();
      return false;
    }
  }
  static std::size_t write(const char* data, std::size_t size, std::size_t n, void* call) {
    const std::span bytes(reinterpret_cast<const std::byte*>(data), size * n);
    return static_cast<Call*>(call)->guarded([&] { static_cast<Call*>(call)->receiver.bytes(bytes); }) ? size * n : 0;
  }
  static std::size_t header(const char*, std::size_t size, std::size_t n, void* call) {
    auto* const self = static_cast<Call*>(call);
    constexpr std::size_t kMost = std::size_t{1} << 20;  // of all responses, including redirects
    self->header_bytes += size * n;
    const bool fine = self->guarded([&] {
      if (self->header_bytes > kMost)
        throw FileError(fmt::format("{}: the server's headers are longer than {} bytes", self->url, kMost));
    });
    return fine ? size * n : 0;
  }
  static int progress(void* call, std::int64_t total, std::int64_t now, std::int64_t, std::int64_t) {
    auto* const self = static_cast<Call*>(call);
    return self->guarded([&] { self->receiver.progress(now, total); }) ? 0 : 1;
  }
};

}  // namespace

void download(const std::string& url, const Receiver& receiver) {
  static const Curl curl;
  const std::unique_ptr<void, void (*)(void*)> handle(curl.init(), curl.cleanup);
  if (!handle) throw FileError("libcurl cannot be initialised");
  Call call{receiver, url};
  std::array<char, 256> words{};
  void* const h = handle.get();
  curl.set(h, url_of, url.c_str());
  curl.set(h, error_buffer, words.data());
  curl.set(h, user_agent, "catenary");
  curl.set(h, protocols, kHttp | kHttps);
  curl.set(h, redirect_protocols, kHttp | kHttps);
  curl.set(h, follow_location, 1L);
  curl.set(h, max_redirections, 10L);
  curl.set(h, fail_on_error, 1L);
  curl.set(h, no_signal, 1L);
  curl.set(h, connect_timeout, 30L);
  curl.set(h, low_speed_limit, 100L);  // bytes per second: a slower download is ended after a minute
  curl.set(h, low_speed_time, 60L);
  curl.set(h, write_function, &Call::write);
  curl.set(h, write_data, static_cast<void*>(&call));
  curl.set(h, header_function, &Call::header);
  curl.set(h, header_data, static_cast<void*>(&call));
  curl.set(h, no_progress, 0L);
  curl.set(h, progress_function, &Call::progress);
  curl.set(h, progress_data, static_cast<void*>(&call));
  const int code = curl.perform(h);
  if (call.thrown) std::rethrow_exception(call.thrown);
  if (code != 0) throw FileError(fmt::format("{}: {}", url, words[0] ? words.data() : curl.text_of(code)));
}

}  // namespace catenary::command
