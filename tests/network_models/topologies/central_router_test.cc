// Central routing: pairs of a job are placed where they meet fewest others.
#include "network_models/topologies/central_router.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <vector>

#include <gtest/gtest.h>

#include "core/base/random.h"
#include "network_models/host/host_block.h"
#include "tests/network_models/clos_orders.h"
#include "tests/network_models/path_checks.h"

namespace ringwright::network_models::central_router_test {
namespace {

// 4 rails, units of 8 hosts, 8 uplinks a leaf for its 8 hosts: non-blocking.
Network rails(bool planned) {
  const Host host = simple_host(4, 4);
  return build_clos({.host = host,
                     .shape = derive_clos(rail_order(16, 4, 8), host, 32).shape,
                     .routing = {.policy = RoutingPolicy::kEcmp, .hash_seed = 1, .planned = planned}});
}

// Each GPU sends to one other, drawn at random.
std::vector<RouteQuery> permutation(std::size_t ranks, std::uint64_t seed) {
  std::vector<std::size_t> to(ranks);
  std::iota(to.begin(), to.end(), std::size_t{0});
  RandomStream random(seed, "permutation");
  for (std::size_t i = ranks - 1; i > 0; --i) std::swap(to[i], to[random.next_below(i + 1)]);
  std::vector<RouteQuery> pairs;
  for (std::size_t from = 0; from < ranks; ++from) {
    if (to[from] != from) pairs.push_back(between(from, to[from]));
  }
  return pairs;
}

std::vector<CentralRouter::Pair> of_one_role(const std::vector<RouteQuery>& queries) {
  std::vector<CentralRouter::Pair> pairs;
  for (const RouteQuery& query : queries) pairs.push_back({.query = query, .role = 1});
  return pairs;
}

struct Loads {
  double largest = 0.0;
  std::size_t conflicts = 0;  // links that several flows share
};
Loads loads_of(const Network& network, const std::vector<RouteQuery>& pairs) {
  std::map<LinkId, double> load;
  for (const RouteQuery& pair : pairs) {
    for (const Hop& hop : hops_of(network, pair)) {
      const NodeKind from = network.fabric.node(network.fabric.link(hop.link).from).kind;
      const NodeKind to = network.fabric.node(network.fabric.link(hop.link).to).kind;
      if (from == NodeKind::kSpine || to == NodeKind::kSpine) load[hop.link] += hop.share;
    }
  }
  Loads loads;
  for (const auto& [link, flows] : load) {
    loads.largest = std::max(loads.largest, flows);
    if (flows > 1.0) ++loads.conflicts;
  }
  return loads;
}

// A non-blocking Clos network carries every permutation without conflicts (Clos 1953); hashing does not find that. Of
// the conflicts of ECMP the plan leaves less than a fifth, which is what GOR's report claims.
TEST(CentralRouter, AvoidsFourFifthsOfTheConflictsOfHashing) {
  std::size_t hashed_conflicts = 0;
  std::size_t planned_conflicts = 0;
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    const Network hashed = rails(false);
    const Network planned = rails(true);
    const std::vector<RouteQuery> pairs = permutation(hashed.fabric.gpus().size(), seed);
    ASSERT_NE(planned.central, nullptr);
    ASSERT_TRUE(planned.central->plan(of_one_role(pairs)));
    const Loads by_hash = loads_of(hashed, pairs);
    const Loads by_plan = loads_of(planned, pairs);
    EXPECT_GE(by_hash.largest, 3.0);
    EXPECT_LE(by_plan.largest, 2.0);
    hashed_conflicts += by_hash.conflicts;
    planned_conflicts += by_plan.conflicts;
  }
  EXPECT_LT(5 * planned_conflicts, hashed_conflicts) << planned_conflicts << " of " << hashed_conflicts;
}

// A shift by whole units: every leaf sends all its flows to one other.
TEST(CentralRouter, FindsTheConflictFreePathsOfAShift) {
  const Network planned = rails(true);
  std::vector<RouteQuery> pairs;
  for (std::size_t rank = 0; rank < 128; ++rank) pairs.push_back(between(rank, (rank + 4 * 8) % 128));
  ASSERT_TRUE(planned.central->plan(of_one_role(pairs)));
  EXPECT_LE(loads_of(planned, pairs).largest, 1.0);
}

// The steps of a pairwise all-to-all, one shift after another: no step has conflicts, though all together load every
// link.
TEST(CentralRouter, PlansEveryRoleByItself) {
  const Network planned = rails(true);
  std::vector<CentralRouter::Pair> pairs;
  std::vector<std::vector<RouteQuery>> shifts;
  for (std::size_t shift = 32; shift < 128; shift += 12) {
    shifts.emplace_back();
    for (std::size_t rank = 0; rank < 128; ++rank) {
      shifts.back().push_back(between(rank, (rank + shift) % 128));
      pairs.push_back({.query = shifts.back().back(), .role = shift});
    }
  }
  ASSERT_TRUE(planned.central->plan(pairs));
  double sum = 0.0;
  for (const auto& shift : shifts) {
    EXPECT_LE(loads_of(planned, shift).largest, 2.0);
    sum += loads_of(planned, shift).largest;
  }
  EXPECT_LE(sum / static_cast<double>(shifts.size()), 1.5);
}

TEST(CentralRouter, HashesPairsThatItDoesNotKnow) {
  const Network hashed = rails(false);
  const Network planned = rails(true);
  const std::vector<RouteQuery> pairs = permutation(128, 1);
  for (const RouteQuery& pair : pairs) {
    std::vector<LinkId> by_hash;
    std::vector<LinkId> by_plan;
    for (const Hop& hop : hops_of(hashed, pair)) by_hash.push_back(hop.link);
    for (const Hop& hop : hops_of(planned, pair)) by_plan.push_back(hop.link);
    EXPECT_EQ(by_hash, by_plan);
  }
}

TEST(CentralRouter, SaysWhenThereAreTooManyPairs) {
  const Network planned = rails(true);
  const CentralRouter::Pair pair{.query = between(0, 5), .role = 1};
  EXPECT_FALSE(planned.central->plan(std::vector<CentralRouter::Pair>(CentralRouter::kMostPairs + 1, pair)));
}

TEST(CentralRouter, PlansTheSameAgain) {
  const std::vector<RouteQuery> pairs = permutation(128, 2);
  const Network once = rails(true);
  const Network again = rails(true);
  ASSERT_TRUE(once.central->plan(of_one_role(pairs)));
  ASSERT_TRUE(again.central->plan(of_one_role(pairs)));
  const Loads first = loads_of(once, pairs);
  const Loads second = loads_of(again, pairs);
  EXPECT_EQ(first.conflicts, second.conflicts);
}

}  // namespace
}  // namespace ringwright::network_models::central_router_test
