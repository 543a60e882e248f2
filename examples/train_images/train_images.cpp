// Trains a classifier on a folder of your images, with one sub-folder for each class.

#include <catenary/catenary.h>
#include <catenary/core/command_line.h>
#include <catenary/core/os/file.h>
#include <catenary/datasets/transforms.h>
#include <catenary/io/identify.h>
#include <catenary/io/npz.h>
#include <catenary/io/png.h>
#include <catenary/io/safetensors.h>
#include <catenary/training/extensions/plot.h>
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cmath>
#include <numbers>

namespace ct = catenary;
namespace D = ct::datasets;
namespace F = ct::functions;
namespace L = ct::links;
namespace T = ct::training;
namespace X = ct::training::extensions;

/// The base of the networks: features, and a last layer with an output for each class.
struct Network : ct::Chain {
  ct::Persistent image_shape;  // channels, height, width, saved with the weights to convert new images equally
  bool augment = false;        // in training, shift images by up to an eighth and mirror them, at random
  bool freeze = false;         // compute features in test mode, and do not train them

  virtual ct::Variable features(const ct::Variable& x) = 0;
  virtual L::Linear& last() = 0;
  ct::Variable operator()(const ct::Variable& x) {
    const ct::Variable images = augment && ct::config.train ? varied(x) : x;
    if (!freeze) return last()(features(images));
    const auto testing = ct::test_mode();
    const ct::Variable fixed = [&] {
      const auto scope = ct::no_backprop_mode();
      return features(images);
    }();
    return last()(fixed);
  }

 private:
  static ct::Variable varied(const ct::Variable& x) {
    const std::int64_t height = x.shape()[2], width = x.shape()[3];
    return D::random_flip(D::random_crop(x.array(), {height, width}, {.pad = std::max(height, width) / 8}));
  }
};

/// Fully connected layers: for small images with a centred object.
struct MLP : Network {
  static constexpr const char *kName = "mlp", *kFirst = "l1", *kLast = "l3";
  L::Linear l1, l2, l3;
  MLP(int n_units, int n_out) : l1(n_units ? n_units : 256), l2(n_units ? n_units : 256), l3(n_out) {}
  CT_LINKS(l1, l2, l3, image_shape)
  ct::Variable features(const ct::Variable& x) override { return F::relu(l2(F::relu(l1(x)))); }  // flattens each image
  L::Linear& last() override { return l3; }
  ct::Array scaled(const ct::Array& image) const { return image / 127.5 - 1.0; }  // from 0 … 255
};

/// A 3 x 3 convolution, a normalization, a ReLU.
struct Block : ct::Chain {
  L::Convolution2D conv;
  L::BatchNormalization bn;
  explicit Block(std::int64_t channels) : conv({}, channels, 3, {.pad = 1, .nobias = true}), bn(channels) {}
  CT_LINKS(conv, bn)
  ct::Variable operator()(const ct::Variable& x) const { return F::relu(bn(conv(x))); }
};

/// Four convolutions, each at half the resolution of the previous one, and the mean over all positions, so that the
/// object may be anywhere.
struct CNN : Network {
  static constexpr const char *kName = "cnn", *kFirst = "block1/conv", *kLast = "fc";
  Block block1, block2, block3, block4;
  L::Linear fc;
  CNN(int n_units, int n_out)
      : block1(n_units ? n_units : 16),
        block2(2 * block1.conv.out_channels),
        block3(4 * block1.conv.out_channels),
        block4(8 * block1.conv.out_channels),
        fc(n_out) {}
  CT_LINKS(block1, block2, block3, block4, fc, image_shape)
  ct::Variable features(const ct::Variable& x) override {
    ct::Variable h = F::max_pooling_2d(block1(x), 2);
    h = F::max_pooling_2d(block2(h), 2);
    h = F::max_pooling_2d(block3(h), 2);
    return F::mean(block4(h), {2, 3});
  }
  L::Linear& last() override { return fc; }
  ct::Array scaled(const ct::Array& image) const { return image / 127.5 - 1.0; }
};

/// torchvision's ResNet-18, so that its weights can be used as initial weights.
struct ResNet18 : Network {
  static constexpr const char *kName = "resnet18", *kFirst = "net/conv1", *kLast = "net/fc6";
  L::ResNet18Layers net;
  ResNet18(int, int n_out) : net({.classes = n_out, .torchvision = true}) {}
  CT_LINKS(net, image_shape)
  ct::Variable features(const ct::Variable& x) override { return net(x, {"pool5"}).at("pool5"); }
  L::Linear& last() override { return net.fc6; }
  ct::Array scaled(const ct::Array& image) const { return net.prepare(image, {}); }
};

struct Args {
  std::string folder, device = "cpu", model = CNN::kName, out = "result", resume, weights;
  std::vector<std::string> predict;
  int epochs = 20, units = 0, size = 32, batch = 32, threads = 2;
  std::uint64_t seed = 0;
  double lr = 0.001;
  bool gray = false, skip_broken = false, make_shapes = false, prefetch = false;
  bool augment = false, freeze = false, evaluate = false;

  D::ImageDatasetOptions images() const {
    return {.channels = gray ? 1 : 3, .height = size, .width = size, .skip_broken = skip_broken};
  }
};

/// The names of the classes and of the network, saved with the weights.
struct Classes {
  std::vector<std::string> names = {};
  std::string model = MLP::kName;
  void serialize(ct::Serializer& s) {
    s("classes", names);
    if (!s.loading() || s.contains("model")) s("model", model);  // missing in files of older versions
  }
};

/// The content of model.npz.
struct Saved {
  L::Classifier& model;
  Classes classes;
  void serialize(ct::Serializer& s) {
    model.serialize(s);
    classes.serialize(s);
  }
};

/// A table of labels and predictions, or the most common mistakes if there are many classes.
std::string text_of(const X::ConfusionMatrix& matrix) {
  constexpr std::size_t kMostColumns = 12, kMostMistakes = 10;
  const std::vector<std::string>& names = matrix.names;
  std::string text;
  if (names.size() <= kMostColumns) {
    std::size_t width = 5;
    for (const std::string& name : names) width = std::max(width, name.size());
    text = fmt::format("{:<{}}  predicted\n{:<{}}", "", width, "label", width);
    for (const std::string& name : names) text += fmt::format("  {:>5}", name);
    for (std::size_t i = 0; i < names.size(); ++i) {
      text += fmt::format("\n{:<{}}", names[i], width);
      for (std::size_t k = 0; k < names.size(); ++k)
        text += fmt::format("  {:>{}}", matrix.counts[i][k], std::max<std::size_t>(5, names[k].size()));
    }
    return text + "\n";
  }
  std::vector<std::pair<std::int64_t, std::string>> mistakes;
  for (std::size_t i = 0; i < names.size(); ++i)
    for (std::size_t k = 0; k < names.size(); ++k)
      if (i != k && matrix.counts[i][k] > 0)
        mistakes.emplace_back(-matrix.counts[i][k], fmt::format("{} taken for {}", names[i], names[k]));
  std::ranges::sort(mistakes);
  mistakes.resize(std::min(mistakes.size(), kMostMistakes));
  for (const auto& [count, what] : mistakes) text += fmt::format("{:6}  {}\n", -count, what);
  return text;
}

/// Loads a network saved by this program.
template <class Net>
Net saved_network(const std::string& file, const Classes& classes) {
  const ct::Shape first = ct::io::NpzReader(file).read_array(fmt::format("predictor/{}/W", Net::kFirst)).shape;
  Net net(static_cast<int>(first[0]), static_cast<int>(classes.names.size()));
  ct::serializers::load_npz(file, net, "predictor/");
  return net;
}

/// Loads a ResNet-18 with weights of torchvision or timm, in their naming or converted by `catenary convert`.
L::ResNet18Layers foreign_resnet(const std::string& file) {
  const auto with = [](const ct::Shape& last) { return L::ResNet18Layers({.classes = last[0], .torchvision = true}); };
  if (ct::io::identify(file) == ct::io::FileKind::npz) {
    L::ResNet18Layers net = with(ct::io::NpzReader(file).read_array("fc6/W").shape);
    ct::serializers::load_npz(file, net);
    return net;
  }
  const ct::io::SafetensorsReader reader(file);
  const bool converted = reader.contains("fc6.W");
  L::ResNet18Layers net = with(reader.tensor(converted ? "fc6.W" : "fc.weight").shape);
  ct::serializers::load_safetensors(
      file, net, {.names = converted ? ct::serializers::Names() : ct::serializers::Names("torchvision")});
  return net;
}

/// Loads weights into the network. If the file has other classes, the last layer starts with new weights.
template <class Net>
void begin_with(Net& net, const std::string& file, const std::vector<std::string>& classes) {
  Classes before;
  if (ct::io::identify(file) == ct::io::FileKind::npz && ct::io::NpzReader(file).contains("classes")) {
    ct::serializers::load_npz(file, before);
    if (before.model != Net::kName)
      throw ct::ValueError(fmt::format("{}: these are weights of --model {}, not {}", file, before.model, Net::kName));
    net = saved_network<Net>(file, before);
  } else if constexpr (std::is_same_v<Net, ResNet18>) {
    net.net = foreign_resnet(file);
  } else {
    throw ct::ValueError(
        fmt::format("{}: --model {} begins with a model.npz of this program; --model resnet18 with "
                    "weights of torchvision, too",
                    file, Net::kName));
  }
  if (before.names != classes) net.last() = L::Linear(static_cast<std::int64_t>(classes.size()));
}

/// Converts pixels to the network's input.
template <class Net>
D::TransformDataset scaled_for(const Net& net, const ct::Dataset& images) {
  return D::TransformDataset(images, [net](ct::Example example) {
    example.values[0] = net.scaled(example.values[0]);
    return example;
  });
}

/// Prints which classes are confused, and draws the matrix.
void confuse(const Args& args, Network& net, const ct::Dataset& examples, const std::vector<std::string>& names,
             const std::vector<int>& labels_there = {}) {
  const ct::Device device = ct::get_device(args.device);
  const auto testing = ct::test_mode();
  const auto scope = ct::no_backprop_mode();
  X::ConfusionMatrix matrix{names, std::vector(names.size(), std::vector<std::int64_t>(names.size()))};
  std::int64_t right = 0;
  const ct::iterators::MultithreadIterator batches(
      examples, args.batch, {.repeat = false, .shuffle = false, .n_threads = args.threads, .n_prefetch = 4});
  while (const auto batch = batches.next()) {
    const ct::Batch columns = ct::concat_examples(*batch, device);
    const std::vector<int> predicted = ct::argmax(net(columns[0]).array(), 1).to_vector<int>();
    const std::vector<int> labels = columns[1].array().to_vector<int>();
    for (std::size_t i = 0; i < labels.size(); ++i) {
      const int label = labels_there.empty() ? labels[i] : labels_there[static_cast<std::size_t>(labels[i])];
      ++matrix.counts[static_cast<std::size_t>(label)][static_cast<std::size_t>(predicted[i])];
      right += label == predicted[i];
    }
  }
  fmt::print("\nright: {} of {} images ({:.4f})\n{}", right, examples.size(),
             static_cast<double>(right) / static_cast<double>(std::max<std::int64_t>(examples.size(), 1)),
             text_of(matrix));
  X::plot(args.out + "/confusion.png", matrix);
}

template <class Net>
Net new_network(const Args& args, const std::vector<std::string>& classes) {
  Net net(args.units, static_cast<int>(classes.size()));
  if (!args.weights.empty()) begin_with(net, args.weights, classes);
  net.image_shape = ct::array({args.images().channels, args.size, args.size});
  net.augment = args.augment;
  net.freeze = args.freeze;
  return net;
}

D::ImageFolderDataset images_of(const Args& args) {
  const D::ImageFolderDataset images(args.folder, args.images());
  fmt::print("{} images, {} classes: {}\n", images.size(), images.class_names().size(),
             fmt::join(images.class_names(), ", "));
  for (const std::string& why : images.broken()) fmt::print("skipped: {}\n", why);
  fmt::print("\n");
  return images;
}

/// Resumes from a snapshot.
template <class Net>
void resume(const Args& args, const Net& net, T::Trainer& trainer) {
  if (const ct::io::NpzReader file(args.resume);
      file.contains("updater/optimizer:main/t") &&
      !file.contains(fmt::format("updater/model:main/predictor/{}/W", Net::kFirst)))
    throw ct::ValueError(fmt::format("{}: the snapshot of another --model than {}", args.resume, Net::kName));
  const ct::Persistent& shape = net.image_shape;
  const std::vector<int> wanted = shape.array().template to_vector<int>();
  ct::serializers::load_npz(args.resume, trainer);
  if (shape.array().template to_vector<int>() != wanted)
    throw ct::ValueError(args.resume + ": the snapshot of images of another --size, or --gray");
}

template <class Net>
int train(const Args& args) {
  const ct::Device device = ct::get_device(args.device);
  ct::random::seed(args.seed);
  const D::ImageFolderDataset images = images_of(args);
  if (images.class_names().size() < 2)
    throw ct::ValueError(args.folder + ": expected two or more sub-folders, one for each class; found '" +
                         images.class_names().front() + "' alone");
  Net net = new_network<Net>(args, images.class_names());
  const D::TransformDataset examples = scaled_for(net, images);
  const auto [training, test] = D::split_dataset_random(examples, images.size() * 4 / 5, args.seed);

  auto model = L::Classifier(net);
  model.to_device(device);
  auto optimizer = ct::optimizers::Adam({.alpha = args.lr});
  optimizer.setup(model);
  if (args.freeze) {
    net.disable_update();
    net.last().enable_update();
  }
  // other threads read images while the network trains
  const ct::iterators::MultithreadIterator batches(training, std::min<std::int64_t>(args.batch, training.size()),
                                                   {.n_threads = args.threads, .n_prefetch = 4});
  const ct::iterators::MultithreadIterator test_batches(
      test, args.batch, {.repeat = false, .shuffle = false, .n_threads = args.threads, .n_prefetch = 4});
  // ends training if a loss is not finite, and names the images that cause it
  const T::FiniteLoss loss(model, examples, [&](std::int64_t i) { return images.path(i); });
  T::Trainer trainer(
      T::StandardUpdater(batches, optimizer, {.device = device, .loss = loss, .prefetch = args.prefetch}),
      T::Trigger(args.epochs, "epoch"), args.out);
  trainer.extend(X::Evaluator(test_batches, model, {.device = device, .eval_func = loss}));
  trainer.extend(X::snapshot({.n_retains = 1}));
  trainer.extend(X::LogReport());
  trainer.extend(X::PlotReport({"main/accuracy", "validation/main/accuracy"}, "epoch", {.filename = "accuracy.png"}));
  trainer.extend(
      X::PrintReport({"epoch", "main/loss", "validation/main/loss", "main/accuracy", "validation/main/accuracy"}));
  trainer.extend(X::ProgressBar());
  if (!args.resume.empty()) resume(args, net, trainer);
  const auto save = [&] {
    T::check_finite(model);
    ct::serializers::save_npz(args.out + "/model.npz", Saved{model, {images.class_names(), Net::kName}});
    fmt::print("\nThe weights are in {0}/model.npz; train_images -o {0} --predict FILE uses them\n", args.out);
  };
  try {
    trainer.run(false);
  } catch (const T::Interrupted&) {  // Ctrl-C: save the weights so far
    save();
    throw;
  }
  confuse(args, net, test, images.class_names());
  save();
  return 0;
}

/// Evaluates the trained network on a folder whose sub-folders are known classes.
template <class Net>
int evaluate(Args args, const std::string& file, const Classes& classes) {
  Net net = saved_network<Net>(file, classes);
  net.to_device(ct::get_device(args.device));
  const ct::Persistent& image_shape = net.image_shape;
  const std::vector<int> shape = image_shape.array().template to_vector<int>();
  args.gray = shape[0] == 1;
  args.size = shape[1];
  const D::ImageFolderDataset images = images_of(args);
  std::vector<int> labels;
  for (const std::string& name : images.class_names()) {
    const auto known = std::ranges::find(classes.names, name);
    if (known == classes.names.end())
      throw ct::ValueError(fmt::format("{}/{}: {} knows no such class, only {}", args.folder, name, file,
                                       fmt::join(classes.names, ", ")));
    labels.push_back(static_cast<int>(known - classes.names.begin()));
  }
  confuse(args, net, scaled_for(net, images), classes.names, labels);
  return 0;
}

template <class Net>
int predict(const Args& args, const std::string& file, const Classes& classes) {
  Net net = saved_network<Net>(file, classes);
  const ct::Device device = ct::get_device(args.device);
  net.to_device(device);
  const auto scope = ct::test_mode();
  const ct::Persistent& image_shape = net.image_shape;
  const std::vector<int> shape = image_shape.array().to_vector<int>();
  for (const std::string& path : args.predict) {
    const ct::Array image =
        net.scaled(D::read_image(path, {.channels = shape[0], .height = shape[1], .width = shape[2]}));
    const ct::Variable scores = net(image(ct::newaxis).to_device(device));
    const std::vector<float> p = F::softmax(scores).array().to_vector<float>();
    if (args.predict.size() > 1) fmt::print("{}\n", path);
    for (std::size_t i = 0; i < p.size(); ++i) fmt::print("{:8.4f}  {}\n", p[i], classes.names[i]);
  }
  return 0;
}

/// Calls f with a null pointer to the network type of a name.
template <class F>
int with_network(const std::string& name, const F& f) {
  if (name == MLP::kName) return f(static_cast<MLP*>(nullptr));
  if (name == ResNet18::kName) return f(static_cast<ResNet18*>(nullptr));
  return f(static_cast<CNN*>(nullptr));
}

/// --predict and --evaluate
int use(const Args& args) {
  const std::string file = args.out + "/model.npz";
  if (!ct::os::exists(file))
    throw ct::FileError(args.out +
                        ": there is no model of train_images (model.npz is missing); name its folder with -o");
  if (!ct::io::NpzReader(file).contains("predictor/image_shape"))
    throw ct::FileError(file + ": not a model of train_images; name the folder of one with -o");
  Classes classes;
  ct::serializers::load_npz(file, classes);
  return with_network(classes.model, [&]<class Net>(Net*) {
    return args.evaluate ? evaluate<Net>(args, file, classes) : predict<Net>(args, file, classes);
  });
}

/// Writes 600 images of 32 by 32 pixels: discs, squares and triangles of random colours, sizes and positions.
int make_shapes(const Args& args) {
  ct::random::seed(args.seed);
  const ct::Array row = ct::arange(32, ct::Dtype::float32).reshape({32, 1}), column = row.T();
  const auto number = [](double low, double high) {
    return ct::random::uniform(low, high, ct::Shape{}).item<double>();
  };
  for (const std::string kind : {"disc", "square", "triangle"}) {
    ct::os::make_directories(args.folder + "/" + kind);
    for (int i = 0; i < 200; ++i) {
      const double r = number(7, 13);
      const ct::Array y = row - number(r, 31 - r), x = column - number(r, 31 - r);
      const int sides = kind == "square" ? 4 : 3;
      // distance of each point from the shape: for a polygon, from its farthest side
      ct::Array outside = ct::sqrt(x * x + y * y) - r;
      if (kind != "disc") {
        outside = ct::full({32, 32}, -100.0f);
        for (int k = 0; k < sides; ++k) {
          const double angle = 2 * std::numbers::pi * k / sides;
          outside =
              ct::maximum(outside, x * std::cos(angle) + y * std::sin(angle) - r * std::cos(std::numbers::pi / sides));
        }
      }
      const ct::Array inside = (outside < 0).astype(ct::Dtype::float32)(ct::ellipsis, ct::newaxis);
      const auto numbers = [](double low, double high, const ct::Shape& shape) {
        return ct::random::uniform(low, high, shape).astype(ct::Dtype::float32);
      };
      const ct::Array ground = numbers(0, 256, {3}), colour = (ground + numbers(80, 176, {3})) % 256;  // contrasting
      const ct::Array pixels = ground + inside * (colour - ground) + numbers(-15, 15, {32, 32, 3});
      const ct::Array bytes = ct::clip(pixels, 0.0, 255.0).astype(ct::Dtype::uint8);
      ct::io::HostArray image = ct::io::HostArray::empty(ct::Dtype::uint8, bytes.shape());
      bytes.copy_to_host(image.data.get());
      ct::io::write_png(fmt::format("{}/{}/{:03}.png", args.folder, kind, i), image);
    }
  }
  fmt::print("Wrote 600 images to {0}; train on them with train_images {0}\n", args.folder);
  return 0;
}

void add_options(CLI::App& app, Args& args) {
  app.add_option("FOLDER", args.folder, "The folder of images. Not needed with --predict");
  app.add_option("-e,--epoch", args.epochs, "Number of passes over the images")
      ->capture_default_str()
      ->check(ct::command_line::whole_number(1, 1000000));
  app.add_option("-b,--batchsize", args.batch, "Images in a minibatch")
      ->capture_default_str()
      ->check(ct::command_line::whole_number(1, 1000000));
  app.add_option("-m,--model", args.model, "cnn: four convolutions, resnet18: ResNet-18, mlp: fully connected layers")
      ->capture_default_str()
      ->check(ct::command_line::one_of({CNN::kName, ResNet18::kName, MLP::kName}));
  app.add_option(
      "-w,--weights", args.weights,
      "Initial weights: a model.npz of this program, for resnet18 also torchvision's weights as safetensors");
  app.add_option("-l,--lr", args.lr,
                 "Learning rate (Adam's alpha). With --weights, a tenth of the default is often better")
      ->capture_default_str()
      ->check(ct::command_line::number(0, INFINITY));
  app.add_flag("--freeze", args.freeze, "Train only the last layer, and keep the other --weights");
  app.add_flag("--augment", args.augment, "Shift images by up to an eighth and mirror them, at random");
  app.add_option("-u,--unit", args.units,
                 "Channels of cnn's first convolution (default 16), or units of mlp's hidden layers (default 256)")
      ->check(ct::command_line::whole_number(1, 1000000));
  app.add_option("-s,--size", args.size, "Height and width to which all images are resized")
      ->capture_default_str()
      ->check(ct::command_line::whole_number(1, 1000000));
  app.add_flag("--gray", args.gray, "Convert images to gray");
  app.add_flag("--skip-broken", args.skip_broken, "Skip files that cannot be read, and list them");
  app.add_option("-t,--threads", args.threads, "Number of threads that read images")
      ->capture_default_str()
      ->check(ct::command_line::whole_number(1, 1000000));
  app.add_option("-d,--device", args.device, "cpu, or a GPU such as opencl:0")->capture_default_str();
  app.add_option("--seed", args.seed, "Seed of the random numbers")
      ->capture_default_str()
      ->check(ct::command_line::whole_number(0, ~std::uint64_t{0}));
  app.add_option("-o,--out", args.out, "Folder for the results")->capture_default_str();
  app.add_option("-r,--resume", args.resume, "A snapshot to continue from, used with its original options");
  app.add_flag("--make-shapes", args.make_shapes, "Write 600 images of shapes into FOLDER, to try the program");
  app.add_flag("--prefetch", args.prefetch, "Prepare the next minibatch in parallel");
  app.add_flag("--evaluate", args.evaluate, "Evaluate the trained network on the images of FOLDER");
  app.add_option("-p,--predict", args.predict, "Predict the classes of these images with the trained network");
}

int main(int argc, char** argv) {
  Args args;
  CLI::App app("Trains a classifier on a folder of images (PNG, JPEG) with one sub-folder for each class.");
  app.footer("Example: train_images pictures -e 20 -o result\n         train_images -o result --predict new.jpg");
  add_options(app, args);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return ct::command_line::exit(app, error);
  }
  if (args.folder.empty() == args.predict.empty()) {
    fmt::print(
        stderr,
        "train_images: missing arguments; give the folder of the images, or --predict and images (see --help)\n");
    return 2;
  }
  if (args.freeze && args.weights.empty()) {
    fmt::print(stderr, "train_images: --freeze keeps the weights given by --weights; give both\n");
    return 2;
  }
  try {
    if (args.make_shapes) return make_shapes(args);
    if (args.evaluate || !args.predict.empty()) return use(args);
    return with_network(args.model, [&]<class Net>(Net*) { return train<Net>(args); });
  } catch (const std::exception& e) {
    return ct::command_line::failure("train_images", e);
  }
}
