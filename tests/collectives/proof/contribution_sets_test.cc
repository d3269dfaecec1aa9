// Sets of contributions, of more members than one word has bits, too.
#include "collectives/proof/contribution_sets.h"

#include <gtest/gtest.h>

namespace ringwright::collectives::contribution_sets_test {
namespace {

TEST(ContributionSets, StartEmptyAndFillUp) {
  ContributionSets sets(2, 130);
  EXPECT_EQ(sets.words_per_cell(), 3U);
  EXPECT_TRUE(sets.empty(1));
  for (int member = 0; member < 130; ++member) {
    EXPECT_FALSE(sets.full(1));
    sets.insert(1, member);
  }
  EXPECT_TRUE(sets.full(1));
  EXPECT_TRUE(sets.empty(0));
}

TEST(ContributionSets, AddRefusesWhatIsThereAndChangesNothingThen) {
  ContributionSets sets(3, 100);
  sets.insert(0, 1);
  sets.insert(0, 99);
  sets.insert(1, 2);
  sets.insert(2, 99);
  EXPECT_TRUE(sets.add(0, sets.at(1)));
  EXPECT_EQ(sets.text(0), "{1, 2, 99}");
  EXPECT_FALSE(sets.add(0, sets.at(2)));
  EXPECT_EQ(sets.text(0), "{1, 2, 99}");
}

TEST(ContributionSets, ReplaceForgetsWhatWasThere) {
  ContributionSets sets(2, 70);
  sets.insert(0, 3);
  sets.insert(1, 68);
  sets.replace(0, sets.at(1));
  EXPECT_TRUE(sets.is_only(0, 68));
  EXPECT_FALSE(sets.is_only(0, 3));
  EXPECT_EQ(sets.text(0), "{68}");
}

}  // namespace
}  // namespace ringwright::collectives::contribution_sets_test
