// Messages between hosts are predicted as on the longest path that is as wide as theirs.
#include "configs/simulation/farthest_pairs.h"

#include <cstdlib>
#include <span>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "configs/simulation/planner.h"
#include "tests/configs/played.h"

namespace ringwright::configs::farthest_pairs_test {
namespace {

using namespace ringwright::literals;

// Hosts of two GPUs in a row: a path is longer the farther they are apart, and on GPU 1 narrow from host 2 on.
class Row final : public Router {
 public:
  Duration route(const RouteQuery& query, std::vector<Hop>& hops) const override {
    const std::size_t to = query.to.index() / 2;
    const bool narrow = query.to.index() % 2 == 1 && to >= 2;
    hops.assign(1, {.link = LinkId(narrow ? 1 : 0)});
    return 1_us * std::abs(static_cast<std::int64_t>(query.from.index() / 2) - static_cast<std::int64_t>(to));
  }
  [[nodiscard]] std::span<const Bandwidth> capacities() const override { return capacities_; }

 private:
  std::vector<Bandwidth> capacities_ = {400_Gbps, 200_Gbps};
};

struct Numbers {
  std::size_t from;
  std::size_t to;
  friend bool operator==(const Numbers&, const Numbers&) = default;
};

Numbers like(std::size_t from, std::size_t to) {
  const Row row;
  FarthestPairs pairs;
  const FarthestPairs::Ends ends =
      pairs.like({.router = row, .gpus = 8, .per_host = 2}, {.from = RankId(from), .to = RankId(to)});
  return {ends.from.index(), ends.to.index()};
}

TEST(FarthestPairs, AreThoseOfTheSameGpusThatAreFarthestFromTheFirstHost) {
  EXPECT_EQ(like(2, 4), (Numbers{0, 6}));
  EXPECT_EQ(like(3, 4), (Numbers{1, 6}));
}

TEST(FarthestPairs, AreAsWide) {
  EXPECT_EQ(like(2, 5), (Numbers{0, 7}));
  EXPECT_EQ(like(0, 3), (Numbers{0, 3}));  // the only wide one
}

TEST(FarthestPairs, AreThePairsThemselvesInAHost) { EXPECT_EQ(like(4, 5), (Numbers{4, 5})); }

// Ranks beyond the GPUs share one with others.
TEST(FarthestPairs, AreThePairsThemselvesBeyondTheGpus) { EXPECT_EQ(like(0, 8), (Numbers{0, 8})); }

// Six stages of three hosts each, on leaves of four hosts: some neighbours share a leaf, others do not.
TEST(FarthestPairs, LengthenAStepByLittleAndNeverShortenIt) {
  const Scenario scenario = load(
      "model: {num_layers: 12, hidden_size: 2048, num_attention_heads: 16, ffn_hidden_size: 8192, vocab_size: 32000, "
      "seq_length: 1024}\ntraining: {global_batch: 96}\nparallel: {tp: 8, pp: 6, dp: auto}\n"
      "cluster: {nodes: 18, node: {preset: dgx-h100}, fabric: {type: rail_optimized, scalable_unit: 4, "
      "leaf: {ports: 8}, spine: {ports: 64}}}\nsimulate: {network: alpha_beta}\n"
      "collectives: {model: closed_form, overhead: kernels}\n");
  const auto predicted = [&](OverheadAccuracy accuracy) {
    KnownOverheads known(accuracy);
    return to_seconds((*Planner(scenario, &known).predict(scenario))->step_time.mean);
  };
  const double expected = predicted(OverheadAccuracy::kExact);
  const double estimate = predicted(OverheadAccuracy::kInterpolated);
  EXPECT_GT(estimate, expected);
  EXPECT_LT(estimate, 1.0005 * expected);
}

}  // namespace
}  // namespace ringwright::configs::farthest_pairs_test
