// `catenary data`: datasets from a local server.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "catenary/core/error.h"
#include "catenary/core/os/children.h"
#include "catenary/core/os/file.h"
#include "catenary/core/os/process.h"
#include "catenary/core/sha256.h"
#include "tests/folder.h"
#include "tests/paths.h"
#include "tests/texts.h"

namespace ct = catenary;

namespace {

using tests::Folder;
using tests::has;

const char* const kMnist[] = {"train-images-idx3-ubyte.gz", "train-labels-idx1-ubyte.gz", "t10k-images-idx3-ubyte.gz",
                              "t10k-labels-idx1-ubyte.gz"};

ct::os::ProcessResult data(std::vector<std::string> arguments,
                           std::vector<std::pair<std::string, std::string>> environment = {}) {
  arguments.insert(arguments.begin(), {tests::build_path("bin/catenary"), "data"});
  environment.emplace_back("http_proxy", "");
  return ct::os::run_process(arguments, {.timeout = 120, .environment = environment});
}

/// Serves a folder by HTTP on a free port.
class Server {
 public:
  explicit Server(const std::string& folder)
      : Server(std::vector<std::string>{"-m", "http.server", "0", "--bind", "127.0.0.1", "--directory", folder}) {}
  /// Runs a Python program that prints its address like Python's server.
  explicit Server(std::vector<std::string> words) {
    words.insert(words.begin(), {"python3", "-u"});
    children_.start(words, {}, {});
    std::string text;
    while (!has(text, ") ...\n"))
      for (const ct::os::ChildEvent& event : children_.wait(1)) {
        if (event.kind == ct::os::ChildEvent::Kind::ended) throw ct::FileError("the server has ended");
        text += event.text;
      }
    const std::size_t at = text.find("http://");
    url = text.substr(at, text.find(')', at) - at);
  }
  std::string url;

 private:
  ct::os::Children children_;
};

TEST(Data, List) {
  const Folder folder;
  const auto result = data({}, {{"CATENARY_DATA", folder.path}});
  EXPECT_TRUE(result.ok()) << result.errors;
  EXPECT_EQ(result.output,
            fmt::format("mnist            10.8 MiB  missing, though it comes with Catenary\n"
                        "fashion-mnist    29.4 MiB  not in {0}/fashion-mnist: catenary data fetch fashion-mnist\n"
                        "cifar-10        162.2 MiB  not in {0}: catenary data fetch cifar-10\n"
                        "cifar-100       160.7 MiB  not in {0}: catenary data fetch cifar-100\n",
                        folder.path));
  folder.write("cifar-100-binary/train.bin", "");
  folder.write("cifar-10-binary.tar.gz", "the first bytes only");
  const auto json = nlohmann::json::parse(data({"--json", "list"}, {{"CATENARY_DATA", folder.path}}).output);
  EXPECT_EQ(json["datasets"][3]["name"], "cifar-100");
  EXPECT_EQ(json["datasets"][3]["place"], folder / "cifar-100-binary");
  EXPECT_EQ(json["datasets"][2]["place"], nullptr);
  EXPECT_TRUE(has(data({"list"}).output, "share/catenary/mnist\nfashion-mnist "));
}

TEST(Data, FetchedAsItWasPublished) {
  const Server server(tests::source_path("data/mnist"));
  const Folder folder;
  folder.write("to/t10k-labels-idx1-ubyte.gz", "damaged");
  const std::vector<std::string> fetch = {"fetch", "mnist", "--url", server.url, "--to", folder / "to"};
  auto result = data(fetch);
  EXPECT_TRUE(result.ok()) << result.errors;
  EXPECT_EQ(result.errors, "");  // no progress bar without a terminal
  std::string lines;
  for (const char* const name : kMnist) {
    EXPECT_EQ(ct::sha256_of_file(folder / "to/" + name), ct::sha256_of_file(tests::source_path("data/mnist/") + name));
    EXPECT_TRUE(has(result.output, fmt::format("{}/to/{}: ", folder.path, name))) << result.output;
    lines += fmt::format("{}/to/{}: already present, with the published SHA-256\n", folder.path, name);
  }
  EXPECT_TRUE(has(result.output, "train-images-idx3-ubyte.gz: 9.3 MiB, with the published SHA-256\n")) << result.output;
  EXPECT_EQ(ct::os::list_directory(folder / "to").size(), 4u);
  result = data(fetch);
  EXPECT_EQ(result.output, lines);
  // where programs look
  result = data({"fetch", "mnist", "--url", server.url}, {{"CATENARY_DATA", folder / "of"}});
  EXPECT_TRUE(result.ok()) << result.errors;
  EXPECT_TRUE(has(data({}, {{"CATENARY_DATA", folder / "of"}}).output, "MiB  " + folder / "of/mnist\n"));
}

/// Sends endless bodies and headers, wrong sizes, and circular redirections.
constexpr const char* kHostile = R"(
import http.server
class Hostile(http.server.BaseHTTPRequestHandler):
    def log_message(self, *arguments):
        pass
    def do_GET(self):
        how = self.path.split('/')[1]
        sent = 0
        try:
            if how == 'headers':
                self.wfile.write(b'HTTP/1.1 200 OK\r\n')
                while sent < 400 << 20:
                    sent += self.wfile.write(b'X: ' + b'a' * 50000 + b'\r\n')
            self.send_response(302 if how == 'circle' else 200)
            if how == 'circle':
                self.send_header('Location', self.path)
            if how == 'size':
                self.send_header('Content-Length', str(2 ** 62))
            self.end_headers()
            while how in ('body', 'size') and sent < 400 << 20:
                sent += self.wfile.write(b'y' * (1 << 20))
        except OSError:
            pass
        print(how, 'ended after', sent >> 20, flush=True)
server = http.server.ThreadingHTTPServer(('127.0.0.1', 0), Hostile)
print('at (http://127.0.0.1:%d/) ...' % server.server_port)
server.serve_forever()
)";

TEST(Data, AServerThatSendsWithoutEndIsLeft) {
  const Server server(std::vector<std::string>{"-c", kHostile});
  const Folder folder;
  const auto error_of = [&](const std::string& how) {
    // downloads to a disk with room for 20 MB
    const auto result =
        ct::os::run_process({"sh", "-c", "ulimit -f 40000; exec \"$@\"", "sh", tests::build_path("bin/catenary"),
                             "data", "fetch", "mnist", "--url", server.url + how + "/", "--to", folder / "to"},
                            {.timeout = 120, .environment = {{"http_proxy", ""}}});
    EXPECT_EQ(result.exit_code, 1) << result.errors;
    EXPECT_EQ(ct::os::list_directory(folder / "to"), std::vector<std::string>());
    return result.errors;
  };
  const auto begin = [&](const std::string& how) {
    return fmt::format("catenary: {}{}/train-images-idx3-ubyte.gz: ", server.url, how);
  };
  for (const std::string how : {"body", "size"})
    EXPECT_EQ(error_of(how), begin(how) + "the server sent more than the published 9719438 bytes; nothing was kept\n");
  EXPECT_EQ(error_of("circle"), begin("circle") + "Maximum (10) redirects followed\n");
  EXPECT_TRUE(error_of("headers").starts_with(begin("headers")));
}

TEST(Data, FilesWithAnotherDigestAreNotKept) {
  const Server server(tests::source_path("data/mnist"));
  const Folder folder;
  const auto error_of = [&](const std::string& name, const std::string& url,
                            const std::vector<std::pair<std::string, std::string>>& environment = {}) {
    const auto result = data({"fetch", name, "--url", url, "--to", folder / "to"}, environment);
    EXPECT_EQ(result.exit_code, 1) << result.output;
    EXPECT_EQ(result.output, "");
    if (ct::os::exists(folder / "to")) {
      EXPECT_EQ(ct::os::list_directory(folder / "to"), std::vector<std::string>());
    }
    return result.errors;
  };
  // MNIST's file has the name of Fashion-MNIST's
  EXPECT_EQ(error_of("fashion-mnist", server.url),
            fmt::format("catenary: {}train-images-idx3-ubyte.gz: received 9719438 bytes with SHA-256 "
                        "0b367032e93c5d0cea0925647cfdb18614af8ee15f83e6f2fc2ad904a6835971, but 26421880 bytes with "
                        "3aede38d61863908ad78613f6a32ed271626dd12800ba2636569512369268a84 were published; nothing was "
                        "kept\n",
                        server.url));
  const std::string missing = error_of("cifar-10", server.url);
  EXPECT_TRUE(missing.starts_with("catenary: " + server.url + "cifar-10-binary.tar.gz: ") && has(missing, "404"))
      << missing;
  EXPECT_TRUE(has(error_of("cifar-10", "http://127.0.0.1:1"), "http://127.0.0.1:1/cifar-10-binary.tar.gz: Failed to "));
  EXPECT_TRUE(has(error_of("cifar-10", "file:///etc"), "file:///etc/cifar-10-binary.tar.gz: Protocol"));
  EXPECT_EQ(error_of("imagenet", server.url),
            "catenary: no dataset is called 'imagenet'; there are mnist, fashion-mnist, cifar-10, cifar-100\n");
  // a machine without libcurl
  for (const char* const name : {"libcurl.so.4", "libcurl-gnutls.so.4", "libcurl-nss.so.4"})
    folder.write(std::string("none/") + name, "");
  const std::string none = error_of("cifar-10", server.url, {{"LD_LIBRARY_PATH", folder / "none"}});
  EXPECT_TRUE(has(none, "libcurl, which downloads files, was not found (") && has(none, "apt-get install libcurl4"))
      << none;
}

TEST(Data, MnistComesWithCatenary) {
  const auto result = data({"fetch", "mnist"});
  EXPECT_TRUE(result.ok());
  EXPECT_TRUE(result.output.starts_with("mnist comes with Catenary: ")) << result.output;
  const Folder none;
  EXPECT_EQ(data({"fetch", "mnist"}, {{"CATENARY_DATA", none.path}}).errors,
            "catenary: mnist comes with Catenary, but is not in " + none.path + "\n");
}

}  // namespace
