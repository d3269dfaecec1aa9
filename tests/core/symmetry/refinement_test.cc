#include "core/symmetry/refinement.h"

#include <algorithm>
#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "core/base/random.h"

namespace ringwright::refinement_test {
namespace {

using Classes = std::vector<std::size_t>;

class PlainRouter final : public Router {
 public:
  explicit PlainRouter(std::vector<Bandwidth> capacities) : capacities_(std::move(capacities)) {}
  Duration route(const RouteQuery&, std::vector<Hop>&) const override { return {}; }
  [[nodiscard]] std::span<const Bandwidth> capacities() const override { return capacities_; }

 private:
  std::vector<Bandwidth> capacities_;
};

// Ranks and links at random, in several equal copies that form rings; now and then something differs in one of them.
struct RandomTraffic {
  explicit RandomTraffic(int round) : random(17, "refinement " + std::to_string(round)) {
    const std::size_t copies = 1 + below(9);
    const std::size_t ranks = 1 + below(6);
    const std::size_t links = 1 + below(6);
    footprint.kinds = {{.role = 11, .starts_flow = true},
                       {.role = 12, .starts_flow = true},
                       {.role = 13},
                       {.role = 14, .starts_flow = true, .loads_links = false}};
    paths.shares = {7, 8};
    paths.latencies = {0, 500, 900};
    struct Plan {
      std::size_t from, to, next_copy;
      std::uint32_t kind, latency;
      std::vector<std::pair<std::size_t, std::uint16_t>> hops;  // and shares
    };
    std::vector<Plan> plans;
    for (std::size_t i = 0; i < 1 + below(10); ++i) {
      plans.push_back({below(ranks), below(ranks), below(2), static_cast<std::uint32_t>(below(4)),
                       static_cast<std::uint32_t>(1 + below(2)), {}});
      if (plans.back().kind == 2) continue;
      for (std::size_t hop = 0; hop < 1 + below(3); ++hop) {
        plans.back().hops.emplace_back(below(links), static_cast<std::uint16_t>(below(2)));
      }
    }
    const std::size_t odd_copy = below(2 * copies);  // beyond the last: none
    for (std::size_t copy = 0; copy < copies; ++copy) {
      for (std::size_t rank = 0; rank < ranks; ++rank) {
        footprint.colour.push_back(rank < 2 ? 5 : 6);
        footprint.first_edge.push_back(footprint.edges.size());
        paths.first_hop.push_back(paths.link.size());
        for (const Plan& plan : plans) {
          if (plan.from != rank) continue;
          const std::size_t to = (copy + plan.next_copy) % copies;
          footprint.edges.push_back({.peer = RankId(to * ranks + plan.to), .kind = plan.kind});
          paths.hops.push_back(static_cast<std::uint32_t>(plan.hops.size()));
          paths.latency.push_back(plan.kind == 2 ? 0 : plan.latency);
          for (const auto& [link, share] : plan.hops) {
            paths.link.emplace_back(copy * links + link);
            paths.share.push_back(share);
          }
        }
      }
      for (std::size_t link = 0; link < links; ++link) {
        capacities.emplace_back(copy == odd_copy && link == 0 ? 2e9 : 1e9);
      }
    }
    footprint.first_edge.push_back(footprint.edges.size());
    paths.first_hop.push_back(paths.link.size());
  }

  std::size_t below(std::size_t limit) { return random.next_below(limit); }

  RandomStream random;
  Footprint footprint;
  Paths paths;
  std::vector<Bandwidth> capacities;
};

// Numbers in the order of first members.
template <class Key>
Classes numbered(const std::vector<Key>& keys) {
  std::map<Key, std::size_t> number;
  Classes classes;
  for (const Key& key : keys) classes.push_back(number.try_emplace(key, number.size()).first->second);
  return classes;
}

// By the definition: everything is compared with everything in each round, until nothing splits.
std::pair<Classes, Classes> by_definition(const RandomTraffic& traffic) {
  const Footprint& footprint = traffic.footprint;
  const Paths& paths = traffic.paths;
  Classes ranks = numbered(footprint.colour);
  std::vector<double> capacity;
  for (const Bandwidth b : traffic.capacities) capacity.push_back(b.count());
  Classes links = numbered(capacity);
  using Hops = std::vector<std::pair<std::size_t, std::size_t>>;
  using Seen = std::tuple<std::uint32_t, std::size_t, std::uint32_t, Hops>;
  for (;;) {
    std::vector<std::pair<std::size_t, std::vector<Seen>>> of_rank;
    std::vector<std::pair<std::size_t, std::vector<std::tuple<std::uint32_t, std::size_t, std::size_t>>>> of_link;
    for (const std::size_t link : links) of_link.push_back({link, {}});
    for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
      auto& [own, seen] = of_rank.emplace_back(ranks[rank], std::vector<Seen>());
      std::uint64_t hop = paths.first_hop[rank];
      for (std::uint64_t e = footprint.first_edge[rank]; e < footprint.first_edge[rank + 1]; ++e) {
        const std::uint32_t kind = footprint.edges[e].kind;
        const bool loads = footprint.kinds[kind].starts_flow && footprint.kinds[kind].loads_links;
        Hops hops;
        for (const std::uint64_t end = hop + paths.hops[e]; hop < end; ++hop) {
          if (!loads) continue;
          hops.emplace_back(links[paths.link[hop].index()], paths.share_of(hop));
          of_link[paths.link[hop].index()].second.emplace_back(kind, paths.share_of(hop), ranks[rank]);
        }
        std::ranges::sort(hops);
        seen.emplace_back(kind, ranks[footprint.edges[e].peer.index()], paths.latency[e], hops);
      }
      std::ranges::sort(seen);
    }
    for (auto& [own, flows] : of_link) std::ranges::sort(flows);
    Classes ranks_now = numbered(of_rank);
    Classes links_now = numbered(of_link);
    if (ranks_now == ranks && links_now == links) return {ranks, links};
    ranks = std::move(ranks_now);
    links = std::move(links_now);
  }
}

TEST(Refinement, FindsTheClassesOfTheDefinition) {
  std::size_t folded = 0;
  for (int round = 0; round < 5000; ++round) {
    const RandomTraffic traffic(round);
    const TaskGraph graph;
    const PlainRouter router(traffic.capacities);
    const NetworkChanges changes;
    const std::vector<Paths> paths = {traffic.paths};
    Refinement refinement(graph, traffic.footprint, paths, router.capacities(), changes);
    refinement.run();
    const auto [ranks, links] = by_definition(traffic);
    ASSERT_EQ(numbered(refinement.rank_colours()), ranks) << round;
    ASSERT_EQ(numbered(refinement.link_colours()), links) << round;
    if (*std::ranges::max_element(ranks) + 1 < ranks.size()) ++folded;
  }
  EXPECT_GT(folded, 2000U);
}

// A difference goes around a ring one rank at a time.
TEST(Refinement, TakesARoundForEachRankOfARing) {
  constexpr std::size_t kRanks = 500;
  Footprint footprint;
  footprint.kinds = {{.role = 1}};
  for (std::size_t rank = 0; rank < kRanks; ++rank) {
    footprint.colour.push_back(rank == 0 ? 1 : 2);
    footprint.first_edge.push_back(rank);
    footprint.edges.push_back({.peer = RankId((rank + 1) % kRanks), .kind = 0});
  }
  footprint.first_edge.push_back(kRanks);
  const TaskGraph graph;
  const PlainRouter router({});
  const NetworkChanges changes;
  const std::vector<Paths> nowhere;
  Refinement refinement(graph, footprint, nowhere, router.capacities(), changes);
  // Each round splits one rank from the rest; 498 do, and one finds nothing.
  EXPECT_EQ(refinement.run(), 499);
  EXPECT_EQ(numbered(refinement.rank_colours()).back(), kRanks - 1);
}

}  // namespace
}  // namespace ringwright::refinement_test
