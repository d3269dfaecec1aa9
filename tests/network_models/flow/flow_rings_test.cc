// Rings in the flow model: their edges end at the same picosecond as when a listener sends each message after those it
// waits for have arrived, whatever else uses their links and whenever.
#include <algorithm>
#include <memory>
#include <numeric>
#include <optional>
#include <vector>

#include <gtest/gtest.h>

#include "core/base/random.h"
#include "network_models/builtin.h"

namespace ringwright::network_models::flow_rings_test {
namespace {

using namespace ringwright::literals;

constexpr std::size_t kRanks = 8;

// Rank r sends on link r and receives on link 8 + r; pairs that are three apart share link 16, too.
class Star final : public Router {
 public:
  explicit Star(bool latency) : latency_(latency), capacities_(2 * kRanks + 1, Bandwidth(10e9)) {
    capacities_[3] = Bandwidth(7e9);
    capacities_[12] = Bandwidth(9.7e9);
  }
  Duration route(const RouteQuery& query, std::vector<Hop>& hops) const override {
    hops = {{.link = LinkId(query.from.value)}, {.link = LinkId(kRanks + query.to.value)}};
    if ((query.to.value + kRanks - query.from.value) % kRanks == 3) hops.push_back({.link = LinkId(2 * kRanks)});
    return latency_ ? Duration(1'000'000 + 1'003 * ((7 * query.from.value + query.to.value) % 5)) : Duration();
  }
  [[nodiscard]] std::span<const Bandwidth> capacities() const override { return capacities_; }

 private:
  bool latency_;
  std::vector<Bandwidth> capacities_;
};

struct Ring {
  std::vector<std::size_t> ranks;
  std::vector<TimePoint> starts;  // by edge
  std::vector<Bytes> sizes;
  std::uint32_t messages = 1;
  std::uint32_t first = 0;  // of edge 0

  [[nodiscard]] std::size_t edges() const { return ranks.size(); }
  [[nodiscard]] RankId to(std::size_t edge) const { return RankId(ranks[(edge + 1) % edges()]); }
  [[nodiscard]] std::uint32_t first_of(std::size_t edge) const {
    return static_cast<std::uint32_t>((first + edge) % sizes.size());
  }
  [[nodiscard]] Bytes size(std::size_t edge, std::uint32_t message) const {
    const auto n = static_cast<std::uint32_t>(sizes.size());
    return sizes[(first_of(edge) + n - message % n) % n];
  }
};

struct Message {
  TimePoint start;
  Transfer transfer;
};

struct Change {
  TimePoint when;
  LinkId link;
  Bandwidth capacity;
};

struct Traffic {
  bool latency = true;
  std::vector<Ring> rings;
  std::vector<Message> messages;
  std::vector<Change> changes;
  std::vector<TimePoint> probes;  // of usage
};

enum class Resender { kModel, kListener };

class Player final : public TransferListener {
 public:
  Player(const Traffic& traffic, Resender resender) : traffic_(traffic), star_(traffic.latency), resender_(resender) {
    const FastForward fast = resender == Resender::kModel ? FastForward::kOn : FastForward::kOff;
    for (const ModelEntry& entry : models()) {
      if (entry.name == "flow")
        model_ = entry.make({.engine = engine_, .router = star_, .options = {.fast_forward = fast}});
    }
    ends_.resize(traffic.messages.size());
    for (std::size_t ring = 0; ring < traffic.rings.size(); ++ring) {
      number_of_.emplace_back();
      left_.emplace_back(traffic.rings[ring].edges());
      arrived_.emplace_back(traffic.rings[ring].edges());
      ring_ends_.emplace_back(traffic.rings[ring].edges());
    }
  }

  void play() {
    for (std::size_t i = 0; i < traffic_.messages.size(); ++i) {
      engine_.at(traffic_.messages[i].start, [this, i] {
        Transfer transfer = traffic_.messages[i].transfer;
        transfer.token = i;
        model_->start(transfer, *this);
      });
    }
    for (std::size_t ring = 0; ring < traffic_.rings.size(); ++ring) {
      for (std::size_t edge = 0; edge < traffic_.rings[ring].edges(); ++edge)
        engine_.at(traffic_.rings[ring].starts[edge], [this, ring, edge] { start(ring, edge); });
    }
    for (const Change& change : traffic_.changes)
      engine_.at(change.when, [this, &change] { model_->set_capacity(change.link, change.capacity); });
    for (const TimePoint probe : traffic_.probes) engine_.at(probe, [this] { usages.push_back(model_->usage()); });
    EXPECT_EQ(engine_.run(), RunEnd::kIdle);
    usages.push_back(model_->usage());
  }

  void on_arrived(std::uint64_t token) override {
    if (token < kEdge) {
      ends_[token] = engine_.now();
      return;
    }
    const std::uint64_t ring = (token - kEdge) / kRanks;
    const std::uint64_t edge = (token - kEdge) % kRanks;
    if (resender_ == Resender::kModel) {
      ring_ends_[ring][edge] = engine_.now();
      return;
    }
    ++arrived_[ring][edge];
    advance(ring, edge);
    advance(ring, (edge + 1) % traffic_.rings[ring].edges());
  }

  [[nodiscard]] const std::vector<TimePoint>& ends() const { return ends_; }
  [[nodiscard]] const std::vector<std::vector<TimePoint>>& ring_ends() const { return ring_ends_; }
  [[nodiscard]] std::uint64_t fast_forwarded() const {
    for (const auto& counter : model_->counters()) {
      if (counter.name == "flows fast-forwarded") return counter.value;
    }
    return 0;
  }
  [[nodiscard]] std::uint64_t events() const { return engine_.events_run(); }
  [[nodiscard]] NetworkModel& model() { return *model_; }
  [[nodiscard]] Engine& engine() { return engine_; }

  std::vector<std::vector<LinkUsage>> usages;

 private:
  static constexpr std::uint64_t kEdge = 1000;

  void start(std::size_t number, std::size_t edge) {
    const Ring& ring = traffic_.rings[number];
    if (resender_ == Resender::kListener) return send(number, edge);
    if (!number_of_[number]) number_of_[number] = model_->open_ring(static_cast<std::uint32_t>(ring.edges()));
    ASSERT_TRUE(number_of_[number]);
    model_->start_edge({.ring = *number_of_[number], .edge = static_cast<std::uint32_t>(edge)},
                       {.from = RankId(ring.ranks[edge]),
                        .to = ring.to(edge),
                        .sizes = ring.sizes,
                        .first = ring.first_of(edge),
                        .repeats = ring.messages,
                        .token = kEdge + number * kRanks + edge},
                       *this);
  }
  void send(std::size_t number, std::size_t edge) {
    const Ring& ring = traffic_.rings[number];
    model_->start({.from = RankId(ring.ranks[edge]),
                   .to = ring.to(edge),
                   .size = ring.size(edge, left_[number][edge]++),
                   .token = kEdge + number * kRanks + edge},
                  *this);
  }
  // Sends the next message if it may leave; notes the end.
  void advance(std::size_t number, std::size_t edge) {
    const Ring& ring = traffic_.rings[number];
    const std::uint32_t left = left_[number][edge];
    const std::size_t before = (edge + ring.edges() - 1) % ring.edges();
    if (left == 0 || arrived_[number][edge] < left || arrived_[number][before] < left) return;
    if (left < ring.messages) return send(number, edge);
    ring_ends_[number][edge] = engine_.now();
  }

  const Traffic& traffic_;
  Engine engine_;
  Star star_;
  Resender resender_;
  std::unique_ptr<NetworkModel> model_;
  std::vector<TimePoint> ends_;
  std::vector<std::vector<TimePoint>> ring_ends_;
  std::vector<std::optional<std::uint32_t>> number_of_;  // by ring
  std::vector<std::vector<std::uint32_t>> left_;         // by ring, by edge: messages
  std::vector<std::vector<std::uint32_t>> arrived_;
};

TimePoint at(Duration time) { return TimePoint(time); }

Ring ring_of(std::size_t edges, Bytes size, std::uint32_t messages) {
  Ring ring{.ranks = std::vector<std::size_t>(edges), .starts = std::vector<TimePoint>(edges), .sizes = {size},
            .messages = messages};
  std::iota(ring.ranks.begin(), ring.ranks.end(), std::size_t{0});
  return ring;
}

// 10,000 B take 1 us on all links but that of rank 3, which paces the ring after its first round; latencies differ by
// nanoseconds.
TEST(FlowRings, ARingAloneIsOneEventAnEdge) {
  const Traffic traffic{.rings = {ring_of(8, Bytes(10'000), 100)}};
  Player model(traffic, Resender::kModel);
  Player listener(traffic, Resender::kListener);
  model.play();
  listener.play();
  EXPECT_EQ(model.ring_ends(), listener.ring_ends());
  EXPECT_EQ(model.fast_forwarded(), 800U);
  EXPECT_LT(20 * model.events(), listener.events());
  EXPECT_EQ(model.usages.back()[0].bytes, 1e6);
  EXPECT_EQ(model.usages.back()[0].busy, 100_us);
}

// Edge 0 sends 1,000 B in 1.1 us; the foreign message shares its link from 1.5 us on.
TEST(FlowRings, AForeignFlowSplitsTheRing) {
  Traffic traffic{.rings = {ring_of(4, Bytes(10'000), 30)}};
  const Transfer foreign{.from = RankId(0), .to = RankId(6), .size = Bytes(50'000)};
  traffic.messages = {{.start = at(20'300_ns), .transfer = foreign}};
  Player model(traffic, Resender::kModel);
  Player listener(traffic, Resender::kListener);
  model.play();
  listener.play();
  EXPECT_EQ(model.ring_ends(), listener.ring_ends());
  EXPECT_EQ(model.ends(), listener.ends());
  EXPECT_GT(model.fast_forwarded(), 60U);   // before and after it
  EXPECT_LT(model.fast_forwarded(), 120U);
}

TEST(FlowRings, EdgesThatShareALinkMoveMessageByMessage) {
  Ring ring = ring_of(3, Bytes(10'000), 20);
  ring.ranks = {0, 3, 6};  // 0 to 3 and 3 to 6 share link 16
  const Traffic traffic{.rings = {ring}};
  Player model(traffic, Resender::kModel);
  Player listener(traffic, Resender::kListener);
  model.play();
  listener.play();
  EXPECT_EQ(model.ring_ends(), listener.ring_ends());
  EXPECT_EQ(model.fast_forwarded(), 0U);
}

TEST(FlowRings, TheNumberOfArrivedMessagesIsKnownInTheMiddle) {
  const Traffic traffic{.rings = {ring_of(2, Bytes(10'000), 50)}};
  Player model(traffic, Resender::kModel);
  std::uint32_t arrived = 0;
  struct Probe {
    NetworkModel& model;
    std::uint32_t& arrived;
  } probe = {model.model(), arrived};
  Engine& engine = model.engine();
  engine.at(at(21_us), [&probe] { probe.arrived = probe.model.arrived_in({.ring = 0, .edge = 0}); });
  model.play();
  EXPECT_EQ(arrived, 10U);  // each takes 1 us and a little more than 1 us of latency
}

Traffic random_traffic(std::uint64_t seed) {
  RandomStream random(seed, "rings");
  const auto below = [&](std::uint64_t n) { return static_cast<std::size_t>(random.next_below(n)); };
  const auto moment = [&](std::uint64_t most) {
    const auto off_grid = static_cast<std::int64_t>(below(2) * below(500'000));
    return at(Duration(static_cast<std::int64_t>(below(most)) * 500'000 + off_grid));
  };
  Traffic traffic{.latency = below(8) > 0};
  const std::size_t rings = 1 + below(2);
  for (std::size_t i = 0; i < rings; ++i) {
    const std::size_t edges = 2 + below(kRanks - 1);
    const Bytes even(static_cast<std::int64_t>(below(4)) * 7001);
    Ring ring = ring_of(edges, even, static_cast<std::uint32_t>(1 + below(40)));
    std::vector<std::size_t> ranks(kRanks);
    std::iota(ranks.begin(), ranks.end(), std::size_t{0});
    if (below(2) == 0) {
      for (std::size_t k = kRanks - 1; k > 0; --k) std::swap(ranks[k], ranks[below(k + 1)]);
    }
    std::copy_n(ranks.begin(), edges, ring.ranks.begin());
    const std::uint64_t apart = below(3) == 0 ? 1 : 1 + below(30);
    for (TimePoint& start : ring.starts) start = moment(apart);
    if (below(3) == 0) {
      const Bytes size = ring.sizes.front();
      ring.sizes.assign(edges, size);
      for (std::size_t k = 0; k < below(edges); ++k) ring.sizes[k] = size + Bytes(1);
      ring.first = static_cast<std::uint32_t>(below(edges));
    }
    traffic.rings.push_back(ring);
  }
  // In the middle of a batch of repeats usage counts bytes evenly over its time: probes come without those.
  const bool probed = below(2) == 0;
  const std::size_t messages = below(6);
  for (std::size_t i = 0; i < messages; ++i) {
    const std::size_t from = below(kRanks);
    traffic.messages.push_back({.start = moment(120),
                                .transfer = {.from = RankId(from),
                                             .to = RankId((from + 1 + below(kRanks - 1)) % kRanks),
                                             .size = Bytes(static_cast<std::int64_t>(below(4) * 12'345)),
                                             .repeats = static_cast<std::uint32_t>(probed ? 1 : 1 + below(5))}});
  }
  const std::size_t changes = below(4) == 0 ? 1 + below(3) : 0;
  for (std::size_t i = 0; i < changes; ++i) {
    traffic.changes.push_back({.when = moment(120),
                               .link = LinkId(below(2 * kRanks + 1)),
                               .capacity = Bandwidth(1e9 * static_cast<double>(1 + below(12)))});
  }
  for (std::size_t i = 0; probed && i < 3; ++i) traffic.probes.push_back(moment(120));
  std::ranges::sort(traffic.probes);
  return traffic;
}

TEST(FlowRings, RandomTrafficEndsAtTheSamePicosecond) {
  std::uint64_t fast_forwarded = 0;
  for (std::uint64_t seed = 0; seed < 5000; ++seed) {
    const Traffic traffic = random_traffic(seed);
    Player model(traffic, Resender::kModel);
    Player listener(traffic, Resender::kListener);
    model.play();
    listener.play();
    ASSERT_EQ(model.ring_ends(), listener.ring_ends()) << "seed " << seed;
    ASSERT_EQ(model.ends(), listener.ends()) << "seed " << seed;
    ASSERT_EQ(model.usages.size(), listener.usages.size());
    for (std::size_t probe = 0; probe < model.usages.size(); ++probe) {
      for (std::size_t link = 0; link < model.usages[probe].size(); ++link) {
        ASSERT_NEAR(model.usages[probe][link].bytes, listener.usages[probe][link].bytes, 1e-3)
            << "seed " << seed << " probe " << probe << " link " << link;
        ASSERT_EQ(model.usages[probe][link].busy, listener.usages[probe][link].busy)
            << "seed " << seed << " probe " << probe << " link " << link;
      }
    }
    fast_forwarded += model.fast_forwarded();
  }
  EXPECT_GT(fast_forwarded, 100'000U);
}

}  // namespace
}  // namespace ringwright::network_models::flow_rings_test
