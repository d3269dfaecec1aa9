#include "validation/fit/kernel_plot.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ringwright::validation::kernel_plot_test {
namespace {

std::size_t count(const std::string& text, const std::string& word) {
  std::size_t found = 0;
  for (std::size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) ++found;
  return found;
}

TEST(KernelPlot, HasADotForEveryPointAndOneForEverySeries) {
  const PlotSeries fitted{.name = "fitted", .colour = "#00f", .points = {{1e-5, 1e-5}, {2e-5, 1e-5}}};
  const PlotSeries unseen{.name = "new", .colour = "#f00", .points = {{3e-4, 2e-4}}};
  const std::string svg = scatter_svg("gpu", std::vector{fitted, unseen});
  EXPECT_EQ(count(svg, "<circle"), 3U + 2U);
  EXPECT_THAT(svg,
              testing::AllOf(testing::StartsWith("<svg"), testing::EndsWith("</svg>\n"), testing::HasSubstr(">gpu<")));
}

TEST(KernelPlot, APerfectPredictionIsOnTheDiagonal) {
  const PlotSeries one{.name = "x", .colour = "#000", .points = {{1e-5, 1e-5}, {1e-4, 1e-4}}};
  // 10 us to 100 us are the whole square: from its lower left corner to its upper right one.
  const std::string svg = scatter_svg("gpu", std::vector{one});
  EXPECT_THAT(svg, testing::HasSubstr("<circle cx=\"64.0\" cy=\"456.0\""));
  EXPECT_THAT(svg, testing::HasSubstr("<circle cx=\"484.0\" cy=\"36.0\""));
}

TEST(KernelPlot, IsEmptyWithoutPoints) {
  EXPECT_EQ(scatter_svg("gpu", std::vector<PlotSeries>{}), "");
  EXPECT_EQ(scatter_svg("gpu", std::vector{PlotSeries{.name = "x", .colour = "#000", .points = {}}}), "");
}

}  // namespace
}  // namespace ringwright::validation::kernel_plot_test
