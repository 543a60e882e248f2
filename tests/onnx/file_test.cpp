// Malformed and hostile ONNX files: each gives an error that names the file.

#include <gtest/gtest.h>

#include <filesystem>

#include "catenary/core/error.h"
#include "catenary/onnx/model.h"
#include "tests/folder.h"
#include "tests/onnx/writer.h"
#include "tests/texts.h"

namespace catenary {
namespace {

using namespace onnx_writer;
using tests::Folder;
using tests::has;

Graph with_weight(const Message& weight) {
  return {{node("Add", {"x", "w"}, {"y"})}, {weight}, {value("x", {-1})}, {value("y", {-1})}};
}

/// The message with which a file is refused. `where` is its folder.
std::string refusal(const Folder& where, const std::string& bytes) {
  const std::string path = where.path + "/model.onnx";
  write(path, bytes);
  try {
    onnx::Model net(path);
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find(path), std::string::npos) << error.what();
    return error.what();
  }
  ADD_FAILURE() << "the file was opened";
  return "";
}

Message external(const std::string& location, const std::string& offset = "", const std::string& length = "") {
  Message m;
  m.integer(1, 2).integer(2, 1).text(8, "w").integer(14, 1);
  m.message(13, Message().text(1, "location").text(2, location));
  if (!offset.empty()) m.message(13, Message().text(1, "offset").text(2, offset));
  if (!length.empty()) m.message(13, Message().text(1, "length").text(2, length));
  return m;
}

TEST(OnnxFile, EachTruncationIsRefused) {
  const Folder folder;
  const std::string whole = model(with_weight(tensor("w", {2}, {1, 2})).message()).bytes;
  // without the last field, which has the opset, the file is complete but names no opset
  for (std::size_t length = 0; length < whole.size(); ++length) refusal(folder, whole.substr(0, length));
}

TEST(OnnxFile, ShapesMustFitTheData) {
  const Folder folder;
  const auto refused = [&](const Message& weight) {
    return refusal(folder, model(with_weight(weight).message()).bytes);
  };
  EXPECT_TRUE(has(refused(tensor("w", {3}, {1, 2})), "2 elements are given, but the shape has 3"));
  EXPECT_TRUE(has(refused(tensor("w", {-1}, {1, 2})), "impossible shape (-1)"));
  const std::int64_t huge = std::int64_t{1} << 40;
  EXPECT_TRUE(has(refused(tensor("w", {huge, huge}, {})), "impossible shape"));
  EXPECT_TRUE(has(refused(tensor("w", {huge}, {})), "0 elements are given"));
  EXPECT_TRUE(has(refused(Message().integer(1, 1).integer(2, 8).text(6, "a").text(8, "w")),
                  "elements of STRING are not supported"));
}

TEST(OnnxFile, ExternalDataStaysInTheFolder) {
  const Folder outer, folder;
  const std::vector<float> values = {3, 4, 5};
  const std::string bytes(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float));
  write(folder.path + "/weights", bytes);
  write(outer.path + "/secret", bytes);
  const auto file = [&](const Message& weight) { return model(with_weight(weight).message()).bytes; };
  write(folder.path + "/model.onnx", file(external("weights", "4", "8")));
  EXPECT_EQ(onnx::Model(folder.path + "/model.onnx").params()[0].array().to_vector<float>(),
            (std::vector<float>{4, 5}));
  const auto refused = [&](const Message& weight) { return refusal(folder, file(weight)); };
  const std::string must = "external data must be a file in the model's folder";
  const std::string secret = "../" + std::filesystem::path(outer.path).filename().string() + "/secret";
  EXPECT_TRUE(has(refused(external(secret, "0", "8")), must));
  EXPECT_TRUE(has(refused(external(outer.path + "/secret", "0", "8")), must));
  std::filesystem::create_symlink(outer.path + "/secret", folder.path + "/link");
  EXPECT_TRUE(has(refused(external("link", "0", "8")), must));
  EXPECT_TRUE(has(refused(external(".", "0", "8")), must));
  EXPECT_TRUE(has(refused(external("none")), "which does not exist"));
  EXPECT_TRUE(has(refused(external("weights", "8", "8")), "needs bytes 8 to 16 of 'weights', which has 12"));
  EXPECT_TRUE(has(refused(external("weights", "18446744073709551608", "8")), "not a number of bytes"));
  EXPECT_TRUE(has(refused(external("weights", "-1", "8")), "not a number of bytes"));
}

TEST(OnnxFile, DeepNestingIsRefused) {
  const Folder folder;
  Message graph = Graph{}.message();
  for (int i = 0; i < 40; ++i) {
    const Message branch = Message().text(1, "then_branch").message(6, graph).integer(20, 5);
    graph = Graph{{node("If", {"x"}, {"y"}, {branch})}, {}, {value("x", {1})}, {value("y", {1})}}.message();
  }
  EXPECT_TRUE(has(refusal(folder, model(graph).bytes), "nested more than 32 deep"));
}

}  // namespace
}  // namespace catenary
