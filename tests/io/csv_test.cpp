#include "catenary/io/csv.h"

#include <chrono>
#include <cmath>
#include <functional>
#include <limits>

#include "helpers.h"

namespace catenary::io {
namespace {

using namespace test;

CsvTable parse(const std::string& text, const CsvOptions& options = {}) {
  return read_csv(as_bytes(text), "t.csv", options);
}

TEST(Csv, NumbersTextAndEmptyFields) {
  const CsvTable t = parse("x,name,y\n1,a,2.5\n -3e2 ,\"b, \"\"c\"\"\nd\",\n+4,,.5\n");
  EXPECT_EQ(t.names(), (std::vector<std::string>{"x", "name", "y"}));
  EXPECT_EQ(t.rows, 3);
  EXPECT_EQ(t.column("x").values, (std::vector<double>{1, -300, 4}));
  EXPECT_FALSE(t.column("name").numeric);
  EXPECT_EQ(t.column("name").strings, (std::vector<std::string>{"a", "b, \"c\"\nd", ""}));
  EXPECT_TRUE(std::isnan(t.column("y").values[1]));
  const HostArray m = t.matrix({"y", "x"});
  EXPECT_EQ(m.shape, (Shape{3, 2}));
  EXPECT_EQ(m.as<double>()[0], 2.5);
  EXPECT_EQ(m.as<double>()[1], 1);
  EXPECT_EQ(m.as<double>()[5], 4);
  EXPECT_NE(file_error([&] { t.matrix(); }).find("t.csv: line 2: column 'name'"), std::string::npos);
  EXPECT_NE(file_error([&] { t.column("z"); }).find("'x', 'name', 'y'"), std::string::npos);
}

TEST(Csv, LineEndsMarksCommentsAndDelimiters) {
  EXPECT_EQ(parse("\xef\xbb\xbf"
                  "a;b\r\n1;2\r\n\r\n3;4",
                  {.delimiter = ';'})
                .matrix()
                .shape,
            (Shape{2, 2}));
  EXPECT_EQ(parse("a\r\n\"1\"\r\n\"2\"\r").column("a").values, (std::vector<double>{1, 2}));
  const CsvTable t =
      parse("junk \"\n# c\n1\t2\n# d\n3\t4\n", {.delimiter = '\t', .header = false, .comment = '#', .skip_lines = 1});
  EXPECT_EQ(t.names(), (std::vector<std::string>{"0", "1"}));
  EXPECT_EQ(values_of(t.matrix()), (std::vector<double>{1, 2, 3, 4}));
  EXPECT_EQ(parse("").columns.size(), 0u);
  EXPECT_EQ(parse("a,b\n").rows, 0);
  EXPECT_EQ(parse("a,b\n").matrix().shape, (Shape{0, 2}));
}

TEST(Csv, ExtremeNumbers) {
  const CsvTable t = parse("v\n1e400\n-1e400\n1e-400\ninf\nnan\n0.1\n9007199254740993\n");
  const std::vector<double>& v = t.column("v").values;
  ASSERT_EQ(v.size(), 7u);
  EXPECT_EQ(v[0], std::numeric_limits<double>::infinity());
  EXPECT_EQ(v[1], -std::numeric_limits<double>::infinity());
  EXPECT_EQ(v[2], 0);
  EXPECT_EQ(v[3], std::numeric_limits<double>::infinity());
  EXPECT_TRUE(std::isnan(v[4]));
  EXPECT_EQ(v[5], 0.1);
  EXPECT_EQ(v[6], 9007199254740992.0);
  EXPECT_FALSE(parse("v\n+-1\n").column("v").numeric);
  EXPECT_FALSE(parse("v\n1x\n").column("v").numeric);
}

TEST(Csv, WordsForMissingNumbers) {
  const CsvOptions options{.missing = {"NA", "?"}};
  const CsvTable t = parse("x,name,none,mixed\n1,a,NA,NA\n NA ,NA,?,2\n?,b,,b\n", options);
  EXPECT_EQ(t.column("x").values[0], 1);
  EXPECT_TRUE(std::isnan(t.column("x").values[1]) && std::isnan(t.column("x").values[2]));
  EXPECT_TRUE(t.column("none").numeric && std::isnan(t.column("none").values[0]));
  EXPECT_EQ(t.column("name").strings, (std::vector<std::string>{"a", "NA", "b"}));  // texts in a text column
  EXPECT_EQ(file_error([&] { t.matrix({"mixed"}); }), "t.csv: line 4: column 'mixed' holds 'b', which is not a number");
  EXPECT_FALSE(parse("x\n1\nNA\n").column("x").numeric);
}

TEST(Csv, ACarriageReturnEndsTheLastFieldToo) {
  EXPECT_EQ(parse("a,b\nx,\"y\"\r").column("b").strings, std::vector<std::string>{"y"});
  EXPECT_EQ(parse("a,b\nx,y\r").column("b").strings, std::vector<std::string>{"y"});
}

TEST(Csv, ErrorsSayLineAndColumn) {
  EXPECT_EQ(file_error([] { parse("a,b\n1,2\n3\n"); }),
            "t.csv: line 3, column 1: the row has 1 field(s), the header 2");
  EXPECT_EQ(file_error([] { parse("a;b\n1,5;2\n"); }),
            "t.csv: line 2, column 1: the row has 2 field(s), the header 1; is ',' the delimiter?");
  EXPECT_EQ(file_error([] { parse("a, b\n1,2\n").column("b"); }), "t.csv: no column 'b'; its columns are 'a', ' b'");
  EXPECT_EQ(file_error([] { parse("a;b\n1;2\n").column("b"); }),
            "t.csv: no column 'b'; its columns are 'a;b'; is the delimiter another one?");
  EXPECT_EQ(file_error([] { parse("a,b\n1,2\n\n3,n/a\n").matrix(); }),
            "t.csv: line 4: column 'b' holds 'n/a', which is not a number");
  EXPECT_EQ(file_error([] { parse("a,b\n\"x\ny\",2\n1,\"z\n"); }),
            "t.csv: line 4, column 3: the quote that opens here does not close");
  EXPECT_EQ(file_error([] { parse("a,b\n\"x\"y,2\n"); }), "t.csv: line 2, column 4: 'y' follows a closing quote");
  // the byte-order mark takes no column
  EXPECT_EQ(file_error([] { parse("\xef\xbb\xbfx,\"y\n"); }),
            "t.csv: line 1, column 3: the quote that opens here does not close");
  EXPECT_NE(file_error([] { parse("a,a\n"); }).find("two columns are named 'a'"), std::string::npos);
  EXPECT_THROW(parse("a", {.delimiter = '"'}), ValueError);
}

double seconds_of(const std::function<void()>& f) {
  const auto begin = std::chrono::steady_clock::now();
  f();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

// Work that grows with the square of a table's size would take minutes here.
TEST(Csv, LargeTablesTakeTimeInProportion) {
  constexpr int kMany = 1000000;
  std::string quotes = "a,t\n1,\"";
  for (int i = 0; i < kMany; ++i) quotes += "\"\"";
  quotes += "\"\n";
  EXPECT_LT(seconds_of([&] { EXPECT_EQ(parse(quotes).column("t").strings[0].size(), std::size_t{kMany}); }), 20);
  constexpr int kColumns = 200000;
  std::string wide;
  for (int i = 0; i < kColumns; ++i) wide += "c" + std::to_string(i) + (i + 1 < kColumns ? "," : "\n");
  for (int i = 0; i < kColumns; ++i) wide += std::to_string(i) + (i + 1 < kColumns ? "," : "\n");
  EXPECT_LT(seconds_of([&] {
              const HostArray all = parse(wide).matrix();
              EXPECT_EQ(all.as<double>()[kColumns - 1], kColumns - 1);
            }),
            20);
  const std::string error = file_error([&] { parse(wide).column("x"); });
  EXPECT_TRUE(error.ends_with("', 'c19', '… and 199980 more'")) << error;
}

TEST(Csv, LinesAreCountedBehindDoubledQuotes) {
  const CsvTable t = parse("a,b\n\"x\n\"\"\n\"\"y\",1\nz,2\n");
  EXPECT_EQ(t.column("a").strings[0], "x\n\"\n\"y");
  EXPECT_EQ(t.lines, (std::vector<std::int64_t>{2, 5}));
  EXPECT_EQ(file_error([] { parse("a,b\n\"x\n\"\"\n\"\"y\"!\n"); }),
            "t.csv: line 4, column 5: '!' follows a closing quote");
}

TEST(Csv, FieldsReadBack) {
  EXPECT_EQ(csv_field("a b"), "a b");
  EXPECT_EQ(csv_field("a;b"), "a;b");
  EXPECT_EQ(csv_field("a;b", ';'), "\"a;b\"");
  const std::vector<std::string> texts = {"a,b", "say \"x\"", "two\nlines", "", "cr\r"};
  std::string file = "v,w\n";
  for (const std::string& text : texts) file += csv_field(text) + ",\n";
  EXPECT_EQ(parse(file).column("v").strings, texts);
  // a carriage return in the last field is not part of the line end
  EXPECT_EQ(parse("v,w\n1," + csv_field("cr\r") + "\n").column("w").strings, std::vector<std::string>{"cr\r"});
}

TEST(Csv, SurvivesDamage) {
  const std::string text = "x,name\n1,\"a\"\"b\"\r\n2.5,\"c,\nd\"\n";
  expect_damage_is_survived(as_bytes(text), [](std::span<const std::byte> b) { read_csv(b, "piece"); });
}

}  // namespace
}  // namespace catenary::io
