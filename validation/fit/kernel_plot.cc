#include "validation/fit/kernel_plot.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace ringwright::validation {
namespace {

constexpr double kSide = 420.0;  // of the square that holds the points
constexpr double kLeft = 64.0;
constexpr double kTop = 36.0;
constexpr double kBand = 0.10;

struct Decades {
  int first = 0;
  int last = 1;
};

Decades decades_of(std::span<const PlotSeries> series) {
  double low = 1e30, high = 0.0;
  for (const PlotSeries& one : series) {
    for (const PredictedMeasured& point : one.points) {
      low = std::min({low, point.predicted, point.measured});
      high = std::max({high, point.predicted, point.measured});
    }
  }
  const int first = static_cast<int>(std::floor(std::log10(low)));
  return {.first = first, .last = std::max(static_cast<int>(std::ceil(std::log10(high))), first + 1)};
}

std::string decade_name(int decade) {
  const double seconds = std::pow(10.0, decade);
  if (decade >= 0) return fmt::format("{:.0f} s", seconds);
  if (decade >= -3) return fmt::format("{:.0f} ms", seconds * 1e3);
  return fmt::format("{:.6g} us", seconds * 1e6);
}

class Axes {
 public:
  explicit Axes(const Decades& decades) : decades_(decades) {}
  [[nodiscard]] double x(double seconds) const { return kLeft + share(seconds) * kSide; }
  [[nodiscard]] double y(double seconds) const { return kTop + (1.0 - share(seconds)) * kSide; }

  [[nodiscard]] std::string grid() const {
    std::string svg;
    for (int decade = decades_.first; decade <= decades_.last; ++decade) {
      const double at = std::pow(10.0, decade);
      svg += fmt::format("<path d=\"M{0:.1f} {1:.1f}V{2:.1f}M{3:.1f} {4:.1f}H{5:.1f}\" stroke=\"#ddd\"/>\n", x(at),
                         kTop, kTop + kSide, kLeft, y(at), kLeft + kSide);
      svg += fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"middle\">{}</text>\n", x(at), kTop + kSide + 16,
                         decade_name(decade));
      svg += fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"end\">{}</text>\n", kLeft - 5, y(at) + 4,
                         decade_name(decade));
    }
    return svg;
  }

  // The line predicted = factor x measured.
  [[nodiscard]] std::string line(double factor, std::string_view style) const {
    const double low = std::pow(10.0, decades_.first), high = std::pow(10.0, decades_.last);
    const double from = std::max(low, low / factor), to = std::min(high, high / factor);
    return fmt::format("<path d=\"M{:.1f} {:.1f}L{:.1f} {:.1f}\" {}/>\n", x(from), y(from * factor), x(to),
                       y(to * factor), style);
  }

 private:
  [[nodiscard]] double share(double seconds) const {
    return (std::log10(seconds) - decades_.first) / (decades_.last - decades_.first);
  }
  Decades decades_;
};

}  // namespace

std::string scatter_svg(std::string_view title, std::span<const PlotSeries> series) {
  const bool empty = std::ranges::all_of(series, [](const PlotSeries& one) { return one.points.empty(); });
  if (empty) return "";
  const Axes axes(decades_of(series));
  const double width = kLeft + kSide + 20, height = kTop + kSide + 44;
  std::string svg = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0:.0f}\" height=\"{1:.0f}\" viewBox=\"0 0 {0:.0f} {1:.0f}\" "
      "font-family=\"sans-serif\" font-size=\"11\">\n<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n",
      width, height);
  svg += fmt::format("<text x=\"{:.0f}\" y=\"16\" font-size=\"13\">{}</text>\n", kLeft, title);
  svg += axes.grid();
  svg += axes.line(1.0, "stroke=\"#333\"");
  svg += axes.line(1.0 + kBand, "stroke=\"#999\" stroke-dasharray=\"4 3\"");
  svg += axes.line(1.0 / (1.0 + kBand), "stroke=\"#999\" stroke-dasharray=\"4 3\"");
  double legend = kLeft;
  for (const PlotSeries& one : series) {
    if (one.points.empty()) continue;
    for (const PredictedMeasured& point : one.points) {
      svg += fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"2.2\" fill=\"{}\" fill-opacity=\"0.6\"/>\n",
                         axes.x(point.measured), axes.y(point.predicted), one.colour);
    }
    svg += fmt::format("<circle cx=\"{:.1f}\" cy=\"28\" r=\"3\" fill=\"{}\"/><text x=\"{:.1f}\" y=\"32\">{}</text>\n",
                       legend + 4, one.colour, legend + 11, one.name);
    legend += 24.0 + 6.2 * static_cast<double>(one.name.size());
  }
  svg += fmt::format(
      "<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"middle\">measured (predicted upwards; dashed: 10 % "
      "off)</text>\n</svg>\n",
      kLeft + kSide / 2, kTop + kSide + 34);
  return svg;
}

}  // namespace ringwright::validation
