// DCQCN: its published fixed point and fairness, incast, pauses and their victims.
#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "core/base/random.h"
#include "network_models/congestion/fabric_flows.h"
#include "tests/network_models/arrival_log.h"
#include "tests/network_models/table_router.h"

namespace ringwright::network_models::dcqcn_test {
namespace {

using namespace ringwright::literals;

constexpr double kSpeed = 5e9;  // 40 Gbit/s

// Links of one direction, in the order of their capacities: NIC ports first, then ports of switches.
std::vector<LinkKind> kinds_of(std::size_t nics, std::size_t switches) {
  std::vector<LinkKind> kinds(nics, LinkKind{.role = LinkRole::kNicPort, .tier = 1});
  for (std::size_t s = 0; s < switches; ++s) kinds.push_back({.role = LinkRole::kSwitchPort, .tier = 2 + s});
  return kinds;
}

// Of the published fixed point.
double probability(double packets_a_second, const RateControl& control) {
  // p at which both derivatives are 0 (CoNEXT 2016, equation 11): the rise of the target and of the rate give two
  // expressions for R_T - R_C, whose difference falls from positive to negative.
  const double rate = packets_a_second;
  const double tau = to_seconds(control.cnp_interval);
  const double packet = static_cast<double>(control.packet.count());
  const double counter = 10e6 / packet;
  const double timer = to_seconds(control.rate_timer) * rate;
  const double additive = 5e6 / packet;  // 40 Mbit/s
  const auto excess = [&](double p) {
    const double log_unmarked = std::log1p(-p);
    const double cut = 1.0 - std::exp(tau * rate * log_unmarked);
    const double alpha = 1.0 - std::exp(to_seconds(control.alpha_timer) * rate * log_unmarked);
    const double b = p / (std::exp(-counter * log_unmarked) - 1.0);
    const double t = p / (std::exp(-timer * log_unmarked) - 1.0);
    const double by_target = tau / cut * additive * rate *
                             (std::exp(5.0 * counter * log_unmarked) * b + std::exp(5.0 * timer * log_unmarked) * t);
    const double by_rate = rate * alpha / tau * cut / (rate * (b + t));
    return by_target - by_rate;
  };
  double low = 1e-7;
  double high = 0.5;
  for (int i = 0; i < 200; ++i) {
    const double middle = std::sqrt(low * high);
    (excess(middle) > 0.0 ? low : high) = middle;
  }
  return low;
}

// N senders of one port, from NICs of their own.
struct Incast {
  Incast(std::size_t senders, const CongestionSettings& settings)
      : capacities(senders + 1, Bandwidth(kSpeed)),
        kinds(kinds_of(senders, 1)),
        flows(capacities, kinds, settings) {
    std::vector<Hop> none;
    for (FlowSlot flow = 0; flow < senders; ++flow) {
      const std::vector<Hop> route = {{.link = LinkId(flow)}, {.link = LinkId(senders)}};
      flows.place(flow, {.from = RankId(flow), .to = RankId(99)}, route, 4_us, none);
      EXPECT_TRUE(none.empty());
    }
  }
  void run_to(TimePoint end) {
    std::vector<FlowSlot> ended;
    while (now < end) {
      now = std::min(end, flows.plan(now));
      flows.advance(now, ended);
    }
    EXPECT_TRUE(ended.empty());
  }

  std::vector<Bandwidth> capacities;
  std::vector<LinkKind> kinds;
  FabricFlows flows;
  TimePoint now;
};

class FixedPoint : public testing::TestWithParam<int> {};

// Zhu et al., CoNEXT 2016, theorem 1: rates are equal, and the queue is where the mark probability p* is.
TEST_P(FixedPoint, RatesAreFairAndTheQueueMarksAsPublished) {
  const auto senders = static_cast<std::size_t>(GetParam());
  const CongestionSettings settings;
  Incast incast(senders, settings);
  for (FlowSlot flow = 0; flow < senders; ++flow) incast.flows.enter(flow, 1e15, TimePoint());
  incast.run_to(TimePoint(400_ms));
  const double share = kSpeed / static_cast<double>(senders);
  double sum = 0.0;
  double queue = 0.0;
  constexpr int kSamples = 200;
  for (int sample = 0; sample < kSamples; ++sample) {
    incast.run_to(incast.now + 500_us);
    queue += incast.flows.queue(static_cast<std::uint32_t>(senders)) / kSamples;
    for (FlowSlot flow = 0; flow < senders; ++flow) sum += incast.flows.rate(flow) / kSamples;
  }
  EXPECT_NEAR(sum, kSpeed, 0.01 * kSpeed);
  for (FlowSlot flow = 0; flow < senders; ++flow) EXPECT_NEAR(incast.flows.rate(flow), share, 0.02 * share);
  const double marked = (queue - 5e3) / 195e3 * 0.01;
  const double expected = probability(share / 1024.0, settings.rates);
  EXPECT_NEAR(marked, expected, 0.03 * expected) << "queue " << queue;
  // For small p: the cube root of R_AI N^2 / (tau' C^2) (1 / B + N / (T C))^2.
  const double n = GetParam();
  const double c = kSpeed / 1024.0;
  const double root = std::cbrt(5e6 / 1024.0 * n * n / (55e-6 * c * c) *
                                std::pow(1024.0 / 10e6 + n / (55e-6 * c), 2.0));
  RecordProperty("marked", std::to_string(marked));
  RecordProperty("cube_root", std::to_string(root));
  EXPECT_NEAR(marked, root, 0.5 * root);
}
INSTANTIATE_TEST_SUITE_P(Senders, FixedPoint, testing::Values(2, 4, 8));

// A second sender starts at its line rate when the first has converged: both end at half.
TEST(Dcqcn, ALateSenderGetsAFairShare) {
  Incast incast(2, {});
  incast.flows.enter(0, 1e15, TimePoint());
  incast.run_to(TimePoint(1_ms));
  EXPECT_EQ(incast.flows.rate(0), kSpeed);
  incast.flows.enter(1, 1e15, TimePoint(1_ms));
  incast.run_to(TimePoint(600_ms));
  EXPECT_NEAR(incast.flows.rate(0) / incast.flows.rate(1), 1.0, 0.02);
}

// Eight messages over a port that another sender congests: as repetitions of one transfer, and as transfers that each
// start when the one before has arrived.
TEST(Dcqcn, MessagesOfAConnectionAreAsRepetitionsOfOne) {
  constexpr std::uint32_t kMessages = 8;
  const TableRouter router({5_GBps, 5_GBps, 5_GBps}, {over({0, 2}, 2_us), over({1, 2}, 2_us)});
  const std::vector<LinkKind> kinds = kinds_of(2, 1);
  const auto other = [](ModelBench& bench) { bench.send(1, Bytes(200'000'000)); };
  ModelBench repeated("dcqcn", router, {}, kinds);
  other(repeated);
  repeated.network->start({.from = RankId(0), .to = RankId(), .size = Bytes(2'000'000), .repeats = kMessages},
                          repeated.log);
  repeated.engine.run();

  ModelBench one_by_one("dcqcn", router, {}, kinds);
  other(one_by_one);
  struct Next final : TransferListener {
    explicit Next(ModelBench& bench) : bench(bench) {}
    void on_arrived(std::uint64_t) override {
      ended = bench.engine.now();
      if (--left > 0) send();
    }
    void send() { bench.network->start({.from = RankId(0), .to = RankId(), .size = Bytes(2'000'000)}, *this); }
    ModelBench& bench;
    std::uint32_t left = kMessages;
    TimePoint ended;
  } next(one_by_one);
  next.send();
  one_by_one.engine.run();
  EXPECT_EQ(repeated.log.time_of(0), next.ended);
  EXPECT_GT(repeated.counter("CNPs"), 0U);
}

// A sender that was cut is back at its line rate after a tenth of a second, and not after 100 us.
TEST(Dcqcn, AnIdleConnectionRecovers) {
  const RateControl control;
  ConnectionRates rates(control);
  const std::uint32_t connection = rates.number({.from = RankId(0), .to = RankId(1)});
  EXPECT_EQ(rates.begin(connection, kSpeed, TimePoint()).rate, kSpeed);
  ReactionPoint cut = starting_at(kSpeed);
  cut.rate = kSpeed / 4;
  cut.target = kSpeed / 2;
  rates.end(connection, cut, TimePoint(1_ms));
  const auto rate_after = [&](Duration idle) { return rates.begin(connection, kSpeed, TimePoint(1_ms) + idle).rate; };
  EXPECT_EQ(rate_after(Duration()), kSpeed / 4);
  EXPECT_GT(rate_after(100_us), kSpeed / 4);
  EXPECT_LT(rate_after(100_us), kSpeed / 2);
  EXPECT_GT(rate_after(10_ms), kSpeed / 2);
  EXPECT_EQ(rate_after(200_ms), kSpeed);
  EXPECT_EQ(rates.begin(connection, kSpeed / 2, TimePoint(1_ms)).rate, kSpeed / 2) << "another path";
}

TEST(Dcqcn, AloneItTakesLatencyAndBytesOverTheNarrowestLink) {
  const TableRouter router({2_GBps, 2_GBps, 1_GBps}, {over({0, 1}, 5_us), over({0, 2}, 5_us)});
  const std::vector<LinkKind> kinds = kinds_of(1, 2);
  ModelBench bench("dcqcn", router, {}, kinds);
  bench.send(0, Bytes(1'000'000));
  bench.engine.run();
  EXPECT_EQ(bench.log.time_of(0), TimePoint(505_us));
  EXPECT_EQ(bench.counter("time steps"), 0U);
}

// Two flows of one NIC share its port; neither waits in a switch.
TEST(Dcqcn, FlowsOfOneNicShareItWithoutQueues) {
  const TableRouter router({1_GBps, 1_GBps, 1_GBps}, {over({0, 1}), over({0, 2})});
  const std::vector<LinkKind> kinds = kinds_of(1, 2);
  ModelBench bench("dcqcn", router, {}, kinds);
  bench.send(0, Bytes(1'000'000));
  bench.send(1, Bytes(2'000'000));
  bench.engine.run();
  EXPECT_EQ(bench.log.time_of(0), TimePoint(2_ms));
  EXPECT_EQ(bench.log.time_of(1), TimePoint(3_ms));
  EXPECT_EQ(bench.counter("largest queue (bytes)"), 0U);
}

enum class Senders { kReact, kIgnoreMarks };
enum class Pauses { kOn, kOff };

// Four senders of 5 GB/s (links 0 to 3) to one receiver (7), and a victim (4) to another (8), all over the ports 5 and
// 6 of 25 GB/s between three switches.
struct Victim {
  static ModelOptions options(Senders senders, Pauses pauses) {
    ModelOptions options;
    options.congestion.rates.reacts = senders == Senders::kReact;
    options.congestion.buffers.pauses = pauses == Pauses::kOn;
    return options;
  }
  Victim(Senders senders, Pauses pauses)
      : router({5_GBps, 5_GBps, 5_GBps, 5_GBps, 5_GBps, 25_GBps, 25_GBps, 5_GBps, 5_GBps},
               {over({0, 5, 6, 7}), over({1, 5, 6, 7}), over({2, 5, 6, 7}), over({3, 5, 6, 7}), over({4, 5, 6, 8})}),
        kinds(kinds_of(5, 4)),
        bench("dcqcn", router, options(senders, pauses), kinds) {
    for (std::uint32_t sender = 0; sender < 4; ++sender) bench.send(sender, Bytes(100'000'000));
    bench.send(4, Bytes(20'000'000));
    bench.engine.run();
  }
  [[nodiscard]] double victim() const { return to_seconds(bench.log.time_of(4).since_start()); }
  [[nodiscard]] double incast() const {
    TimePoint last;
    for (std::uint32_t sender = 0; sender < 4; ++sender) last = std::max(last, bench.log.time_of(sender));
    return to_seconds(last.since_start());
  }

  TableRouter router;
  std::vector<LinkKind> kinds;
  ModelBench bench;
};

// 400 MB over 5 GB/s: its port is always busy, but for the time in which rates rise again after the first cuts.
TEST(Dcqcn, AnIncastIsBoundByItsReceiver) {
  for (const Senders senders : {Senders::kReact, Senders::kIgnoreMarks}) {
    for (const Pauses pauses : {Pauses::kOn, Pauses::kOff}) {
      const Victim victim(senders, pauses);
      EXPECT_GE(victim.incast(), 0.08 * (1.0 - 1e-9));
      EXPECT_LE(victim.incast(), senders == Senders::kReact ? 0.08 * 1.06 : 0.08 * 1.001);
    }
  }
}

// Head-of-line blocking: the port that the pause holds back serves first in, first out, so that the victim gets as much
// as each of the four, a quarter of 5 GB/s. Without pauses it takes the 4 ms of its own link, and with DCQCN nearly so.
TEST(Dcqcn, PausesSlowAVictimAndRatesRelieveIt) {
  const Victim alone(Senders::kIgnoreMarks, Pauses::kOff);
  const Victim paused(Senders::kIgnoreMarks, Pauses::kOn);
  const Victim relieved(Senders::kReact, Pauses::kOn);
  EXPECT_NEAR(alone.victim(), 4e-3, 1e-5);
  EXPECT_NEAR(paused.victim(), 16e-3, 0.08 * 16e-3);
  EXPECT_LT(relieved.victim(), 1.6 * alone.victim());
  EXPECT_GT(paused.bench.counter("PFC pauses"), 0U);
  EXPECT_EQ(alone.bench.counter("PFC pauses"), 0U);
  EXPECT_LT(relieved.bench.counter("PFC pause time of all ports (ns)"),
            paused.bench.counter("PFC pause time of all ports (ns)") / 4);
  EXPECT_GT(relieved.bench.counter("CNPs"), 0U);
}

// Random paths over ports in random order, in part sprayed: each transfer arrives once, later than its wires allow, and
// every link carries its bytes.
TEST(Dcqcn, BytesAreConservedOnRandomPaths) {
  for (std::uint64_t seed = 1; seed <= 4; ++seed) {
    RandomStream random(seed, "ports");
    const std::vector<LinkKind> kinds = kinds_of(6, 6);
    std::vector<Bandwidth> capacities;
    for (std::size_t l = 0; l < kinds.size(); ++l) {
      capacities.emplace_back(static_cast<double>(1 + random.next_below(10)) * 1e9);
    }
    std::vector<TableRoute> paths;
    std::vector<double> expected(kinds.size(), 0.0);
    std::vector<Bytes> sizes;
    for (std::uint32_t row = 0; row < 40; ++row) {
      TableRoute path = over({static_cast<int>(random.next_below(6))}, 2_us);
      const std::uint64_t first = 6 + random.next_below(5);
      if (random.next_below(3) == 0) {
        path.hops.push_back({.link = LinkId(first), .share = 0.5});
        path.hops.push_back({.link = LinkId(first + 1), .share = 0.5});
      } else {
        path.hops.push_back({.link = LinkId(first)});
        if (random.next_below(2) == 0) path.hops.push_back({.link = LinkId(first == 6 ? 9 : 6)});
      }
      sizes.emplace_back(static_cast<std::int64_t>(1 + random.next_below(4'000'000)));
      for (const Hop& hop : path.hops) {
        expected[hop.link.index()] += hop.share * static_cast<double>(sizes.back().count());
      }
      paths.push_back(path);
    }
    const TableRouter router(capacities, paths);
    ModelBench bench("dcqcn", router, {}, kinds);
    for (std::uint32_t row = 0; row < sizes.size(); ++row) {
      bench.send_at(TimePoint(Duration(row * 10'000'000LL)), row, sizes[row]);
    }
    EXPECT_EQ(bench.engine.run(), RunEnd::kIdle);
    ASSERT_EQ(bench.log.arrivals.size(), sizes.size());
    const std::vector<LinkUsage> usage = bench.network->usage();
    for (std::size_t l = 0; l < usage.size(); ++l) EXPECT_NEAR(usage[l].bytes, expected[l], 1e-9 * expected[l]);
    for (const Arrived& arrived : bench.log.arrivals) {
      const double size = static_cast<double>(sizes[arrived.token].count());
      double wire = 0.0;
      for (const Hop& hop : paths[arrived.token].hops) {
        wire = std::max(wire, hop.share * size / capacities[hop.link.index()].count());
      }
      const double took = to_seconds(arrived.when.since_start()) - 10e-6 * static_cast<double>(arrived.token);
      EXPECT_GE(took, wire + 2e-6 - 2e-12);
    }
  }
}

// Ports that pause each other in a cycle go on when the watchdog ends a pause.
TEST(Dcqcn, ACycleOfPausesEnds) {
  ModelOptions options = Victim::options(Senders::kIgnoreMarks, Pauses::kOn);
  options.congestion.step = 20_us;
  const TableRouter router({5_GBps, 5_GBps, 5_GBps, 5_GBps, 5_GBps, 5_GBps},
                           {over({0, 3, 4}), over({1, 4, 5}), over({2, 5, 3})});
  const std::vector<LinkKind> kinds = kinds_of(3, 3);
  ModelBench bench("dcqcn", router, options, kinds);
  for (std::uint32_t row = 0; row < 3; ++row) bench.send(row, Bytes(20'000'000));
  EXPECT_EQ(bench.engine.run(), RunEnd::kIdle);
  EXPECT_EQ(bench.log.arrivals.size(), 3U);
}

}  // namespace
}  // namespace ringwright::network_models::dcqcn_test
