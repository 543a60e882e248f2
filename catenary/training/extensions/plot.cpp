#include "catenary/training/extensions/plot.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

#include "catenary/core/format.h"
#include "catenary/io/png.h"

namespace catenary::training::extensions {

namespace {

using Colour = std::array<std::uint8_t, 3>;
constexpr Colour kBlack{20, 20, 20}, kGrid{222, 222, 222}, kFrame{120, 120, 120};
constexpr Colour kColours[] = {{31, 119, 180},  {255, 127, 14}, {44, 160, 44},   {214, 39, 40},
                               {148, 103, 189}, {140, 86, 75},  {227, 119, 194}, {23, 190, 207}};

/// Letters of 5 by 7 dots: five bits per row, top row first. Letters in kBelow are two rows lower.
struct Glyph {
  char letter;
  std::uint8_t rows[7];
};
constexpr Glyph kGlyphs[] = {
    {'0', {14, 17, 19, 21, 25, 17, 14}}, {'1', {4, 12, 4, 4, 4, 4, 14}},    {'2', {14, 17, 1, 6, 8, 16, 31}},
    {'3', {30, 1, 1, 14, 1, 1, 30}},     {'4', {2, 6, 10, 18, 31, 2, 2}},   {'5', {31, 16, 30, 1, 1, 17, 14}},
    {'6', {6, 8, 16, 30, 17, 17, 14}},   {'7', {31, 1, 2, 4, 4, 8, 8}},     {'8', {14, 17, 17, 14, 17, 17, 14}},
    {'9', {14, 17, 17, 15, 1, 2, 12}},   {'.', {0, 0, 0, 0, 0, 12, 12}},    {'-', {0, 0, 0, 31, 0, 0, 0}},
    {'+', {0, 4, 4, 31, 4, 4, 0}},       {'/', {1, 1, 2, 4, 8, 16, 16}},    {'_', {0, 0, 0, 0, 0, 0, 31}},
    {'(', {2, 4, 8, 8, 8, 4, 2}},        {')', {8, 4, 2, 2, 2, 4, 8}},      {'a', {0, 0, 14, 1, 15, 17, 15}},
    {'b', {16, 16, 30, 17, 17, 17, 30}}, {'c', {0, 0, 14, 16, 16, 17, 14}}, {'d', {1, 1, 15, 17, 17, 17, 15}},
    {'e', {0, 0, 14, 17, 31, 16, 14}},   {'f', {6, 9, 8, 28, 8, 8, 8}},     {'g', {15, 17, 17, 17, 15, 1, 14}},
    {'h', {16, 16, 22, 25, 17, 17, 17}}, {'i', {4, 0, 12, 4, 4, 4, 14}},    {'j', {2, 0, 6, 2, 2, 18, 12}},
    {'k', {16, 16, 18, 20, 24, 20, 18}}, {'l', {12, 4, 4, 4, 4, 4, 14}},    {'m', {0, 0, 26, 21, 21, 21, 21}},
    {'n', {0, 0, 22, 25, 17, 17, 17}},   {'o', {0, 0, 14, 17, 17, 17, 14}}, {'p', {30, 17, 17, 17, 30, 16, 16}},
    {'q', {15, 17, 17, 17, 15, 1, 1}},   {'r', {0, 0, 22, 25, 16, 16, 16}}, {'s', {0, 0, 15, 16, 14, 1, 30}},
    {'t', {8, 8, 28, 8, 8, 9, 6}},       {'u', {0, 0, 17, 17, 17, 19, 13}}, {'v', {0, 0, 17, 17, 17, 10, 4}},
    {'w', {0, 0, 17, 17, 21, 21, 10}},   {'x', {0, 0, 17, 10, 4, 10, 17}},  {'y', {17, 17, 17, 17, 15, 1, 14}},
    {'z', {0, 0, 31, 2, 4, 8, 31}},      {',', {0, 0, 0, 12, 12, 4, 8}},
};

constexpr std::string_view kBelow = "gpqy,";

class Canvas {
 public:
  Canvas(int width, int height)
      : width_(width), height_(height), image_(io::HostArray::empty(Dtype::uint8, {height, width, 3})) {
    std::memset(image_.data.get(), 255, image_.nbytes());
  }
  void dot(int x, int y, Colour c) {
    if (x >= 0 && y >= 0 && x < width_ && y < height_)
      std::memcpy(image_.as<std::uint8_t>() + (y * width_ + x) * 3, c.data(), 3);
  }
  /// Blends a quarter of the colour into the pixel.
  void shade(int x, int y, Colour c) {
    if (x < 0 || y < 0 || x >= width_ || y >= height_) return;
    std::uint8_t* to = image_.as<std::uint8_t>() + (y * width_ + x) * 3;
    for (std::size_t i = 0; i < 3; ++i) to[i] = static_cast<std::uint8_t>((3 * to[i] + c[i]) / 4);
  }
  void line(double x0, double y0, double x1, double y1, Colour c, int thick = 1) {
    const int steps = std::max(1, static_cast<int>(std::max(std::abs(x1 - x0), std::abs(y1 - y0)) * 2));
    for (int i = 0; i <= steps; ++i) {
      const double f = static_cast<double>(i) / steps;
      const int x = static_cast<int>(std::lround(x0 + (x1 - x0) * f)),
                y = static_cast<int>(std::lround(y0 + (y1 - y0) * f));
      for (int dx = 0; dx < thick; ++dx)
        for (int dy = 0; dy < thick; ++dy) dot(x + dx, y + dy, c);
    }
  }
  /// Draws text. Letters without a glyph are blank, and capitals look like small letters. With `upward` the text is
  /// rotated to the left about (x, y).
  void text(int x, int y, const std::string& s, Colour c, int scale = 2, bool upward = false) {
    const int left = x;
    const auto put = [&](int across, int down) {
      upward ? dot(left + down - y, y - (across - left), c) : dot(across, down, c);
    };
    for (char letter : s) {
      const char small = static_cast<char>(letter >= 'A' && letter <= 'Z' ? letter - 'A' + 'a' : letter);
      for (const Glyph& glyph : kGlyphs) {
        if (glyph.letter != small) continue;
        const int top = y + (kBelow.find(small) == std::string_view::npos ? 0 : 2 * scale);
        for (int row = 0; row < 7; ++row)
          for (int column = 0; column < 5; ++column)
            if (glyph.rows[row] >> (4 - column) & 1)
              for (int dx = 0; dx < scale; ++dx)
                for (int dy = 0; dy < scale; ++dy) put(x + column * scale + dx, top + row * scale + dy);
      }
      x += 6 * scale;
    }
  }
  static int text_width(const std::string& s, int scale = 2) { return static_cast<int>(s.size()) * 6 * scale; }
  const io::HostArray& image() const { return image_; }

 private:
  int width_, height_;
  io::HostArray image_;
};

/// Round numbers that divide [low, high] into about `n` parts.
std::vector<double> ticks(double low, double high, int n) {
  const double raw = (high - low) / n, magnitude = std::pow(10, std::floor(std::log10(raw)));
  const double part = raw / magnitude, step = magnitude * (part < 1.5 ? 1 : part < 3.5 ? 2 : part < 7.5 ? 5 : 10);
  std::vector<double> at;
  for (double t = std::ceil(low / step - 1e-9) * step; t <= high + step * 1e-9; t += step)
    at.push_back(std::abs(t) < step * 1e-9 ? 0 : t);
  return at;
}

/// A range with a margin, also for a single point.
std::pair<double, double> range(double low, double high) {
  if (!(low <= high)) return {0, 1};
  if (low == high) {
    const double room = low == 0 ? 1 : std::abs(low) * 0.1;
    return {low - room, high + room};
  }
  const double margin = (high - low) * 0.05;
  return {low - margin, high + margin};
}

constexpr int kLevel = 1;  ///< of the compression: plots are small, and written often

/// The margins around the axes, and the axes' size.
constexpr int kLeft = 110, kTop = 50, kBottom = 70, kRight = 80, kWidth = 640, kHeight = 480;

int legend_width(const Panel& panel) {
  int width = 0;
  for (const Curve& curve : panel.curves) width = std::max(width, Canvas::text_width(curve.label));
  return width;
}

/// The axes of a panel in pixels, and the values at their ends.
struct Frame {
  int x0, y0, x1, y1;
  double left, right, bottom, top;

  double x(double value) const { return x0 + (value - left) / (right - left) * kWidth; }
  double y(double value) const { return y1 - (value - bottom) / (top - bottom) * kHeight; }
};

/// Returns the axes that contain all finite points of a panel.
Frame frame_of(const Panel& panel, int x0, int y0) {
  double x_low = INFINITY, x_high = -INFINITY, y_low = INFINITY, y_high = -INFINITY;
  const auto include = [&](double x, double y) {
    if (!std::isfinite(x) || !std::isfinite(y)) return;
    x_low = std::min(x_low, x), x_high = std::max(x_high, x);
    y_low = std::min(y_low, y), y_high = std::max(y_high, y);
  };
  for (const Curve& curve : panel.curves)
    for (const auto& [x, y] : curve.points) include(x, y);
  for (const Band& band : panel.bands) {
    for (std::size_t i = 0; i < band.x.size(); ++i) {
      include(band.x[i], band.lower[i]);
      include(band.x[i], band.upper[i]);
    }
  }
  const auto [left, right] = range(x_low, x_high);
  const auto [bottom, top] = range(y_low, y_high);
  return {x0, y0, x0 + kWidth, y0 + kHeight, left, right, bottom, top};
}

void draw_axes(Canvas& canvas, const Panel& panel, const Frame& f) {
  for (double t : ticks(f.left, f.right, 6)) {
    const int x = static_cast<int>(f.x(t));
    if (panel.grid) canvas.line(x, f.y0, x, f.y1, kGrid);
    canvas.line(x, f.y1, x, f.y1 + 6, kFrame);
    const std::string label = fmt::format("{:g}", t);
    canvas.text(x - Canvas::text_width(label) / 2, f.y1 + 12, label, kBlack);
  }
  for (double t : ticks(f.bottom, f.top, 6)) {
    const int y = static_cast<int>(f.y(t));
    if (panel.grid) canvas.line(f.x0, y, f.x1, y, kGrid);
    canvas.line(f.x0 - 6, y, f.x0, y, kFrame);
    const std::string label = fmt::format("{:g}", t);
    canvas.text(f.x0 - 12 - Canvas::text_width(label), y - 7, label, kBlack);
  }
  canvas.line(f.x0, f.y0, f.x1, f.y0, kFrame);
  canvas.line(f.x0, f.y1, f.x1, f.y1, kFrame);
  canvas.line(f.x0, f.y0, f.x0, f.y1, kFrame);
  canvas.line(f.x1, f.y0, f.x1, f.y1, kFrame);
  canvas.text((f.x0 + f.x1 - Canvas::text_width(panel.x_label)) / 2, f.y1 + 42, panel.x_label, kBlack);
  canvas.text((f.x0 + f.x1 - Canvas::text_width(panel.title)) / 2, f.y0 - 22, panel.title, kBlack);
}

void draw_band(Canvas& canvas, const Band& band, const Frame& frame) {
  for (std::size_t i = 1; i < band.x.size(); ++i) {
    const double from = frame.x(band.x[i - 1]), to = frame.x(band.x[i]);
    for (int x = static_cast<int>(std::ceil(from)); x < to; ++x) {
      const double f = (x - from) / (to - from);
      const double low = band.lower[i - 1] + (band.lower[i] - band.lower[i - 1]) * f;
      const double high = band.upper[i - 1] + (band.upper[i] - band.upper[i - 1]) * f;
      if (!std::isfinite(low) || !std::isfinite(high)) continue;
      for (int y = static_cast<int>(frame.y(high)); y <= static_cast<int>(frame.y(low)); ++y)
        canvas.shade(x, y, kColours[0]);
    }
  }
}

void draw_curve(Canvas& canvas, const Curve& curve, bool marker, Colour colour, const Frame& frame) {
  const std::pair<double, double>* before = nullptr;
  for (const auto& point : curve.points) {
    if (!std::isfinite(point.first) || !std::isfinite(point.second)) {
      before = nullptr;
      continue;
    }
    const double x = frame.x(point.first), y = frame.y(point.second);
    if (before) canvas.line(frame.x(before->first), frame.y(before->second), x, y, colour, 2);
    if (marker) {
      canvas.line(x - 5, y - 5, x + 5, y + 5, colour, 2);
      canvas.line(x - 5, y + 5, x + 5, y - 5, colour, 2);
    }
    before = &point;
  }
}

void draw(Canvas& canvas, const Panel& panel, int x0, int y0) {
  const Frame frame = frame_of(panel, x0, y0);
  draw_axes(canvas, panel, frame);
  for (const Band& band : panel.bands) draw_band(canvas, band, frame);
  for (std::size_t i = 0; i < panel.curves.size(); ++i) {
    const Colour colour = kColours[i % std::size(kColours)];
    draw_curve(canvas, panel.curves[i], panel.marker, colour, frame);
    const int row = y0 + 10 + static_cast<int>(i) * 26;
    canvas.line(frame.x1 + 20, row + 7, frame.x1 + 50, row + 7, colour, 2);
    canvas.text(frame.x1 + 60, row, panel.curves[i].label, kBlack);
  }
}

}  // namespace

void plot(const std::string& path, const std::vector<std::vector<Panel>>& rows) {
  if (rows.empty() || rows.front().empty()) throw ValueError("plot: there is nothing to draw");
  int legend = 0;
  for (const auto& row : rows) {
    if (row.size() != rows.front().size())
      fail<ValueError>("plot: rows of {} and {} panels", rows.front().size(), row.size());
    for (const Panel& panel : row) legend = std::max(legend, legend_width(panel));
  }
  const int width = kLeft + kWidth + legend + kRight, height = kTop + kHeight + kBottom;
  Canvas canvas(width * static_cast<int>(rows.front().size()), height * static_cast<int>(rows.size()));
  for (std::size_t y = 0; y < rows.size(); ++y)
    for (std::size_t x = 0; x < rows[y].size(); ++x)
      draw(canvas, rows[y][x], static_cast<int>(x) * width + kLeft, static_cast<int>(y) * height + kTop);
  io::write_png(path, canvas.image(), kLevel, true);
}

void plot(const std::string& path, const ConfusionMatrix& matrix) {
  const auto n = static_cast<int>(matrix.names.size());
  if (n == 0) throw ValueError("plot: a confusion matrix needs at least one class");
  const auto is_row = [&](const auto& row) { return row.size() == matrix.names.size(); };
  if (!is_row(matrix.counts) || !std::ranges::all_of(matrix.counts, is_row))
    fail<ValueError>("plot: a confusion matrix of {} classes needs as many rows of as many numbers", n);
  constexpr std::size_t kLongest = 24;
  constexpr int kGap = 12, kLine = 26;
  const int cell = std::clamp(900 / n, 10, 72);
  int room = 0;
  for (const std::string& name : matrix.names) room = std::max(room, Canvas::text_width(name.substr(0, kLongest)));
  const int x0 = kLine + kGap + room + kGap, y0 = kLine + kGap, side = n * cell;
  Canvas canvas(x0 + std::max(side, 160) + kGap, y0 + side + kGap + room + kGap + kLine);
  canvas.text(x0, kGap, "rows: labels, columns: predictions", kBlack, side < 420 ? 1 : 2);
  for (int i = 0; i < n; ++i) {
    const auto row = static_cast<std::size_t>(i);
    const std::string name = matrix.names[row].substr(0, kLongest);
    canvas.text(x0 - kGap - Canvas::text_width(name), y0 + i * cell + cell / 2 - 7, name, kBlack);
    canvas.text(x0 + i * cell + cell / 2 - 7, y0 + side + kGap + Canvas::text_width(name), name, kBlack, 2, true);
    std::int64_t total = 0;
    for (const std::int64_t count : matrix.counts[row]) total += count;
    for (int j = 0; j < n; ++j) {
      const std::int64_t count = matrix.counts[row][static_cast<std::size_t>(j)];
      const double part = total > 0 ? static_cast<double>(count) / static_cast<double>(total) : 0;
      Colour colour{};
      for (std::size_t k = 0; k < 3; ++k)
        colour[k] = static_cast<std::uint8_t>(std::lround(255 + part * (kColours[0][k] - 255)));
      for (int y = 1; y < cell; ++y)
        canvas.line(x0 + j * cell + 1, y0 + i * cell + y, x0 + (j + 1) * cell - 1, y0 + i * cell + y, colour);
      const std::string number = fmt::format("{}", count);
      if (Canvas::text_width(number) < cell)
        canvas.text(x0 + j * cell + (cell - Canvas::text_width(number)) / 2, y0 + i * cell + cell / 2 - 7, number,
                    part > 0.5 ? Colour{255, 255, 255} : kBlack);
    }
  }
  for (int i = 0; i <= n; ++i) {
    canvas.line(x0 + i * cell, y0, x0 + i * cell, y0 + side, kFrame);
    canvas.line(x0, y0 + i * cell, x0 + side, y0 + i * cell, kFrame);
  }
  io::write_png(path, canvas.image(), kLevel, true);
}

}  // namespace catenary::training::extensions
