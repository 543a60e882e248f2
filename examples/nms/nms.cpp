// Non-maximum suppression: keeps the best box of each object among many overlapping boxes.

#include <catenary/array/boxes.h>
#include <catenary/catenary.h>
#include <catenary/core/command_line.h>
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <chrono>

namespace ct = catenary;

int main(int argc, char** argv) {
  std::string device = "cpu";
  std::int64_t n = 10000, things = 6;
  double threshold = 0.3;
  CLI::App app("Keeps the best box of each object among many overlapping boxes.");
  app.footer("Example: nms --boxes 50000 --things 20");
  app.add_option("-d,--device", device, "cpu, or a GPU such as opencl:0")->capture_default_str();
  app.add_option("--boxes", n, "Number of boxes")
      ->check(ct::command_line::whole_number(1, 1000000))
      ->capture_default_str();
  app.add_option("--things", things, "Number of objects")
      ->check(ct::command_line::whole_number(1, 1000000))
      ->capture_default_str();
  app.add_option("--threshold", threshold, "The overlap above which a box is removed")
      ->capture_default_str()
      ->check(ct::command_line::number(0, 1));
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return ct::command_line::exit(app, error);
  }

  try {
    ct::get_device(device).use();
    ct::random::seed(0);
    const auto f32 = ct::Dtype::float32;
    // Each box is an object's box, moved at random. The less it was moved, the higher its score.
    const ct::Array centres = ct::random::uniform(0, 1000, ct::Shape{things, 2}, {.dtype = f32});
    const ct::Array sizes = ct::random::uniform(40, 120, ct::Shape{things, 2}, {.dtype = f32});
    const ct::Array thing = ct::random::randint(0, things, {n});
    const ct::Array moves = ct::random::normal(0, 4, ct::Shape{n, 2}, {.dtype = f32});
    const ct::Array centre = ct::take(centres, thing, 0) + moves, half = ct::take(sizes, thing, 0) / 2;
    const ct::Array boxes = ct::concatenate({centre - half, centre + half}, 1);
    const ct::Array score = ct::exp(ct::sum(ct::square(moves), 1) * -0.02);

    const auto start = std::chrono::steady_clock::now();
    const ct::Array kept = ct::non_maximum_suppression(boxes, threshold, score);
    const std::vector<std::int64_t> indices = kept.to_vector<std::int64_t>();
    const std::chrono::duration<double, std::milli> time = std::chrono::steady_clock::now() - start;

    fmt::print("{} of {} boxes are left ({:.1f} ms on {})\n", indices.size(), n, time.count(), device);
    const std::vector<float> corners = ct::take(boxes, kept, 0).to_vector<float>();
    const std::vector<float> scores = ct::take(score, kept).to_vector<float>();
    for (std::size_t i = 0; i < std::min<std::size_t>(indices.size(), 10); ++i)
      fmt::print("score {:.3f}: top {:6.1f}, left {:6.1f}, bottom {:6.1f}, right {:6.1f}\n", scores[i], corners[4 * i],
                 corners[4 * i + 1], corners[4 * i + 2], corners[4 * i + 3]);
  } catch (const std::exception& error) {
    return ct::command_line::failure("nms", error);
  }
  return 0;
}
