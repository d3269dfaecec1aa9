#include "workload/options/expert_visits.h"

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <set>
#include <vector>

#include <gtest/gtest.h>

#include "core/base/random.h"
#include "workload/model/model_shape.h"

namespace ringwright::workload::expert_visits_test {
namespace {

ExpertShape experts_of(std::int64_t count, std::int64_t per_token, std::int64_t groups, std::int64_t limit) {
  return {.count = count, .per_token = per_token, .groups = groups, .group_limit = limit};
}

// A router with random scores: groups by the sum of their `best` highest scores, then experts of the chosen groups.
double mean_of_drawn(const ExpertShape& shape, int places, std::size_t best) {
  RandomStream random(7, "router");
  const auto size = static_cast<std::size_t>(shape.count / shape.groups);
  constexpr int kTokens = 4000;
  std::int64_t visits = 0;
  for (int token = 0; token < kTokens; ++token) {
    std::vector<double> scores(static_cast<std::size_t>(shape.count));
    for (double& score : scores) score = random.next_unit();
    std::vector<std::pair<double, std::size_t>> groups;
    for (std::size_t group = 0; group < static_cast<std::size_t>(shape.groups); ++group) {
      const auto first = scores.begin() + static_cast<std::ptrdiff_t>(group * size);
      std::vector<double> sorted(first, first + static_cast<std::ptrdiff_t>(size));
      std::ranges::sort(sorted, std::greater());
      groups.emplace_back(std::accumulate(sorted.begin(), sorted.begin() + static_cast<std::ptrdiff_t>(best), 0.0),
                          group);
    }
    std::ranges::sort(groups, std::greater());
    std::vector<std::pair<double, std::size_t>> chosen;
    for (std::size_t rank = 0; rank < static_cast<std::size_t>(shape.group_limit); ++rank) {
      for (std::size_t expert = groups[rank].second * size; expert < (groups[rank].second + 1) * size; ++expert) {
        chosen.emplace_back(scores[expert], expert);
      }
    }
    std::ranges::sort(chosen, std::greater());
    std::set<std::size_t> visited;
    for (std::size_t choice = 0; choice < static_cast<std::size_t>(shape.per_token); ++choice) {
      visited.insert(chosen[choice].second / static_cast<std::size_t>(shape.count / places));
    }
    visits += static_cast<std::int64_t>(visited.size());
  }
  return static_cast<double>(visits) / kTokens;
}

TEST(ExpertVisits, WithoutGroupsExpertsAreARandomChoice) {
  // 8 (1 - (224 x 223 .. 217) / (256 x 255 .. 249)).
  EXPECT_NEAR(places_visited(experts_of(256, 8, 1, 1), 8), 5.29465, 1e-5);
  EXPECT_NEAR(places_visited(experts_of(256, 8, 8, 8), 8), 5.29465, 1e-5);
  EXPECT_NEAR(places_visited(experts_of(128, 1, 1, 1), 16), 1.0, 1e-12);
}

TEST(ExpertVisits, EveryChosenGroupIsVisitedOnce) {
  const ExpertShape deepseek = experts_of(256, 8, 8, 4);
  EXPECT_NEAR(places_visited(deepseek, 1), 1.0, 1e-12);
  EXPECT_NEAR(places_visited(deepseek, 8), 4.0, 1e-9);
  // Four places with two groups each: 4 (1 - C(6, 4) / C(8, 4)).
  EXPECT_NEAR(places_visited(deepseek, 4), 4.0 * (1.0 - 15.0 / 70.0), 1e-12);
  // One group of those of eight ranks: as experts of one rank.
  EXPECT_NEAR(places_visited(experts_of(128, 8, 8, 1), 8), 1.0, 1e-12);
}

TEST(ExpertVisits, AreThoseOfRandomScores) {
  for (const int places : {2, 4, 8, 16, 32, 64}) {
    const ExpertShape deepseek_v3 = experts_of(256, 8, 8, 4);
    EXPECT_NEAR(places_visited(deepseek_v3, places) / mean_of_drawn(deepseek_v3, places, 2), 1.0, 0.02) << places;
  }
  for (const int places : {2, 4, 8, 16, 32}) {
    const ExpertShape deepseek_v2 = experts_of(160, 6, 8, 3);
    EXPECT_NEAR(places_visited(deepseek_v2, places) / mean_of_drawn(deepseek_v2, places, 1), 1.0, 0.02) << places;
  }
}

TEST(ExpertVisits, ALimitNeverAddsPlaces) {
  for (const std::int64_t limit : {2, 3, 5, 7}) {  // 8 experts need two groups of 6
    for (const int places : {1, 2, 3, 4, 6, 8, 12, 16, 24, 48}) {
      const double limited = places_visited(experts_of(48, 8, 8, limit), places);
      EXPECT_LE(limited, places_visited(experts_of(48, 8, 1, 1), places) * 1.005) << limit << " " << places;
      EXPECT_GE(limited, 1.0 - 1e-9) << limit << " " << places;
    }
  }
}

}  // namespace
}  // namespace ringwright::workload::expert_visits_test
