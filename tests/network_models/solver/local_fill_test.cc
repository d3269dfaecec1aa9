// Changes among thousands of flows that nearly all depend on each other, as in an all-to-all on hashed routes.
#include "network_models/solver/local_fill.h"

#include <algorithm>
#include <vector>

#include <gtest/gtest.h>

#include "core/base/random.h"
#include "network_models/solver/incremental_max_min.h"

namespace ringwright::network_models::local_fill_test {
namespace {

// Leaves of as many NICs as uplinks. Links by kind: from NICs, to NICs, up, down.
class HashedFabric {
 public:
  HashedFabric(std::uint64_t seed, std::uint32_t leaves, std::uint32_t nics_of_leaf)
      : random_(seed, "hashed fabric"),
        nics_of_leaf_(nics_of_leaf),
        nics_(leaves * nics_of_leaf),
        shares_(std::vector<Bandwidth>(std::size_t{4} * nics_, Bandwidth(50e9))) {}

  void enter() {
    FlowSlot flow = flows_;
    if (free_.empty()) {
      ++flows_;
    } else {
      flow = free_.back();
      free_.pop_back();
    }
    shares_.place(flow, any_route());
    shares_.enter(flow);
    inside_.push_back(flow);
  }
  void leave() {
    const std::size_t index = random_.next_below(inside_.size());
    shares_.leave(inside_[index]);
    free_.push_back(inside_[index]);
    inside_[index] = inside_.back();
    inside_.pop_back();
  }
  // A link at another rate, at times none.
  void resize() {
    const auto link = static_cast<int>(random_.next_below(std::uint64_t{4} * nics_));
    shares_.set_capacity(LinkId(link), Bandwidth(10e9 * static_cast<double>(random_.next_below(6))));
  }
  [[nodiscard]] RandomStream& random() { return random_; }
  [[nodiscard]] IncrementalMaxMin& shares() { return shares_; }
  // Of all rates, against a full solve.
  [[nodiscard]] double error() const { return shares_.largest_error(); }

 private:
  [[nodiscard]] std::vector<Hop> any_route() {
    const auto from = static_cast<std::uint32_t>(random_.next_below(nics_));
    const auto to = static_cast<std::uint32_t>(random_.next_below(nics_));
    const double share = random_.next_below(5) == 0 ? 0.3 : 1.0;
    std::vector<Hop> route = {{.link = LinkId(from), .share = share}, {.link = LinkId(nics_ + to), .share = share}};
    if (from / nics_of_leaf_ == to / nics_of_leaf_) return route;
    const auto plane = static_cast<std::uint32_t>(random_.next_below(nics_of_leaf_));
    route.push_back({.link = LinkId(2 * nics_ + from / nics_of_leaf_ * nics_of_leaf_ + plane), .share = share});
    route.push_back({.link = LinkId(3 * nics_ + to / nics_of_leaf_ * nics_of_leaf_ + plane), .share = share});
    return route;
  }

  RandomStream random_;
  std::uint32_t nics_of_leaf_;
  std::uint32_t nics_;
  IncrementalMaxMin shares_;
  FlowSlot flows_ = 0;
  std::vector<FlowSlot> free_;
  std::vector<FlowSlot> inside_;
};

// Every solve is compared with a full one, which shares no state with it. Loads of links are carried on from solve to
// solve: their rounding must not add up.
TEST(LocalFill, AgreesWithFullSolvesThroughAnAllToAllOnHashedRoutes) {
  for (std::uint64_t seed = 0; seed < 6; ++seed) {
    HashedFabric fabric(seed, 4, 8);
    for (int flow = 0; flow < 600; ++flow) fabric.enter();
    fabric.shares().solve();
    double largest = 0.0;
    for (int step = 0; step < 400; ++step) {
      fabric.random().next_below(2) == 0 ? fabric.enter() : fabric.leave();
      fabric.shares().solve();
      largest = std::max(largest, fabric.error());
    }
    EXPECT_LE(largest, 1e-11) << "seed " << seed;
    EXPECT_LT(fabric.shares().work().full_solves, fabric.shares().work().solves / 4);
  }
}

TEST(LocalFill, AgreesWithFullSolvesWhileLinksChangeTheirCapacity) {
  for (std::uint64_t seed = 0; seed < 6; ++seed) {
    HashedFabric fabric(seed, 3, 4);
    for (int flow = 0; flow < 150; ++flow) fabric.enter();
    double largest = 0.0;
    for (int step = 0; step < 400; ++step) {
      const std::uint64_t what = fabric.random().next_below(8);
      what == 0 ? fabric.resize() : what < 4 ? fabric.leave() : fabric.enter();
      fabric.shares().solve();
      largest = std::max(largest, fabric.error());
    }
    EXPECT_LE(largest, 1e-11) << "seed " << seed;
  }
}

// A solve that has no notion of what depends on what takes all flows: 300 of 1,200 are what one departure reaches here.
TEST(LocalFill, ChoosesFewMorePathsThanChangeTheirRate) {
  HashedFabric fabric(1, 4, 8);
  for (int flow = 0; flow < 1200; ++flow) fabric.enter();
  fabric.shares().solve();
  const std::uint64_t before = fabric.shares().work().flows_resolved;
  std::uint64_t changed = 0;
  for (int step = 0; step < 100; ++step) {
    fabric.leave();
    changed += fabric.shares().solve().size();
  }
  EXPECT_LE(fabric.shares().work().flows_resolved - before, 2 * changed);
}

}  // namespace
}  // namespace ringwright::network_models::local_fill_test
