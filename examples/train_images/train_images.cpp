// Trains a classifier on a folder of your own images, with one sub-folder a class.

#include <catenary/catenary.h>
#include <catenary/core/os/file.h>
#include <catenary/io/npz.h>
#include <fmt/format.h>

#include <CLI/CLI.hpp>

namespace ct = catenary;
namespace D = ct::datasets;
namespace F = ct::functions;
namespace L = ct::links;
namespace T = ct::training;
namespace X = ct::training::extensions;

struct MLP : ct::Chain {
  L::Linear l1, l2, l3;
  ct::Persistent image_shape;  // channels, height, width; saved with the weights, so that new images become alike
  MLP(int n_units, int n_out) : l1(n_units), l2(n_units), l3(n_out) {}
  CT_LINKS(l1, l2, l3, image_shape)
  ct::Variable operator()(const ct::Variable& x) { return l3(F::relu(l2(F::relu(l1(x))))); }  // flattens each image
};

struct Args {
  std::string folder, device = "cpu", out = "result", resume;
  std::vector<std::string> predict;
  int epochs = 20, units = 256, size = 32, batch = 32, threads = 2;
  std::uint64_t seed = 0;
  bool gray = false, skip_broken = false;

  D::ImageDatasetOptions images() const {
    return {.channels = gray ? 1 : 3, .height = size, .width = size, .skip_broken = skip_broken};
  }
};

/// The names of the classes, saved with the weights.
struct Classes {
  std::vector<std::string> names = {};
  void serialize(ct::Serializer& s) { s("classes", names); }
};

/// What model.npz holds.
struct Saved {
  L::Classifier& model;
  Classes classes;
  void serialize(ct::Serializer& s) {
    model.serialize(s);
    classes.serialize(s);
  }
};

/// Values of 0 to 255 become -1 to 1.
ct::Array scaled(const ct::Array& image) { return image / 127.5 - 1.0; }

int train(const Args& args) {
  const ct::Device device = ct::get_device(args.device);
  ct::random::seed(args.seed);
  const D::ImageFolderDataset images(args.folder, args.images());
  fmt::print("{} images, {} classes: {}\n", images.size(), images.class_names().size(),
             fmt::join(images.class_names(), ", "));
  for (const std::string& why : images.broken()) fmt::print("left out: {}\n", why);
  fmt::print("\n");
  if (images.class_names().size() < 2)
    throw ct::ValueError(args.folder + ": expected two or more sub-folders, one a class; found '" +
                         images.class_names().front() + "' alone");
  const D::TransformDataset examples(images, [](ct::Example example) {
    example.values[0] = scaled(example.values[0]);
    return example;
  });
  const auto [training, test] = D::split_dataset_random(examples, images.size() * 4 / 5, args.seed);

  MLP mlp(args.units, static_cast<int>(images.class_names().size()));
  mlp.image_shape = ct::array({args.images().channels, args.size, args.size});
  auto model = L::Classifier(mlp);
  model.to_device(device);
  auto optimizer = ct::optimizers::Adam();
  optimizer.setup(model);
  // images are read by other threads while the network trains
  const ct::iterators::MultithreadIterator batches(training, std::min<std::int64_t>(args.batch, training.size()),
                                                   {.n_threads = args.threads, .n_prefetch = 4});
  const ct::iterators::MultithreadIterator test_batches(
      test, args.batch, {.repeat = false, .shuffle = false, .n_threads = args.threads, .n_prefetch = 4});
  // a loss that is not a number ends the training, and names the images that it comes from
  const T::FiniteLoss loss(model, examples, [&](std::int64_t i) { return images.path(i); });
  T::Trainer trainer(T::StandardUpdater(batches, optimizer, {.device = device, .loss = loss}),
                     T::Trigger(args.epochs, "epoch"), args.out);
  trainer.extend(X::Evaluator(test_batches, model, {.device = device, .eval_func = loss}));
  trainer.extend(X::snapshot({.n_retains = 1}));
  trainer.extend(X::LogReport());
  trainer.extend(X::PlotReport({"main/accuracy", "validation/main/accuracy"}, "epoch", {.filename = "accuracy.png"}));
  trainer.extend(
      X::PrintReport({"epoch", "main/loss", "validation/main/loss", "main/accuracy", "validation/main/accuracy"}));
  trainer.extend(X::ProgressBar());
  if (!args.resume.empty()) {
    const std::vector<int> wanted = mlp.image_shape.array().to_vector<int>();
    ct::serializers::load_npz(args.resume, trainer);
    if (mlp.image_shape.array().to_vector<int>() != wanted)
      throw ct::ValueError(args.resume + ": the snapshot of images of another --size, or --gray");
  }
  const auto save = [&] {
    T::check_finite(model);
    ct::serializers::save_npz(args.out + "/model.npz", Saved{model, {images.class_names()}});
    fmt::print("\nThe weights are in {0}/model.npz; train_images -o {0} --predict FILE uses them\n", args.out);
  };
  try {
    trainer.run(false);
  } catch (const T::Interrupted&) {  // Ctrl-C: what was learnt so far
    save();
    throw;
  }
  save();
  return 0;
}

int predict(const Args& args) {
  const std::string file = args.out + "/model.npz";
  if (!ct::os::exists(file))
    throw ct::FileError(args.out + ": train_images has left nothing here (model.npz is missing); -o names its folder");
  Classes classes;
  ct::serializers::load_npz(file, classes);
  const auto units = static_cast<int>(ct::io::NpzReader(file).read_array("predictor/l1/W").shape[0]);
  MLP model(units, static_cast<int>(classes.names.size()));
  ct::serializers::load_npz(file, model, "predictor/");
  const ct::Device device = ct::get_device(args.device);
  model.to_device(device);
  const auto scope = ct::test_mode();
  const std::vector<int> shape = model.image_shape.array().to_vector<int>();
  for (const std::string& path : args.predict) {
    const ct::Array image = scaled(D::read_image(path, {.channels = shape[0], .height = shape[1], .width = shape[2]}));
    const std::vector<float> p = F::softmax(model(image(ct::newaxis).to_device(device))).array().to_vector<float>();
    if (args.predict.size() > 1) fmt::print("{}\n", path);
    for (std::size_t i = 0; i < p.size(); ++i) fmt::print("{:8.4f}  {}\n", p[i], classes.names[i]);
  }
  return 0;
}

int main(int argc, char** argv) {
  Args args;
  CLI::App app("Trains a classifier on a folder of images (PNG, JPEG) with one sub-folder a class.");
  app.add_option("FOLDER", args.folder, "The folder; not needed with --predict");
  app.add_option("-e,--epoch", args.epochs, "Sweeps over the images")
      ->capture_default_str()
      ->check(CLI::Range(1, 1000000, "POSITIVE"));
  app.add_option("-b,--batchsize", args.batch, "Images in a minibatch")
      ->capture_default_str()
      ->check(CLI::Range(1, 1000000, "POSITIVE"));
  app.add_option("-u,--unit", args.units, "Units of a hidden layer")
      ->capture_default_str()
      ->check(CLI::Range(1, 1000000, "POSITIVE"));
  app.add_option("-s,--size", args.size, "Height and width that all images are brought to")
      ->capture_default_str()
      ->check(CLI::Range(1, 1000000, "POSITIVE"));
  app.add_flag("--gray", args.gray, "Gray images instead of colour");
  app.add_flag("--skip-broken", args.skip_broken, "Leaves out files that cannot be read, and lists them");
  app.add_option("-t,--threads", args.threads, "Threads that read images")
      ->capture_default_str()
      ->check(CLI::Range(1, 1000000, "POSITIVE"));
  app.add_option("-d,--device", args.device, "Where it is trained: cpu, or a GPU such as opencl:0")
      ->capture_default_str();
  app.add_option("--seed", args.seed, "Seed of the random numbers")->capture_default_str();
  app.add_option("-o,--out", args.out, "Folder for the results")->capture_default_str();
  app.add_option("-r,--resume", args.resume, "A snapshot to continue from, with the options that it was made with");
  app.add_option("-p,--predict", args.predict, "Predicts the classes of these images with what was trained before");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;
  }
  if (args.folder.empty() == args.predict.empty()) {
    fmt::print(stderr, "train_images: name the folder of the images, or --predict and images; --help tells more\n");
    return 2;
  }
  try {
    return args.predict.empty() ? train(args) : predict(args);
  } catch (const std::exception& e) {
    fmt::print(stderr, "train_images: {}\n", e.what());
    return 1;
  }
}
