#include "collectives/proof/piece_holders.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace ringwright::collectives::piece_holders_test {
namespace {

// Four members on two hosts, one piece, of which each member holds its own contribution.
class Holders : public testing::Test {
 protected:
  Holders() {
    for (int member = 0; member < 4; ++member) holders.sets().insert(holders.cell(member, 0), member);
  }
  [[nodiscard]] std::string deliver(const Parcel& parcel, int step = 0) {
    const ContributionSets::Words words = holders.sets().at(holders.cell(parcel.from, 0));
    const std::vector<std::uint64_t> contents(words.begin(), words.end());
    return holders.deliver(parcel, contents, step);
  }

  GroupLayout layout{.host_of = {0, 0, 1, 1}, .place_in_host = {0, 1, 0, 1}, .hosts = {{0, 1}, {2, 3}}};
  CollectiveCall call{.kind = CollectiveKind::kAllReduce, .bytes = Bytes(8), .layout = &layout};
  PieceHolders holders{call, 1};
};

TEST_F(Holders, RanksOfOneHostShareItsSwitchAndOthersThatOfTheNetwork) {
  EXPECT_EQ(holders.switch_between(0, 1), holders.switch_between(1, 0));
  EXPECT_NE(holders.switch_between(0, 1), holders.switch_between(2, 3));
  EXPECT_EQ(holders.switch_between(0, 2), holders.switch_between(3, 1));
}

TEST_F(Holders, AddContributionsOnce) {
  EXPECT_EQ(deliver({.holder = 0, .piece = 0, .from = 1, .reduce = true}), "");
  EXPECT_EQ(deliver({.holder = 0, .piece = 0, .from = 2, .reduce = true}), "");
  const std::string wrong = deliver({.holder = 0, .piece = 0, .from = 1, .reduce = true}, 1);
  EXPECT_NE(wrong.find("is given one of them again by member 1"), std::string::npos) << wrong;
}

TEST_F(Holders, TwoCopiesInOneStepDependOnTheOrder) {
  EXPECT_EQ(deliver({.holder = 3, .piece = 0, .from = 0}), "");
  EXPECT_EQ(deliver({.holder = 3, .piece = 0, .from = 1}),
            "the result of piece 0 of member 3 depends on the message order");
  EXPECT_EQ(deliver({.holder = 3, .piece = 0, .from = 1}, 1), "");
}

TEST_F(Holders, ASwitchKnowsItsContributors) {
  const int fabric = holders.switch_between(0, 2);
  EXPECT_EQ(deliver({.holder = fabric, .piece = 0, .from = 0, .reduce = true}, 4), "");
  EXPECT_EQ(deliver({.holder = fabric, .piece = 0, .from = 2, .reduce = true}, 5), "");
  ASSERT_EQ(holders.contributors(fabric, 0).size(), 2U);
  EXPECT_EQ(holders.contributors(fabric, 0)[1].member, 2);
  EXPECT_EQ(holders.contributors(fabric, 0)[1].step, 5);
}

}  // namespace
}  // namespace ringwright::collectives::piece_holders_test
