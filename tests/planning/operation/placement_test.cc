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

// Groups of g hosts that each lose at most r: the coefficient of x^k in (sum_{i <= r} C(g, i) x^i)^(N / g), of C(N, k).
double parity_survival(const CopyRule& rule, int lost) {
  const auto choose = [](std::int64_t n, std::int64_t k) {
    double count = 1.0;
    for (std::int64_t i = 0; i < k; ++i) count = count * static_cast<double>(n - i) / static_cast<double>(i + 1);
    return count;
  };
  std::vector<double> counts(static_cast<std::size_t>(lost) + 1);
  counts[0] = 1.0;
  for (std::int64_t group = 0; group < rule.hosts / rule.copies; ++group) {
    for (std::size_t k = counts.size(); k-- > 0;) {
      double sum = 0.0;
      for (std::size_t i = 0; i <= k && static_cast<std::int64_t>(i) <= rule.parity; ++i) {
        sum += counts[k - i] * choose(rule.copies, static_cast<std::int64_t>(i));
      }
      counts[k] = sum;
    }
  }
  return counts.back() / choose(rule.hosts, lost);
}

TEST(Placement, ParitySurvivesAsManyLossesInEveryGroup) {
  for (const std::int64_t parity : {1, 2, 3}) {
    for (int lost = 1; lost <= 6; ++lost) {
      const CopyRule rule{.hosts = 12, .copies = 4, .parity = parity};
      EXPECT_NEAR(enumerated(rule, lost), parity_survival(rule, lost), 1e-12) << parity << " " << lost;
    }
  }
}

// 10 hosts in groups of 4: four, and six with one parity part.
TEST(Placement, TheLastGroupWithParityIsLarger) {
  const CopyRule rule{.hosts = 10, .copies = 4, .parity = 1};
  EXPECT_TRUE(survives(rule, std::vector<std::int64_t>{3, 4}));
  EXPECT_FALSE(survives(rule, std::vector<std::int64_t>{4, 9}));
}

TEST(Placement, AJumpKeepsParityOutOfOneRack) {
  const std::vector<std::int64_t> rack{0, 1, 2, 3};
  EXPECT_FALSE(survives({.hosts = 16, .copies = 4, .jump = 1, .parity = 1}, rack));
  EXPECT_TRUE(survives({.hosts = 16, .copies = 4, .jump = 4, .parity = 1}, rack));
}

}  // namespace
}  // namespace ringwright::planning::placement_test
