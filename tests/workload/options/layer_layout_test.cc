#include "workload/options/layer_layout.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ringwright::workload::layer_layout_test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(LayerLayout, LettersAreLayersAndBarsEndParts) {
  EXPECT_THAT(read_layer_layout("Ett|ttt|tL").layers, ElementsAre(2, 3, 1));
  EXPECT_THAT(read_layer_layout("E|t|L").layers, ElementsAre(0, 1, 0));
}

TEST(LayerLayout, RepetitionsAreWrittenOut) {
  // DeepSeek-V3's 61 layers on 16 stages of two chunks, as in Megatron's example.
  const LayerLayout layout = read_layer_layout("Et*3|(tt|)*29,m|L");
  EXPECT_EQ(layout.problem, "multi-token prediction, m, in another chunk than the loss is not modelled");
  const LayerLayout together = read_layer_layout("Et*3|(tt|)*29,mL");
  EXPECT_THAT(together.problem, IsEmpty());
  ASSERT_EQ(together.layers.size(), 31U);
  EXPECT_EQ(together.layers.front(), 3);
  EXPECT_EQ(together.layers[1], 2);
  EXPECT_EQ(together.layers.back(), 0);
}

TEST(LayerLayout, InvalidLayoutsAreReported) {
  EXPECT_EQ(read_layer_layout("Ettx").problem, "'x' is not part of a layout; valid: E, t, m, L, '|', '(...)' and '*n'");
  EXPECT_EQ(read_layer_layout("Ettx").at, 3U);
  EXPECT_EQ(read_layer_layout("tt|tL").problem, "the embedding, E, must be first and occur once");
  EXPECT_EQ(read_layer_layout("Et|t").problem, "the loss, L, must be last and occur once");
  EXPECT_EQ(read_layer_layout("|EtL").problem, "the embedding, E, must be in the first chunk");
  EXPECT_EQ(read_layer_layout("E(tt|L").problem, "a '(' without ')'");
  EXPECT_EQ(read_layer_layout("Et)L").problem, "a ')' without '('");
  EXPECT_EQ(read_layer_layout("Et*L").problem, "'*' needs a number");
  EXPECT_EQ(read_layer_layout("E((t*9999)*9999)*9999L").problem, "too many repetitions");
  EXPECT_FALSE(read_layer_layout("").problem.empty());
}

TEST(LayerLayout, EndsMayHaveTheirOwnNumberOfLayers) {
  EXPECT_THAT(spread_with_ends(30, {.first = 7, .last = 7}, 4, 1), ElementsAre(7, 8, 8, 7));
  EXPECT_THAT(spread_with_ends(31, {.first = 7}, 4, 1), ElementsAre(7, 8, 8, 8));
  EXPECT_THAT(spread_with_ends(28, {.first = 2, .last = 2}, 4, 2), ElementsAre(1, 6, 6, 1, 1, 6, 6, 1));
  EXPECT_THAT(spread_with_ends(31, {.first = 7, .last = 7}, 4, 1), IsEmpty());  // 17 for two stages
  EXPECT_THAT(spread_with_ends(4, {.first = 5}, 2, 1), IsEmpty());
}

}  // namespace
}  // namespace ringwright::workload::layer_layout_test
