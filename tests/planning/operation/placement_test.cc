#include "planning/operation/placement.h"

#include <gtest/gtest.h>

namespace ringwright::planning::placement_test {
namespace {

// The share of all sets of `lost` of the hosts that survive, by enumeration.
double enumerated(const CopyRule& rule, int lost) {
  int all = 0;
  int alive = 0;
  for (unsigned set = 0; set < 1U << rule.hosts; ++set) {
    if (__builtin_popcount(set) != lost) continue;
    std::vector<std::int64_t> hosts;
    for (std::int64_t host = 0; host < rule.hosts; ++host) {
      if ((set >> host & 1U) != 0) hosts.push_back(host);
    }
    ++all;
    alive += survives(rule, hosts) ? 1 : 0;
  }
  return static_cast<double>(alive) / all;
}

// GEMINI (SOSP 2023), 16 hosts with 2 copies: 1 - 8 / C(16, 2) = 93.3 % for two lost hosts, 80 % for three.
TEST(Placement, PairsSurviveAsGeminiPrints) {
  EXPECT_NEAR(group_survival(16, 2, 2), 0.9333, 0.00005);
  EXPECT_NEAR(group_survival(16, 2, 3), 0.8, 1e-9);
}

TEST(Placement, FormulaAgreesWithEnumeration) {
  for (const std::int64_t copies : {2, 3, 4}) {
    for (int lost = 1; lost <= 6; ++lost) {
      EXPECT_NEAR(group_survival(12, copies, lost), enumerated({.hosts = 12, .copies = copies}, lost), 1e-9);
    }
  }
}

TEST(Placement, RingsLoseMoreThanGroups) {
  const CopyRule ring{.hosts = 12, .copies = 2, .placement = Placement::kRing};
  EXPECT_LT(enumerated(ring, 2), enumerated({.hosts = 12, .copies = 2}, 2));
  EXPECT_NEAR(enumerated(ring, 2), 1.0 - 12.0 / 66.0, 1e-9);  // 12 neighbouring pairs of C(12, 2)
}

// 7 hosts with 2 copies: two groups of two, and a ring of three.
TEST(Placement, WhatGroupsLeaveOverIsARing) {
  const CopyRule mixed{.hosts = 7, .copies = 2, .placement = Placement::kMixed};
  EXPECT_EQ(holders(mixed, 1), (std::vector<std::int64_t>{1, 0}));
  EXPECT_EQ(holders(mixed, 6), (std::vector<std::int64_t>{6, 4}));
  for (std::int64_t host = 0; host < 7; ++host) EXPECT_EQ(holders(mixed, host).size(), 2U);
}

TEST(Placement, AJumpKeepsCopiesOutOfOneRack) {
  const std::vector<std::int64_t> rack{0, 1, 2, 3};
  EXPECT_FALSE(survives({.hosts = 16, .copies = 2, .jump = 1}, rack));
  EXPECT_TRUE(survives({.hosts = 16, .copies = 2, .jump = 4}, rack));
  EXPECT_EQ(holders({.hosts = 16, .copies = 2, .jump = 4}, 5), (std::vector<std::int64_t>{5, 1}));
}

}  // namespace
}  // namespace ringwright::planning::placement_test
