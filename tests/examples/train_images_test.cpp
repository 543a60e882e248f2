// Runs train_images as a user would.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <sstream>
#include <variant>

#include "catenary/array/random.h"
#include "catenary/core/os/file.h"
#include "catenary/core/os/process.h"
#include "catenary/io/npz.h"
#include "catenary/io/png.h"
#include "catenary/io/safetensors.h"
#include "tests/examples/helpers.h"
#include "tests/folder.h"
#include "tests/paths.h"

namespace ct = catenary;

namespace {

using namespace examples;
using tests::Folder;

TEST(Examples, TrainImages) {
  const Folder folder;
  ct::random::seed(1);
  for (int i = 0; i < 40; ++i) {  // dark and bright noise, of several sizes and numbers of channels
    const bool bright = i % 2;
    const auto image = ct::io::HostArray::empty(ct::Dtype::uint8, {10 + i % 5, 12 + i % 3, i % 4 < 2 ? 3 : 1});
    const auto noise = ct::random::randint(bright ? 120 : 0, bright ? 256 : 136, ct::Shape{image.size()});
    const auto values = noise.to_vector<int>();
    for (std::size_t k = 0; k < values.size(); ++k) image.as<std::uint8_t>()[k] = static_cast<std::uint8_t>(values[k]);
    const std::string sub = folder / (bright ? "pictures/bright" : "pictures/dark");
    ct::os::make_directories(sub);
    ct::io::write_png(sub + "/" + std::to_string(i) + ".png", image);
  }
  const std::string out = folder / "result";
  const std::string text = output_of("train_images", {folder / "pictures", "-e", "8", "-s", "6", "-b", "8", "-u", "16",
                                                      "-t", "3", "--prefetch", "-o", out});
  EXPECT_TRUE(has(text, "40 images, 2 classes: bright, dark")) << text;
  EXPECT_EQ(log_of(out)[7]["validation/main/accuracy"], 1.0);
  const std::string predicted = output_of("train_images", {"-o", out, "-p", folder / "pictures/bright/1.png"});
  EXPECT_GT(std::stod(predicted), 0.5) << predicted;
  EXPECT_TRUE(has(predicted, "  bright\n")) << predicted;
  const std::string both =
      output_of("train_images", {"-o", out, "-p", folder / "pictures/bright/1.png", folder / "pictures/dark/0.png"});
  EXPECT_TRUE(both.starts_with(folder / "pictures/bright/1.png\n" + predicted + (folder / "pictures/dark/0.png\n")))
      << both;
  EXPECT_TRUE(has(error_of("train_images", {folder / "pictures/dark"}), "sub-folder"));
  EXPECT_TRUE(has(error_of("train_images", {"pictures", "-p", "1.png"}, 2), "--help"));
  EXPECT_TRUE(
      has(error_of("train_images", {"-o", folder / "none", "-p", "1.png"}), "none: there is no model of train_images"));
  ct::os::make_directories(folder / "alone/dark");
  ct::io::write_png(folder / "alone/dark/1.png", ct::io::HostArray::empty(ct::Dtype::uint8, {4, 4, 3}));
  EXPECT_TRUE(has(error_of("train_images", {folder / "alone"}), "two or more sub-folders"));
  ct::os::write_file(folder / "pictures/dark/broken.png", "no image");
  EXPECT_TRUE(has(error_of("train_images", {folder / "pictures", "-o", folder / "broken"}),
                  "broken.png: neither a PNG nor a JPEG image; such files can be left out (the option skip_broken)"));
  ct::os::write_file(folder / "pictures/bright/moving.gif", "GIF89a");
  EXPECT_TRUE(has(error_of("train_images", {folder / "pictures"}), "moving.gif: images of this kind cannot be read"));
  const std::string rest = output_of("train_images", {folder / "pictures", "--skip-broken", "-e", "1", "-s", "6", "-b",
                                                      "8", "-u", "16", "-o", folder / "rest"});
  EXPECT_TRUE(has(rest, "40 images, 2 classes: bright, dark\nskipped: " + (folder / "pictures/bright/moving.gif: ")))
      << rest;
  EXPECT_TRUE(has(rest, "skipped: " + (folder / "pictures/dark/broken.png: neither"))) << rest;
}

/// Runs examples/train_images/README.md.
TEST(Examples, TrainImagesLearnsShapesByConvolutions) {
  const Folder folder;
  const std::string shapes = folder / "shapes";
  EXPECT_TRUE(has(output_of("train_images", {shapes, "--make-shapes"}), "Wrote 600 images to " + shapes));
  const auto accuracy = [&](const std::string& model, const std::string& epochs) {
    const std::string out = folder / model;
    const std::string text = output_of("train_images", {shapes, "-m", model, "-e", epochs, "-o", out});
    EXPECT_TRUE(has(text, "600 images, 3 classes: disc, square, triangle")) << text;
    return log_of(out).back()["validation/main/accuracy"].get<double>();
  };
  EXPECT_GE(accuracy("cnn", "10"), 0.9);
  EXPECT_LT(accuracy("mlp", "5"), 0.75);
  const std::string predicted =
      output_of("train_images", {"-o", folder / "cnn", "-p", shapes + "/disc/000.png", shapes + "/square/001.png"});
  EXPECT_TRUE(has(predicted, "  triangle\n")) << predicted;
}

/// Dark and bright images of 8 x 8 pixels.
std::string dark_and_bright(const Folder& folder) {
  for (int i = 0; i < 20; ++i) {
    const auto image = ct::io::HostArray::empty(ct::Dtype::uint8, {8, 8, 3});
    for (int k = 0; k < 192; ++k)
      image.as<std::uint8_t>()[k] = static_cast<std::uint8_t>((i % 2 ? 150 : 20) + 7 * k % 80);
    const std::string sub = folder / (i % 2 ? "pictures/bright" : "pictures/dark");
    ct::os::make_directories(sub);
    ct::io::write_png(sub + "/" + std::to_string(i) + ".png", image);
  }
  return folder / "pictures";
}
std::vector<float> values_in(const std::string& file, const std::string& key) {
  const ct::io::HostArray array = ct::io::NpzReader(file).read_array(key);
  return {array.as<float>(), array.as<float>() + array.size()};
}

TEST(Examples, TrainImagesBeginsWithWeights) {
  const Folder folder;
  const std::string pictures = dark_and_bright(folder);
  const auto train = [&](const std::string& out, std::vector<std::string> more) {
    more.insert(more.begin(), {pictures, "-s", "8", "-b", "8", "-o", folder / out});
    output_of("train_images", more);
    return log_of(folder / out)[0]["main/loss"].get<double>();
  };
  for (const std::string model : {"cnn", "mlp"}) {
    const double fresh = train(model, {"-m", model, "-u", "4", "-e", "80"});
    const std::string saved = folder / (model + "/model.npz");
    EXPECT_LT(train("more_" + model, {"-m", model, "-e", "1", "-w", saved}), fresh / 2) << "the last layer, too";
    const std::string other = model == "cnn" ? "mlp" : "cnn";
    EXPECT_TRUE(has(error_of("train_images", {pictures, "-m", other, "-w", saved}),
                    saved + ": these are weights of --model " + model + ", not " + other));
  }
  // a third class: loads all but the last layer
  ct::os::make_directories(folder / "pictures/gray");
  for (int i = 0; i < 10; ++i)
    ct::os::write_file(folder / ("pictures/gray/" + std::to_string(i) + ".png"),
                       ct::os::read_file(folder / "pictures/dark/0.png"));
  train("three", {"-m", "cnn", "-e", "1", "-w", folder / "cnn/model.npz"});
  EXPECT_EQ(ct::io::NpzReader(folder / "three/model.npz").read_array("predictor/fc/W").shape, (ct::Shape{3, 32}));
  EXPECT_TRUE(has(output_of("train_images", {"-o", folder / "three", "-p", pictures + "/dark/0.png"}), "  gray\n"));
}

TEST(Examples, TrainImagesTellsWhichClassesAreTakenForWhich) {
  const Folder folder;
  const std::string pictures = dark_and_bright(folder), out = folder / "out";
  const std::string text = output_of(
      "train_images", {pictures, "-m", "mlp", "-u", "8", "-s", "8", "-b", "8", "-e", "30", "--lr", "0.01", "-o", out});
  // a fifth of 20 images, all correct
  EXPECT_TRUE(has(text, "\nright: 4 of 4 images (1.0000)\n        predicted\nlabel   bright   dark\nbright  ")) << text;
  EXPECT_TRUE(has(text, "\ndark         0  ")) << text;
  EXPECT_EQ(ct::io::read_png(out + "/confusion.png").shape[2], 3);
  // other images, with classes in another order: "dark" contains bright images
  ct::os::make_directories(folder / "others/dark");
  for (const char* name : {"1.png", "3.png", "5.png"})
    ct::os::write_file(folder / ("others/dark/" + std::string(name)), ct::os::read_file(pictures + "/bright/" + name));
  const std::string said = output_of("train_images", {folder / "others", "--evaluate", "-o", out});
  EXPECT_TRUE(has(said,
                  "3 images, 1 classes: dark\n\n\nright: 0 of 3 images (0.0000)\n        predicted\n"
                  "label   bright   dark\nbright       0      0\ndark         3      0\n"))
      << said;
  ct::os::make_directories(folder / "others/green");
  ct::os::write_file(folder / "others/green/1.png", ct::os::read_file(pictures + "/bright/1.png"));
  EXPECT_TRUE(has(error_of("train_images", {folder / "others", "--evaluate", "-o", out}),
                  "others/green: " + out + "/model.npz knows no such class, only bright, dark"));
  ct::os::write_file(folder / "table.csv", std::string_view("x,y\n1,a\n2,b\n3,a\n4,b\n5,a\n6,b\n"));
  output_of("train_csv", {folder / "table.csv", "y", "-e", "1", "-o", folder / "table"});
  EXPECT_EQ(error_of("train_images", {pictures, "--evaluate", "-o", folder / "table"}),
            "train_images: " + (folder / "table/model.npz") +
                ": not a model of train_images; name the folder of one with -o\n");
  EXPECT_EQ(error_of("train_csv", {"-p", folder / "table.csv", "-o", out}),
            "train_csv: " + out + "/model.npz: not a model of train_csv; name the folder of one with -o\n");
  EXPECT_TRUE(has(error_of("train_images", {folder / "others", "--evaluate", "-o", folder / "none"}),
                  "there is no model of train_images"));
  EXPECT_TRUE(
      has(error_of("train_images", {pictures, "--lr", "-1"}, 2), "--lr: expected a number of at least 0, got '-1'"));
}

TEST(Examples, TrainImagesTunesTheLastLayer) {
  const Folder folder;
  const std::string pictures = dark_and_bright(folder);
  const auto train = [&](const std::string& out, std::vector<std::string> more) {
    more.insert(more.begin(), {pictures, "-s", "8", "-b", "8", "-u", "4", "-o", folder / out});
    output_of("train_images", more);
    return folder / (out + "/model.npz");
  };
  EXPECT_TRUE(has(error_of("train_images", {pictures, "--freeze"}, 2),
                  "--freeze keeps the weights given by --weights; give both"));
  for (const std::string model : {"cnn", "mlp"}) {
    const std::string before = train(model, {"-m", model, "-e", "1"});
    const std::string after = train("tuned_" + model, {"-m", model, "-e", "2", "-w", before, "--freeze", "--augment"});
    const ct::io::NpzReader file(before);
    for (const std::string& name : file.names()) {
      if (!name.starts_with("predictor/") || name.ends_with("image_shape") || name.ends_with("/N")) continue;
      const bool last = name.starts_with("predictor/fc/") || name.starts_with("predictor/l3/");
      EXPECT_EQ(values_in(before, name) == values_in(after, name), !last) << name;
    }
  }
  // augmentation changes the result, and a rate of 0 learns nothing
  const auto first_weights = [&](const std::string& out, const std::vector<std::string>& more) {
    return values_in(train(out, more), "predictor/block1/conv/W");
  };
  const auto plain = first_weights("plain", {"-e", "1"});
  EXPECT_EQ(first_weights("again", {"-e", "1"}), plain);
  EXPECT_NE(first_weights("varied", {"-e", "1", "--augment"}), plain);
  const auto fixed = first_weights("still", {"-e", "1", "--lr", "0"});
  EXPECT_NE(fixed, plain);
  EXPECT_EQ(first_weights("longer", {"-e", "3", "--lr", "0"}), fixed);
}

TEST(Examples, AnotherModelIsNotResumed) {
  const Folder folder;
  const std::string pictures = dark_and_bright(folder);
  output_of("train_images", {pictures, "-m", "mlp", "-u", "4", "-s", "8", "-b", "8", "-e", "1", "-o", folder / "mlp"});
  const std::string snapshot = snapshot_in(folder / "mlp");
  EXPECT_EQ(error_of("train_images", {pictures, "-m", "cnn", "-s", "8", "-b", "8", "-e", "2", "-r", snapshot}),
            "train_images: " + snapshot + ": the snapshot of another --model than cnn\n");
  const std::string said =
      error_of("train_mnist", {"-m", "cnn", "-n", "100", "-e", "2", "-o", folder / "m", "-r", snapshot});
  EXPECT_FALSE(has(said, "quantise")) << said;
  EXPECT_TRUE(has(said, snapshot)) << said;
}

/// A file with names and shapes of torchvision's ResNet-18, and with recognisable statistics.
std::string torchvisions_resnet18(const Folder& folder) {
  const ct::io::NpzReader file(tests::source_path("tests/data/torch/torchvision.npz"));
  const auto texts = [&](const char* what) { return std::get<ct::io::StringArray>(file.read(what)).values; };
  const std::vector<std::string> names = texts("resnet18/names"), shapes = texts("resnet18/shapes");
  std::vector<std::pair<std::string, ct::io::HostArray>> tensors;
  for (std::size_t k = 0; k < names.size(); ++k) {
    std::istringstream words(shapes[k]);
    ct::Shape shape;
    for (std::int64_t extent; words >> extent;) shape.push_back(extent);
    const bool count = names[k].ends_with("num_batches_tracked");
    const auto array = ct::io::HostArray::empty(count ? ct::Dtype::int64 : ct::Dtype::float32, shape);
    if (count) {
      *array.as<std::int64_t>() = 9;
    } else {
      for (std::int64_t i = 0; i < array.size(); ++i)
        array.as<float>()[i] = names[k].ends_with("running_mean") ? 1000.f
                               : shape.size() == 1                ? 1.f
                                                                  : 0.01f * static_cast<float>(i * 7 % 13 - 6);
    }
    tensors.emplace_back(names[k], array);
  }
  ct::io::write_safetensors(folder / "resnet18.safetensors", tensors);
  return folder / "resnet18.safetensors";
}

TEST(Examples, TrainImagesBeginsWithTorchvisionsResNet18) {
  const Folder folder;
  const std::string pictures = dark_and_bright(folder), theirs = torchvisions_resnet18(folder);
  for (const std::string& file : {theirs, folder / "ours.npz", folder / "ours.safetensors"}) {
    if (file != theirs) {
      const auto converted = ct::os::run_process(
          {tests::build_path("bin/catenary"), "convert", theirs, "-o", file, "--from", "torchvision"}, {.timeout = 60});
      ASSERT_TRUE(converted.ok()) << converted.errors;
    }
    const std::string out = folder / "out";
    output_of("train_images", {pictures, "-m", "resnet18", "-w", file, "-s", "16", "-b", "8", "-e", "1", "-o", out});
    const std::string saved = out + "/model.npz";
    // two updates have moved the mean by a fifth
    for (const float mean : values_in(saved, "predictor/net/bn1/avg_mean")) EXPECT_NEAR(mean, 810, 30) << file;
    EXPECT_EQ(ct::io::NpzReader(saved).read_array("predictor/net/fc6/W").shape, (ct::Shape{2, 512}));
    EXPECT_TRUE(has(output_of("train_images", {"-o", out, "-p", pictures + "/dark/0.png"}), "  dark\n"));
  }
  EXPECT_TRUE(has(error_of("train_images", {pictures, "-w", theirs}),
                  "--model cnn begins with a model.npz of this program; --model resnet18 with weights of torchvision"));
}

/// A file of an older version with a single kind of network.
TEST(Examples, TrainImagesReadsWhatOlderOnesSaved) {
  const Folder folder;
  const std::string pictures = dark_and_bright(folder), out = folder / "out", old = folder / "old";
  output_of("train_images", {pictures, "-m", "mlp", "-u", "4", "-s", "8", "-b", "8", "-e", "20", "-o", out});
  ct::os::make_directories(old);
  const ct::io::NpzReader reader(out + "/model.npz");
  ct::io::NpzWriter writer(old + "/model.npz");
  for (const std::string& name : reader.names()) {
    const ct::io::NpyValue value = reader.read(name);
    if (const auto* array = std::get_if<ct::io::HostArray>(&value)) writer.write(name, *array);
    if (const auto* text = std::get_if<std::string>(&value); text && name != "model") writer.write(name, *text);
  }
  writer.finish();
  const auto predicted = [&](const std::string& from) {
    return output_of("train_images", {"-o", from, "-p", pictures + "/bright/1.png"});
  };
  EXPECT_EQ(predicted(old), predicted(out));
}

TEST(Examples, TrainImagesStopsWhereLossesAreNoNumbers) {
  const Folder folder;
  for (int i = 0; i < 10; ++i) {
    const auto image = ct::io::HostArray::empty(ct::Dtype::uint8, {2, 2, 3});
    std::fill_n(image.as<std::uint8_t>(), 12, static_cast<std::uint8_t>(i == 3 ? 255 : 10 * (i % 2)));
    const std::string sub = folder / (i % 2 ? "pictures/odd" : "pictures/even");
    ct::os::make_directories(sub);
    ct::io::write_png(sub + "/" + std::to_string(i) + ".png", image);
  }
  const std::string out = folder / "out";
  const std::vector<std::string> arguments = {
      folder / "pictures", "-m", "mlp", "-s", "2", "-u", "4", "-b", "4", "-o", out};
  const auto with = [&](std::vector<std::string> more) {
    more.insert(more.begin(), arguments.begin(), arguments.end());
    return more;
  };
  output_of("train_images", with({"-e", "2"}));
  const std::string snapshot = snapshot_in(out), bad = folder / "bad.npz";
  // weights for which a bright image overflows float32 and a dark one does not
  const ct::io::NpzReader reader(snapshot);
  ct::io::NpzWriter writer(bad);
  for (const std::string& name : reader.names()) {
    const ct::io::NpyValue value = reader.read(name);
    if (const auto* array = std::get_if<ct::io::HostArray>(&value)) {
      if (name == "updater/model:main/predictor/l1/W")
        for (std::int64_t i = 0; i < array->size(); ++i) array->as<float>()[i] = 2e38f;
      writer.write(name, *array);
    } else if (const auto* text = std::get_if<std::string>(&value)) {
      writer.write(name, *text);
    } else {
      writer.write(name, ct::io::None{});
    }
  }
  writer.finish();
  const auto before = ct::os::read_file(out + "/model.npz");
  const std::string said = error_of("train_images", with({"-e", "4", "--resume", bad}));
  EXPECT_TRUE(said.starts_with("train_images: the loss is ")) << said;
  EXPECT_TRUE(has(said, "such a loss: " + (folder / "pictures/odd/3.png") + "\n")) << said;
  EXPECT_EQ(ct::os::read_file(out + "/model.npz"), before);
  EXPECT_TRUE(has(error_of("train_images", with({"-e", "4", "--resume", snapshot, "--gray"})), "or --gray"));
  EXPECT_EQ(ct::os::read_file(out + "/model.npz"), before);
  // without the damage it resumes
  output_of("train_images", with({"-e", "4", "--resume", snapshot}));
  EXPECT_EQ(log_of(out).size(), 4u);
}

}  // namespace
