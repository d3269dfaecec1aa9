#include "configs/simulation/link_tiers.h"

#include <gtest/gtest.h>

#include "configs/simulation/simulate.h"
#include "tests/configs/played.h"

namespace ringwright::configs::link_tiers_test {
namespace {

std::vector<LinkTier> tiers_of(FoldMode fold) {
  const auto outcome = simulate(
      load(std::string(kTinyModel) +
           "training: {global_batch: 16}\nparallel: {dp: 16}\ncluster: {nodes: 2, node: {preset: dgx-h100}, fabric: "
           "{type: fat_tree, scalable_unit: 2, leaf: {ports: 32}, spine: {ports: 64}}}\ncollectives: {model: "
           "closed_form}\nbackground: [{from: [4], to: [11], size: 16MiB, at: 20us, repeats: 5}]\n"),
      fold);
  if (!outcome || !outcome->report) throw std::runtime_error("the run does not end");
  return outcome->report->facts.link_tiers;
}

// Idle links of a GPU, of a NIC and of a switch are of one class in a folded run, and still of three tiers.
TEST(LinkTiers, CountTheLinksOfAFoldedRunAsThoseOfTheWholeOne) {
  const std::vector<LinkTier> folded = tiers_of(FoldMode::kFold);
  const std::vector<LinkTier> whole = tiers_of(FoldMode::kNoFold);
  ASSERT_GE(whole.size(), 3U);
  ASSERT_EQ(folded.size(), whole.size());
  for (std::size_t i = 0; i < whole.size(); ++i) {
    EXPECT_EQ(folded[i].name, whole[i].name);
    EXPECT_EQ(folded[i].links, whole[i].links) << whole[i].name;
    EXPECT_EQ(folded[i].by_use, whole[i].by_use) << whole[i].name;
    EXPECT_NEAR(folded[i].mean, whole[i].mean, 1e-9 * whole[i].mean) << whole[i].name;
    EXPECT_NEAR(folded[i].highest, whole[i].highest, 1e-9 * whole[i].highest) << whole[i].name;
  }
}

}  // namespace
}  // namespace ringwright::configs::link_tiers_test
