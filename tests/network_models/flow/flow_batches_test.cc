// Transfers without repeats, whose latency and streaming are one wait where they meet no other.
#include <algorithm>
#include <memory>
#include <vector>

#include <gtest/gtest.h>

#include "core/base/random.h"
#include "network_models/builtin.h"
#include "network_models/flow/flow_batches.h"

namespace ringwright::network_models::flow_batches_test {
namespace {

using namespace ringwright::literals;

constexpr std::uint32_t kRanks = 8;

// Rank r sends on link r and receives on link kRanks + r. Half of the paths are 1 us long, the others 3 us.
class Switch final : public Router {
 public:
  Switch() : capacities_(2 * kRanks, Bandwidth(10e9)) { capacities_[3] = Bandwidth(7e9); }
  Duration route(const RouteQuery& query, std::vector<Hop>& hops) const override {
    hops = {{.link = LinkId(query.from.value)}, {.link = LinkId(kRanks + query.to.value)}};
    return query.to.value % 2 == 0 ? 1_us : 3_us;
  }
  [[nodiscard]] std::span<const Bandwidth> capacities() const override { return capacities_; }

 private:
  std::vector<Bandwidth> capacities_;
};

// Chains of transfers: the next sets out when the last has arrived. Those of different chains meet at times.
struct Chain {
  Transfer transfer;
  std::uint32_t count = 0;
};

struct Reading {
  TimePoint at;
  std::uint64_t digest = 0;
  std::vector<LinkUsage> usage;
};

struct Play {
  std::vector<TimePoint> ends;  // of all transfers, in the order of arrival
  std::vector<Reading> readings;
  std::uint64_t events = 0;
  std::uint64_t solves = 0;
  std::uint64_t fast_forwarded = 0;
};

class Player final : public TransferListener {
 public:
  Player(FastForward fast_forward, const std::vector<Chain>& chains) : chains_(chains) {
    for (const ModelEntry& entry : models()) {
      if (entry.name != "flow") continue;
      model_ = entry.make({.engine = engine_, .router = switch_, .options = {.fast_forward = fast_forward}});
    }
  }

  [[nodiscard]] Play play(const std::vector<TimePoint>& readings, Bandwidth late_capacity = {}) {
    for (std::size_t i = 0; i < chains_.size(); ++i) submit(i);
    for (const TimePoint at : readings) engine_.at(at, [this] { read(); });
    if (late_capacity > Bandwidth(0.0)) {
      engine_.at(TimePoint(20_us), [this, late_capacity] { model_->set_capacity(LinkId(1), late_capacity); });
    }
    EXPECT_EQ(engine_.run(), RunEnd::kIdle);
    read();
    played_.events = engine_.events_run();
    for (const NetworkModel::Counter& counter : model_->counters()) {
      if (counter.name == "solves") played_.solves = counter.value;
      if (counter.name == "flows fast-forwarded") played_.fast_forwarded = counter.value;
    }
    return played_;
  }
  void on_arrived(std::uint64_t token) override {
    played_.ends.push_back(engine_.now());
    if (--chains_[token].count > 0) submit(token);
  }
  [[nodiscard]] std::uint64_t identity(std::uint64_t token) const override { return token; }

 private:
  void submit(std::size_t chain) {
    Transfer transfer = chains_[chain].transfer;
    transfer.token = chain;
    model_->start(transfer, *this);
  }
  void read() {
    played_.readings.push_back(
        {.at = engine_.now(), .digest = model_->state_digest().value_or(0), .usage = model_->usage()});
  }

  Engine engine_;
  Switch switch_;
  std::unique_ptr<NetworkModel> model_;
  std::vector<Chain> chains_;
  Play played_;
};

std::vector<Chain> random_chains(RandomStream& random) {
  std::vector<Chain> chains;
  const std::uint64_t count = 1 + random.next_below(6);
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::uint64_t from = random.next_below(kRanks);
    const std::uint64_t to = (from + 1 + random.next_below(kRanks - 1)) % kRanks;
    chains.push_back({.transfer = {.from = RankId(static_cast<std::size_t>(from)),
                                   .to = RankId(static_cast<std::size_t>(to)),
                                   .size = Bytes(static_cast<std::int64_t>(random.next_below(5) * 7001)),
                                   .copies = random.next_below(4) == 0 ? 2U : 1U,
                                   .pays_latency = random.next_below(6) != 0,
                                   .priority = random.next_below(4) == 0 ? Priority::kLow : Priority::kHigh},
                      .count = static_cast<std::uint32_t>(1 + random.next_below(12))});
  }
  return chains;
}

void expect_equal(const Play& batched, const Play& plain) {
  ASSERT_EQ(batched.ends, plain.ends);
  ASSERT_EQ(batched.readings.size(), plain.readings.size());
  for (std::size_t i = 0; i < plain.readings.size(); ++i) {
    ASSERT_EQ(batched.readings[i].digest, plain.readings[i].digest) << "reading " << i;
    for (std::size_t link = 0; link < 2 * kRanks; ++link) {
      ASSERT_NEAR(batched.readings[i].usage[link].bytes, plain.readings[i].usage[link].bytes, 1e-6);
      ASSERT_EQ(batched.readings[i].usage[link].busy, plain.readings[i].usage[link].busy);
    }
  }
}

TEST(FlowBatches, ATransferThatMeetsNoOtherNeedsNoRateAndOneEvent) {
  const std::vector<Chain> chains = {
      {.transfer = {.from = RankId(0), .to = RankId(2), .size = Bytes(10'000)}, .count = 50}};
  const Play batched = Player(FastForward::kOn, chains).play({});
  const Play plain = Player(FastForward::kOff, chains).play({});
  expect_equal(batched, plain);
  EXPECT_EQ(batched.ends.back(), TimePoint(100_us));
  EXPECT_EQ(batched.solves, 0U);
  EXPECT_EQ(plain.solves, 50U);
  EXPECT_EQ(batched.fast_forwarded, 0U) << "none is a repetition";
  EXPECT_EQ(2 * batched.events, plain.events);
}

class Ignored final : public TransferListener {
 public:
  void on_arrived(std::uint64_t /*token*/) override {}
};

// Batches of transfers over one link, each of which ends, or is split, before the next.
class OneByOne {
 public:
  enum class Then { kEnds, kIsSplit };
  // Whether it went as a batch.
  bool start(Then then) {
    const FlowSlot flow = state_.flows.take(1);
    state_.shares.place(flow, hops_);
    FlowRow& row = state_.flows.begin(flow, engine_.now(), ignored_, 0);
    row.bytes = 1000.0;
    row.latency = 1_us;
    const bool batched = batches_.try_start(flow);
    if (batched) state_.ends.erase(flow);
    if (batched && then == Then::kEnds) batches_.end(flow);
    if (batched && then == Then::kIsSplit) {
      EXPECT_FALSE(batches_.split(flow)) << "its latency is not paid yet";
      state_.ends.erase(flow);
    }
    state_.shares.forget(flow);
    state_.flows.give_back(flow);
    return batched;
  }

 private:
  Engine engine_;
  Ignored ignored_;
  std::vector<Hop> hops_ = {{.link = LinkId(0)}};
  std::vector<Bandwidth> capacities_ = {Bandwidth(10e9)};
  FlowState state_{engine_, capacities_};
  FlowBatches batches_{state_, FastForward::kOn};
};

TEST(FlowBatches, TransfersThatMeetOthersAreSeldomBatched) {
  OneByOne transfers;
  int batched = 0;
  for (int i = 0; i < 10'000; ++i) batched += transfers.start(OneByOne::Then::kIsSplit) ? 1 : 0;
  EXPECT_GT(batched, 100) << "to find out whether they still do";
  EXPECT_LT(batched, 1000);
  for (int i = 0; i < 1000; ++i) (void)transfers.start(OneByOne::Then::kEnds);
  EXPECT_TRUE(transfers.start(OneByOne::Then::kIsSplit)) << "they have not for some time";
  EXPECT_TRUE(transfers.start(OneByOne::Then::kIsSplit));
}

TEST(FlowBatches, ATransferInFourMayMeetAnother) {
  OneByOne transfers;
  for (int i = 0; i < 10'000; ++i) {
    ASSERT_TRUE(transfers.start(i % 4 == 0 ? OneByOne::Then::kIsSplit : OneByOne::Then::kEnds));
  }
}

// At any moment, the state of the network and what links have carried are those of an event for each latency.
TEST(FlowBatches, RandomTransfersAreThoseWithoutBatches) {
  std::uint64_t fewer_events = 0;
  for (std::uint64_t seed = 0; seed < 2000; ++seed) {
    RandomStream random(seed, "transfers without repeats");
    const std::vector<Chain> chains = random_chains(random);
    std::vector<TimePoint> readings;
    for (int i = 0; i < 8; ++i) {
      readings.emplace_back(Duration(static_cast<std::int64_t>(random.next_below(60'000'000)) + 1));
    }
    const Bandwidth late_capacity = seed % 2 == 0 ? Bandwidth() : Bandwidth(3e9);
    const Play batched = Player(FastForward::kOn, chains).play(readings, late_capacity);
    const Play plain = Player(FastForward::kOff, chains).play(readings, late_capacity);
    ASSERT_NO_FATAL_FAILURE(expect_equal(batched, plain)) << "seed " << seed;
    fewer_events += plain.events - std::min(batched.events, plain.events);
  }
  EXPECT_GT(fewer_events, 10'000U);
}

}  // namespace
}  // namespace ringwright::network_models::flow_batches_test
