// Tests the documents: their code runs (in a source that scripts/document_code generates), their links lead somewhere,
// and their excerpts of files are up to date.

#include <zlib.h>

#include <cctype>
#include <filesystem>
#include <fstream>
#include <regex>
#include <set>
#include <sstream>

#include "catenary/core/sha256.h"
#include "tests/documents/chapter.h"
#include "tests/folder.h"
#include "tests/paths.h"

namespace tests {

namespace fs = std::filesystem;

void run_chapter(void (*chapter)(), const std::vector<std::string>& prints) {
  const Folder folder;
  const fs::path before = fs::current_path();
  fs::current_path(folder.path);
  ct::random::seed(0);
  std::ostringstream written;
  std::streambuf* console = std::cout.rdbuf(written.rdbuf());
  std::string error;
  try {
    chapter();
  } catch (const std::exception& e) {
    error = e.what();
  }
  std::cout.rdbuf(console);
  ct::Device().use();
  fs::current_path(before);
  EXPECT_EQ(error, "");
  for (const std::string& text : prints)
    EXPECT_NE(written.str().find(text), std::string::npos) << "expected: " << text << "\nwritten: " << written.str();
}

namespace {

std::string text_of(const fs::path& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

/// Returns README.md, CONTRIBUTING.md, CHANGELOG.md, and the Markdown files in docs, examples and data.
std::vector<fs::path> documents() {
  std::vector<fs::path> found;
  for (const char* name : {"README.md", "CONTRIBUTING.md", "CHANGELOG.md"}) found.push_back(source_path(name));
  for (const char* folder : {"docs", "examples", "data"})
    for (const auto& entry : fs::recursive_directory_iterator(source_path(folder)))
      if (entry.path().extension() == ".md") found.push_back(entry.path());
  return found;
}

/// Returns a document without its code.
std::string prose_of(const fs::path& path) {
  std::istringstream lines(text_of(path));
  std::string prose;
  bool fence = false, hidden = false;
  for (std::string line; std::getline(lines, line);) {
    const bool mark = line.find("```") != std::string::npos;
    if (mark) fence = !fence;
    if (line == "<!-- test") hidden = true;
    if (!mark && !fence && !hidden) prose += line + "\n";
    if (line == "-->") hidden = false;
  }
  bool code = false;
  std::erase_if(prose, [&](char c) { return c == '`' ? (code = !code, true) : code; });
  return prose;
}

/// Returns the anchor that GitHub makes of a heading.
std::string anchor(std::string heading) {
  std::string name;
  for (const char c : heading) {
    if (c == ' ') name += '-';
    if (std::isalnum(static_cast<unsigned char>(c)) || c == '-' || c == '_')
      name += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  return name;
}

TEST(Documents, LinksLeadSomewhere) {
  const std::regex link(R"(\]\(([^)#:]*)(#[^)]*)?\))"), heading("(^|\n)#+ ([^\n]*)");
  int links = 0;
  for (const fs::path& document : documents()) {
    const std::string text = prose_of(document);
    for (std::sregex_iterator i(text.begin(), text.end(), link), end; i != end; ++i, ++links) {
      const fs::path target = (*i)[1].length() ? document.parent_path() / (*i)[1].str() : document;
      EXPECT_TRUE(fs::exists(target)) << document << ": " << (*i)[0];
      if (!(*i)[2].length() || !fs::exists(target)) continue;
      const std::string there = text_of(target);
      bool found = false;
      for (std::sregex_iterator h(there.begin(), there.end(), heading); h != end; ++h)
        found = found || "#" + anchor((*h)[2]) == (*i)[2];
      EXPECT_TRUE(found) << document << ": " << (*i)[0];
    }
  }
  EXPECT_GT(links, 20);
}

/// Returns all matches of the first group in a file.
std::set<std::string> found_in(const fs::path& path, const std::regex& pattern) {
  const std::string text = text_of(path);
  std::set<std::string> found;
  for (std::sregex_iterator i(text.begin(), text.end(), pattern), end; i != end; ++i) found.insert((*i)[1]);
  return found;
}

TEST(Documents, ListEveryEnvironmentVariable) {
  std::set<std::string> known = found_in(source_path("catenary/core/environment.cpp"),
                                         std::regex(R"x("((CATENARY|CHAINER|OMP)_[A-Z0-9_]*[A-Z0-9])")x"));
  known.merge(found_in(source_path("catenary/backends/gpu/library_list.cpp"), std::regex(R"x("(CATENARY_GPU_\w+)")x")));
  known.merge(found_in(source_path("catenary/backends/cpu/solver/libraries.cpp"), std::regex(R"x("(CATENARY_\w+)")x")));
  EXPECT_GT(known.size(), 40u);
  EXPECT_EQ(found_in(source_path("docs/reference/environment.md"),
                     std::regex("`((CATENARY|CHAINER|OMP)_[A-Z0-9_]*[A-Z0-9])[=`]")),
            known);
}

TEST(Documents, ListEverySetting) {
  const std::set<std::string> known =
      found_in(source_path("catenary/core/settings.def"), std::regex(R"(\nCT_SETTING\(\w+, (\w+),)"));
  EXPECT_GT(known.size(), 10u);
  EXPECT_EQ(found_in(source_path("docs/reference/options.md"), std::regex("\n\\| `(\\w+)` \\|")), known);
}

TEST(Documents, ListEveryKindOfQuantisation) {
  const std::set<std::string> kinds = found_in(source_path("catenary/core/quantizations.def"),
                                               std::regex(R"x(\nCT_QUANTIZATION\(\w+, "(\w+)")x")),
                              mixtures = found_in(source_path("tools/catenary/mixture.cpp"),
                                                  std::regex(R"x(\n    \{"(Q\w+)",)x"));
  EXPECT_GT(kinds.size(), 5u);
  EXPECT_GT(mixtures.size(), 5u);
  const std::string guide = text_of(source_path("docs/guide/language-models.md")),
                    commands = text_of(source_path("docs/reference/commands.md"));
  for (const std::string& name : kinds) {
    EXPECT_NE(guide.find("\n| `" + name + "` | "), std::string::npos) << name;
    EXPECT_NE(commands.find("`" + name + "`"), std::string::npos) << name;
  }
  for (const std::string& name : mixtures) EXPECT_NE(guide.find("\n| `" + name + "` | "), std::string::npos) << name;
}

TEST(Documents, ListEveryCommandAndOption) {
  const std::string page = text_of(source_path("docs/reference/commands.md"));
  const std::string source = source_path("tools/catenary/main.cpp");
  const std::set<std::string> commands = found_in(source, std::regex(R"x(add_subcommand\(\s*"([a-z]+)")x"));
  EXPECT_GT(commands.size(), 10u);
  for (const std::string& name : commands)
    EXPECT_TRUE(std::regex_search(page, std::regex("`catenary (data )?" + name + "[ `]"))) << name;
  const std::regex option(R"x(add_(?:option|flag)\(\s*"(?:-[a-z],)?(--[a-z-]+)")x");
  for (const std::string& name : found_in(source, option)) {
    if (name == "--probe") continue;
    EXPECT_NE(page.find("`" + name), std::string::npos) << name;
  }
}

TEST(Documents, ListEveryError) {
  const std::string page = text_of(source_path("docs/reference/errors.md"));
  const std::regex error(R"x(class CT_API (\w+) : public (?:\w+Error|Error) )x");
  std::set<std::string> errors;
  for (const auto& entry : fs::recursive_directory_iterator(source_path("catenary")))
    if (entry.path().extension() == ".h") errors.merge(found_in(entry.path(), error));
  EXPECT_GT(errors.size(), 10u);
  for (const std::string& name : errors) EXPECT_NE(page.find(name + "`"), std::string::npos) << name;
}

// A block marked c++ (not cpp) is an excerpt of catenary/registry.cpp, the list of backends.
TEST(Documents, ExcerptsAreThere) {
  const std::string registry = text_of(source_path("catenary/registry.cpp"));
  const std::regex excerpt("```c\\+\\+\n([^`]*)```");
  int excerpts = 0;
  for (const fs::path& document : documents()) {
    const std::string text = text_of(document);
    for (std::sregex_iterator i(text.begin(), text.end(), excerpt), end; i != end; ++i, ++excerpts)
      EXPECT_NE(registry.find((*i)[1]), std::string::npos) << document << ": " << (*i)[1];
  }
  EXPECT_EQ(excerpts, 1);
}

/// Returns the content of a gzip file.
std::string unpacked(const std::string& path) {
  std::string content;
  char part[1 << 16];
  const gzFile file = gzopen(path.c_str(), "rb");
  for (int n = 0; file && (n = gzread(file, part, sizeof part)) > 0;) content.append(part, static_cast<std::size_t>(n));
  if (file) gzclose(file);
  return content;
}

// README.md links to the notes on the MNIST files in data/mnist.
TEST(Documents, TheNoteOfMnist) {
  EXPECT_NE(text_of(source_path("README.md")).find("(data/mnist/README.md)"), std::string::npos);
  const std::string note = text_of(source_path("data/mnist/README.md"));
  for (const char* part : {"**Origin.**", "**Authors.**", "**Terms.**"})
    EXPECT_NE(note.find(part), std::string::npos) << part;
  int files = 0;
  for (const std::string& name : ct::os::list_directory(source_path("data/mnist"))) {
    if (name == "README.md") continue;
    ++files;
    const std::string content = unpacked(source_path("data/mnist/" + name));
    const std::size_t row = note.find("`" + name + "`");
    ASSERT_NE(row, std::string::npos) << name;
    EXPECT_NE(note.substr(row, note.find('\n', row) - row).find(ct::sha256(content)), std::string::npos) << name;
  }
  EXPECT_EQ(files, 4);
}

}  // namespace

}  // namespace tests
