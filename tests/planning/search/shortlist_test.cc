#include "planning/search/shortlist.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <vector>

#include <gtest/gtest.h>

#include "core/base/random.h"
#include "planning/search/search_rank.h"

namespace ringwright::planning::shortlist_test {
namespace {

const std::vector<configs::SearchAxis> kAxes = {{.name = "tp", .values = {"1", "2", "4"}},
                                                {.name = "recompute", .values = {"none", "full"}},
                                                {.name = "cp", .values = {"1"}}};
constexpr std::size_t kBest = 4;

// Layouts with steps and bounds of which none is above its step, if `tightness` is at most 1.
class Space {
 public:
  Space(std::uint64_t seed, std::size_t count, double tightness = 1.0) : configurations_(count) {
    RandomStream random(seed, "layouts");
    for (std::size_t i = 0; i < count; ++i) {
      Configuration& configuration = configurations_[i];
      configuration.index = i;
      configuration.layout.tp = std::int64_t{1} << (random.next() % 3);
      configuration.layout.recompute = random.next() % 2 == 0 ? "none" : "full";
      configuration.fullest.total = Bytes(static_cast<std::int64_t>(random.next() % 50));
      // Few values, so that some are equal.
      steps_.emplace_back(static_cast<std::int64_t>(100 + random.next() % 60));
      layouts_.push_back({.configuration = &configuration,
                          .least = scale(steps_.back(), tightness * (0.7 + 0.3 * random.next_unit()))});
    }
  }

  bool run() {
    return predict_shortlist(layouts_, Shortlist(kAxes, kBest), [&](std::span<const std::size_t> batch) {
      for (const std::size_t i : batch) predict(i);
    });
  }
  void predict(std::size_t i) {
    ++predicted_;
    configurations_[i].quick.emplace();
    configurations_[i].quick->step_time.mean = steps_[i];
  }
  void predict_all() {
    for (std::size_t i = 0; i < configurations_.size(); ++i) predict(i);
  }
  [[nodiscard]] std::vector<Configuration> ranked() const {
    std::vector<Configuration> ranked;
    std::ranges::copy_if(configurations_, std::back_inserter(ranked),
                         [](const auto& c) { return c.quick.has_value(); });
    rank_by_formulas(ranked, configs::Objective::kStepTime);
    return ranked;
  }
  [[nodiscard]] std::size_t predicted() const { return predicted_; }
  [[nodiscard]] std::vector<BoundedLayout>& layouts() { return layouts_; }

 private:
  std::vector<Configuration> configurations_;
  std::vector<Duration> steps_;
  std::vector<BoundedLayout> layouts_;
  std::size_t predicted_ = 0;
};

// What the page shows, as indices.
struct Shown {
  std::vector<std::size_t> best;
  std::map<std::pair<std::string, std::string>, std::size_t> choices;
  std::vector<std::size_t> front;
  friend bool operator==(const Shown&, const Shown&) = default;
};

Shown shown_of(const Space& space) {
  const std::vector<Configuration> ranked = space.ranked();
  Shown shown;
  for (std::size_t i = 0; i < std::min(kBest, ranked.size()); ++i) shown.best.push_back(ranked[i].index);
  for (const Configuration& c : ranked) {
    shown.choices.try_emplace({"tp", std::to_string(c.layout.tp)}, c.index);
    shown.choices.try_emplace({"recompute", c.layout.recompute}, c.index);
  }
  for (const std::size_t i : pareto_front(ranked)) shown.front.push_back(ranked[i].index);
  return shown;
}

TEST(Shortlist, ShowsWhatAllPredictionsShow) {
  std::size_t skipped = 0;
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    Space all(seed, 200), some(seed, 200);
    all.predict_all();
    EXPECT_TRUE(some.run());
    EXPECT_EQ(shown_of(some), shown_of(all)) << seed;
    skipped += 200 - some.predicted();
  }
  EXPECT_GT(skipped, 300U * 50U);
}

TEST(Shortlist, PredictsNothingTwiceAndSkipsOnlyWhatIsSlower) {
  Space space(1, 200);
  EXPECT_TRUE(space.run());
  std::size_t skipped = 0;
  for (const BoundedLayout& layout : space.layouts()) {
    EXPECT_NE(layout.skipped, layout.configuration->quick.has_value());
    skipped += layout.skipped ? 1 : 0;
  }
  EXPECT_EQ(space.predicted() + skipped, 200U);
}

// A step below its bound: all are predicted, each once.
TEST(Shortlist, PredictsAllWhereABoundIsWrong) {
  Space all(7, 200), some(7, 200, 1.3);
  all.predict_all();
  EXPECT_FALSE(some.run());
  EXPECT_EQ(some.predicted(), 200U);
  EXPECT_EQ(shown_of(some), shown_of(all));
  for (const BoundedLayout& layout : some.layouts()) EXPECT_FALSE(layout.skipped);
}

TEST(Shortlist, PredictsWhatHasNoBound) {
  Space space(3, 100);
  for (BoundedLayout& layout : space.layouts()) layout.least.reset();
  EXPECT_TRUE(space.run());
  EXPECT_EQ(space.predicted(), 100U);
}

}  // namespace
}  // namespace ringwright::planning::shortlist_test
