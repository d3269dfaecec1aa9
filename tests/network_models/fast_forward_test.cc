// Repeated transfers: simulated as one batch, one by one, or resubmitted by the listener, they end at the same
// picosecond.
#include <map>
#include <memory>
#include <vector>

#include <gtest/gtest.h>

#include "core/base/random.h"
#include "network_models/builtin.h"

namespace ringwright::network_models::fast_forward_test {
namespace {

using namespace ringwright::literals;

// Rank r sends on link r and receives on link 8 + r; all paths are 1 us long.
class Star final : public Router {
 public:
  Star() : capacities_(16, Bandwidth(10e9)) { capacities_[3] = Bandwidth(7e9); }
  Duration route(const RouteQuery& query, std::vector<Hop>& hops) const override {
    hops = {{.link = LinkId(query.from.value)}, {.link = LinkId(8 + query.to.value)}};
    return 1_us;
  }
  [[nodiscard]] std::span<const Bandwidth> capacities() const override { return capacities_; }

 private:
  std::vector<Bandwidth> capacities_;
};

struct Job {
  TimePoint start;
  Transfer transfer;
};

enum class Resubmit { kByModel, kByListener };

class Player final : public TransferListener {
 public:
  Player(std::string_view model, FastForward fast_forward, Resubmit resubmit) : resubmit_(resubmit) {
    for (const ModelEntry& entry : models()) {
      if (entry.name == model) {
        model_ = entry.make({.engine = engine_, .router = star_, .options = {.fast_forward = fast_forward}});
      }
    }
  }
  std::vector<TimePoint> play(const std::vector<Job>& jobs) {
    ends_.resize(jobs.size());
    left_.resize(jobs.size());
    jobs_ = &jobs;
    for (std::size_t i = 0; i < jobs.size(); ++i) {
      left_[i] = resubmit_ == Resubmit::kByListener ? jobs[i].transfer.repeats : 1;
      engine_.at(jobs[i].start, [this, i] { submit(i); });
    }
    EXPECT_EQ(engine_.run(), RunEnd::kIdle);
    return ends_;
  }
  void on_arrived(std::uint64_t token) override {
    ends_[token] = engine_.now();
    if (--left_[token] > 0) submit(token);
  }
  [[nodiscard]] std::vector<LinkUsage> usage() const { return model_->usage(); }
  [[nodiscard]] std::uint64_t counter(std::string_view name) const {
    for (const auto& counter : model_->counters()) {
      if (counter.name == name) return counter.value;
    }
    return 0;
  }

 private:
  void submit(std::size_t job) {
    Transfer transfer = (*jobs_)[job].transfer;
    if (resubmit_ == Resubmit::kByListener) transfer.repeats = 1;
    transfer.token = job;
    model_->start(transfer, *this);
  }

  Engine engine_;
  Star star_;
  Resubmit resubmit_;
  std::unique_ptr<NetworkModel> model_;
  const std::vector<Job>* jobs_ = nullptr;
  std::vector<TimePoint> ends_;
  std::vector<std::uint32_t> left_;
};

std::vector<Job> random_jobs(std::uint64_t seed) {
  RandomStream random(seed, "fast forward");
  std::vector<Job> jobs;
  const std::size_t count = 2 + random.next_below(10);
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint64_t from = random.next_below(8);
    const std::uint64_t to = (from + 1 + random.next_below(7)) % 8;
    Job job{.start = TimePoint(Duration(static_cast<std::int64_t>(random.next_below(40)) * 500'000)),
            .transfer = {.from = RankId(static_cast<std::size_t>(from)), .to = RankId(static_cast<std::size_t>(to)),
                         .size = Bytes(static_cast<std::int64_t>(random.next_below(4) * 7001)),
                         .repeats = static_cast<std::uint32_t>(1 + random.next_below(12))}};
    jobs.push_back(job);
  }
  return jobs;
}

TEST(FastForward, ABatchAloneIsItsRepetitionsOneAfterAnother) {
  // 5 times 1 us + 10,000 B / 10 GB/s.
  const std::vector<Job> jobs = {
      {.start = TimePoint(), .transfer = {.from = RankId(0), .to = RankId(1), .size = Bytes(10'000), .repeats = 5}}};
  Player player("flow", FastForward::kOn, Resubmit::kByModel);
  EXPECT_EQ(player.play(jobs), (std::vector{TimePoint(10_us)}));
  EXPECT_EQ(player.counter("flows fast-forwarded"), 5U);
  EXPECT_EQ(player.counter("flows"), 5U);
  EXPECT_EQ(player.usage()[0].bytes, 50'000.0);
  EXPECT_EQ(player.usage()[0].busy, 5_us);
}

TEST(FastForward, ABatchIsSplitWhereAnotherFlowEnters) {
  // The batch's third repetition streams from 5 to 6 us. The other flow enters at 5.5 us and both halve: the batch's
  // remaining 5,000 B take 1 us, until 6.5 us; the fourth streams from 7.5 us on, concurrently with the other until
  // that one ends.
  const std::vector<Job> jobs = {
      {.start = TimePoint(), .transfer = {.from = RankId(0), .to = RankId(1), .size = Bytes(10'000), .repeats = 4}},
      {.start = TimePoint(4500_ns), .transfer = {.from = RankId(2), .to = RankId(1), .size = Bytes(20'000)}}};
  Player player("flow", FastForward::kOn, Resubmit::kByModel);
  // Other: 5,000 B by 6.5, 10,000 more by 7.5, 5,000 left at half speed until 8.5. Batch: 5,000 by 8.5, rest until 9.
  EXPECT_EQ(player.play(jobs), (std::vector{TimePoint(9_us), TimePoint(8500_ns)}));
  EXPECT_LT(player.counter("flows fast-forwarded"), 4U);
}

// One byte on such a link takes less than half a picosecond.
class Instant final : public Router {
 public:
  Duration route(const RouteQuery& /*query*/, std::vector<Hop>& hops) const override {
    hops = {{.link = LinkId(0)}};
    return {};
  }
  [[nodiscard]] std::span<const Bandwidth> capacities() const override { return capacities_; }

 private:
  std::vector<Bandwidth> capacities_ = {Bandwidth(1e15)};
};

class Arrivals final : public TransferListener {
 public:
  void on_arrived(std::uint64_t /*token*/) override { ++count; }
  int count = 0;
};

TEST(FastForward, RepetitionsThatTakeNoTimeEndAtOnce) {
  for (const ModelEntry& entry : models()) {
    Engine engine;
    const Instant router;
    Arrivals arrivals;
    const auto model = entry.make({.engine = engine, .router = router});
    const Transfer transfer{.from = RankId(0), .to = RankId(1), .size = 1_B, .repeats = 5};
    model->start(transfer, arrivals);
    model->start(transfer, arrivals);
    static_cast<void>(model->usage());
    EXPECT_EQ(engine.run(), RunEnd::kIdle) << entry.name;
    EXPECT_EQ(arrivals.count, 2) << entry.name;
    EXPECT_EQ(engine.now(), TimePoint()) << entry.name;
    EXPECT_EQ(model->usage()[0].bytes, 10.0) << entry.name;
  }
}

TEST(FastForward, RandomTrafficEndsAtTheSamePicosecondInAllThreeModes) {
  for (std::uint64_t seed = 0; seed < 2000; ++seed) {
    const std::vector<Job> jobs = random_jobs(seed);
    Player on("flow", FastForward::kOn, Resubmit::kByModel);
    Player off("flow", FastForward::kOff, Resubmit::kByModel);
    Player by_hand("flow", FastForward::kOff, Resubmit::kByListener);
    const auto fast = on.play(jobs);
    ASSERT_EQ(fast, off.play(jobs)) << "seed " << seed;
    ASSERT_EQ(fast, by_hand.play(jobs)) << "seed " << seed;
    for (std::size_t link = 0; link < 16; ++link) {
      ASSERT_NEAR(on.usage()[link].bytes, by_hand.usage()[link].bytes, 1e-6) << "seed " << seed;
      ASSERT_EQ(on.usage()[link].busy, by_hand.usage()[link].busy) << "seed " << seed;
    }
  }
}

TEST(FastForward, WithoutSharingRepetitionsAddUpTheSame) {
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    const std::vector<Job> jobs = random_jobs(seed);
    Player at_once("alpha_beta", FastForward::kOn, Resubmit::kByModel);
    Player by_hand("alpha_beta", FastForward::kOn, Resubmit::kByListener);
    ASSERT_EQ(at_once.play(jobs), by_hand.play(jobs));
    for (std::size_t link = 0; link < 16; ++link) {
      ASSERT_NEAR(at_once.usage()[link].bytes, by_hand.usage()[link].bytes, 1e-6);
    }
  }
}

}  // namespace
}  // namespace ringwright::network_models::fast_forward_test
