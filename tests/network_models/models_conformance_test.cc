// Properties of every network model: bytes are conserved, no transfer is faster than the wire, runs are reproducible.
#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "core/base/random.h"
#include "tests/network_models/arrival_log.h"
#include "tests/network_models/table_router.h"

namespace ringwright::network_models::models_conformance_test {
namespace {

using namespace ringwright::literals;

struct Send {
  TimePoint when;
  std::uint32_t row = 0;  // of the router's table; each is used once
  Bytes size;
};

// Random paths over a few links, and a random start and size for each.
struct Traffic {
  std::vector<Bandwidth> capacities;
  std::vector<TableRoute> paths;
  std::vector<Send> sends;
};

Traffic random_traffic(std::uint64_t seed) {
  RandomStream random(seed, "traffic");
  Traffic traffic;
  for (int l = 0; l < 8; ++l) {
    traffic.capacities.emplace_back(static_cast<double>(1 + random.next_below(20)) * 5e9);
  }
  for (std::uint32_t row = 0; row < 60; ++row) {
    TableRoute path = {.latency = Duration(static_cast<std::int64_t>(2 * random.next_below(4)) * 500'000), .hops = {}};
    const bool sprayed = random.next_below(4) == 0;
    const std::uint64_t first = random.next_below(6);
    for (std::uint64_t l = first; l < first + 1 + random.next_below(2); ++l) {
      path.hops.push_back({.link = LinkId(l), .share = sprayed ? 0.5 : 1.0});
    }
    traffic.paths.push_back(path);
    const auto start = static_cast<std::int64_t>(2 * random.next_below(50'000'000));
    const bool empty = random.next_below(10) == 0;
    traffic.sends.push_back({.when = TimePoint(Duration(start)),
                             .row = row,
                             .size = Bytes(empty ? 0 : static_cast<std::int64_t>(1 + random.next_below(4'000'000)))});
  }
  return traffic;
}

class Conformance : public testing::TestWithParam<ModelEntry> {
 protected:
  // Runs the traffic to its end.
  std::vector<Arrived> play(const Traffic& traffic, std::vector<LinkUsage>* usage = nullptr) {
    const TableRouter router(traffic.capacities, traffic.paths);
    ModelBench bench(GetParam().name, router);
    for (const Send& send : traffic.sends) bench.send_at(send.when, send.row, send.size);
    EXPECT_EQ(bench.engine.run(), RunEnd::kIdle);
    if (usage != nullptr) *usage = bench.network->usage();
    return bench.log.arrivals;
  }
};

TEST_P(Conformance, EveryTransferArrivesOnce) {
  const Traffic traffic = random_traffic(1);
  std::vector<Arrived> arrivals = play(traffic);
  std::ranges::sort(arrivals, {}, &Arrived::token);
  ASSERT_EQ(arrivals.size(), traffic.sends.size());
  for (std::size_t row = 0; row < arrivals.size(); ++row) EXPECT_EQ(arrivals[row].token, row);
}

TEST_P(Conformance, EveryLinkCarriesTheBytesOfItsTransfersAndNoMore) {
  const Traffic traffic = random_traffic(2);
  std::vector<double> expected(traffic.capacities.size(), 0.0);
  for (const Send& send : traffic.sends) {
    for (const Hop& hop : traffic.paths[send.row].hops) {
      expected[hop.link.index()] += hop.share * static_cast<double>(send.size.count());
    }
  }
  std::vector<LinkUsage> usage;
  play(traffic, &usage);
  ASSERT_EQ(usage.size(), expected.size());
  for (std::size_t l = 0; l < usage.size(); ++l) EXPECT_NEAR(usage[l].bytes, expected[l], 1e-9 * expected[l]);
}

TEST_P(Conformance, NoTransferIsFasterThanItsWire) {
  const Traffic traffic = random_traffic(3);
  for (const Arrived& arrival : play(traffic)) {
    const Send& send = traffic.sends[arrival.token];
    const TableRoute& path = traffic.paths[send.row];
    double seconds = to_seconds(path.latency);
    double wire = 0.0;
    for (const Hop& hop : path.hops) {
      const double share_of_bytes = hop.share * static_cast<double>(send.size.count());
      wire = std::max(wire, share_of_bytes / traffic.capacities[hop.link.index()].count());
    }
    if (send.size > Bytes(0)) seconds += wire;
    const double rounded = to_seconds(GetParam().rounding) * static_cast<double>(path.hops.size());
    EXPECT_GE(to_seconds(arrival.when - send.when), seconds - rounded) << "token " << arrival.token;
  }
}

TEST_P(Conformance, WithoutBytesOnlyTheLatencyIsPaid) {
  const TableRouter router({1_GBps}, {over({0}, 3_us), over({0}, 0_us), over({0}, 1_us)});
  ModelBench bench(GetParam().name, router);
  bench.send(2, 1_GiB);  // a full link does not delay a transfer without bytes
  bench.send(0, Bytes(0));
  bench.send(1, Bytes(0));
  EXPECT_TRUE(bench.log.arrivals.empty()) << "notified within start()";
  bench.engine.run();
  EXPECT_EQ(bench.log.time_of(0), TimePoint(3_us));
  EXPECT_EQ(bench.log.time_of(1), TimePoint());
}

TEST_P(Conformance, TwiceTheBandwidthAndHalfTheLatencyIsHalfTheTime) {
  const Traffic slow = random_traffic(4);
  Traffic fast = slow;
  for (Bandwidth& capacity : fast.capacities) capacity = 2.0 * capacity;
  for (TableRoute& path : fast.paths) path.latency = path.latency / 2;
  for (Send& send : fast.sends) send.when = TimePoint(send.when.since_start() / 2);
  std::vector<Arrived> of_slow = play(slow);
  std::vector<Arrived> of_fast = play(fast);
  std::ranges::sort(of_slow, {}, &Arrived::token);
  std::ranges::sort(of_fast, {}, &Arrived::token);
  for (std::size_t i = 0; i < of_slow.size(); ++i) {
    const auto twice = static_cast<double>((of_fast[i].when.since_start() * 2).count());
    // Each of the model's roundings counts once in one run and twice in the other, and where messages wait for each
    // other, those of all that went before.
    const double roundings = GetParam().folds ? 4.0 : 4.0 * static_cast<double>(slow.sends.size());
    EXPECT_NEAR(static_cast<double>(of_slow[i].when.since_start().count()), twice,
                roundings * static_cast<double>(GetParam().rounding.count()));
  }
}

TEST_P(Conformance, RunsRepeat) {
  const Traffic traffic = random_traffic(5);
  EXPECT_EQ(play(traffic), play(traffic));
}

TEST_P(Conformance, DisjointNetworksDoNotDisturbEachOther) {
  const Traffic one = random_traffic(6);
  const Traffic other = random_traffic(7);
  Traffic both = one;
  both.capacities.insert(both.capacities.end(), other.capacities.begin(), other.capacities.end());
  for (std::size_t row = 0; row < other.paths.size(); ++row) {
    TableRoute path = other.paths[row];
    for (Hop& hop : path.hops) hop.link = LinkId(hop.link.index() + one.capacities.size());
    both.paths.push_back(path);
    Send send = other.sends[row];
    send.row += static_cast<std::uint32_t>(one.paths.size());
    both.sends.push_back(send);
  }
  std::vector<Arrived> expected = play(one);
  for (Arrived arrival : play(other)) {
    arrival.token += one.paths.size();
    expected.push_back(arrival);
  }
  std::vector<Arrived> together = play(both);
  std::ranges::sort(expected, {}, &Arrived::token);
  std::ranges::sort(together, {}, &Arrived::token);
  EXPECT_EQ(together, expected);
}

// Forwards at every arrival, as a ring does.
class Relay final : public TransferListener {
 public:
  Relay(NetworkModel& network, int times) : network_(network), left_(times) {}
  void send() {
    network_.start({.from = RankId(0), .to = RankId(1), .size = Bytes(1000), .token = 0}, *this);
  }
  void on_arrived(std::uint64_t /*token*/) override {
    if (--left_ > 0) send();
  }

 private:
  NetworkModel& network_;
  int left_;
};

// 100 times 1 us of latency and 1000 B at 1 GB/s.
TEST_P(Conformance, AnArrivalMayStartTheNextTransfer) {
  const TableRouter router({1_GBps}, {over({0}, 1_us)});
  ModelBench bench(GetParam().name, router);
  Relay relay(*bench.network, 100);
  relay.send();
  bench.engine.run();
  EXPECT_EQ(bench.engine.now(), TimePoint(200_us));
  EXPECT_EQ(bench.counter("flows"), 100U);
}

TEST_P(Conformance, ALinkIsNotBusyForLongerThanTheRun) {
  const Traffic traffic = random_traffic(8);
  std::vector<LinkUsage> usage;
  const TimePoint end = play(traffic, &usage).back().when;
  for (const LinkUsage& link : usage) {
    EXPECT_LE(link.busy, end.since_start());
    EXPECT_GE(link.busy, Duration(0));
  }
}

TEST_P(Conformance, LinksThatAreSetAsideAreWatched) {
  const TableRouter router({1_GBps, 1_GBps}, {{.hops = {{.link = LinkId(0)}}}, {.hops = {{.link = LinkId(1)}}}});
  ModelBench bench(GetParam().name, router);
  const std::array links = {LinkId(0)};
  EXPECT_TRUE(bench.network->set_aside(links, TimePoint(10_us)));
  bench.send_at(TimePoint(5_us), 1, Bytes(1000));
  bench.send_at(TimePoint(10_us), 0, Bytes(1000));  // 1 us
  bench.engine.run();
  EXPECT_FALSE(bench.network->trespassed());
  EXPECT_TRUE(bench.network->set_aside(links, TimePoint(20_us)));
  bench.send_at(TimePoint(19_us), 0, Bytes(1000));
  bench.engine.run();
  EXPECT_TRUE(bench.network->trespassed());
}

TEST_P(Conformance, LinksAreNoLongerSetAsideThanUntilTheirEndIsKnown) {
  const TableRouter router({1_GBps}, {{.hops = {{.link = LinkId(0)}}}});
  ModelBench bench(GetParam().name, router);
  const std::array links = {LinkId(0)};
  EXPECT_TRUE(bench.network->set_aside(links, TimePoint(kClockEnd)));
  bench.network->end_aside(links, TimePoint(5_us));
  bench.send_at(TimePoint(5_us), 0, Bytes(1000));
  bench.engine.run();
  EXPECT_FALSE(bench.network->trespassed());
  EXPECT_TRUE(bench.network->set_aside(links, TimePoint(kClockEnd)));
  bench.network->end_aside(links, TimePoint(20_us));
  bench.send_at(TimePoint(19_us), 0, Bytes(1000));
  bench.engine.run();
  EXPECT_TRUE(bench.network->trespassed());
}

TEST_P(Conformance, LinksInUseCannotBeSetAside) {
  const TableRouter router({1_GBps}, {{.hops = {{.link = LinkId(0)}}}});
  ModelBench bench(GetParam().name, router);
  const std::array links = {LinkId(0)};
  bool granted = true;
  bench.send(0, Bytes(1000));
  bench.engine.at(TimePoint(500_ns), [&] { granted = bench.network->set_aside(links, TimePoint(2_us)); });
  bench.engine.run();
  EXPECT_FALSE(granted);
}

INSTANTIATE_TEST_SUITE_P(AllModels, Conformance, testing::ValuesIn(models().begin(), models().end()),
                         [](const testing::TestParamInfo<ModelEntry>& tested) {
                           return std::string(tested.param.name);
                         });

TEST(Models, HaveDistinctNamesAndSayWhatTheyAre) {
  std::vector<std::string_view> names;
  for (const ModelEntry& entry : models()) {
    names.push_back(entry.name);
    EXPECT_FALSE(entry.help.empty());
  }
  std::ranges::sort(names);
  EXPECT_EQ(std::ranges::adjacent_find(names), names.end());
}

// Sharing only slows down: the flow model is never faster than the model without sharing.
TEST(Models, FlowIsNeverFasterThanAlphaBeta) {
  const Traffic traffic = random_traffic(9);
  const TableRouter router(traffic.capacities, traffic.paths);
  ModelBench shared("flow", router);
  ModelBench alone("alpha_beta", router);
  for (ModelBench* bench : {&shared, &alone}) {
    for (const Send& send : traffic.sends) bench->send_at(send.when, send.row, send.size);
    bench->engine.run();
  }
  for (const Arrived& arrival : alone.log.arrivals) {
    EXPECT_GE(shared.log.time_of(arrival.token) + Duration(1), arrival.when);
  }
}

}  // namespace
}  // namespace ringwright::network_models::models_conformance_test
