// Traffic of rings, other messages and changes of capacity, drawn at random or by hand, and a player of it: with the
// network's rings, or with a listener that sends each message by itself.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <numeric>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "core/base/random.h"
#include "core/engine/engine.h"
#include "core/ports/network_model.h"
#include "network_models/builtin.h"

namespace ringwright::network_models::flow_rings_test {

constexpr std::size_t kRanks = 8;
constexpr std::size_t kLinks = 2 * kRanks + 1;  // of a plane
constexpr std::size_t kPlanes = 3;

// Rank r sends on link r and receives on link 8 + r; pairs that are three apart share link 16, too. The NIC of a
// message chooses one of three such planes.
class Star final : public Router {
 public:
  explicit Star(bool latency) : latency_(latency), capacities_(kPlanes * kLinks, Bandwidth(10e9)) {
    capacities_[3] = Bandwidth(7e9);
    capacities_[12] = Bandwidth(9.7e9);
    capacities_[kLinks + 5] = Bandwidth(8.3e9);
  }
  Duration route(const RouteQuery& query, std::vector<Hop>& hops) const override {
    const std::size_t plane = query.nics.out < 0 ? 0 : static_cast<std::size_t>(query.nics.out);
    const std::size_t first = plane * kLinks;
    hops = {{.link = LinkId(first + query.from.value)}, {.link = LinkId(first + kRanks + query.to.value)}};
    const std::uint64_t distance = (query.to.value + kRanks - query.from.value) % kRanks;
    if (distance == 3) hops.push_back({.link = LinkId(first + 2 * kRanks)});
    const std::uint64_t pair = 7 * query.from.value + query.to.value + 3 * plane;
    return latency_ ? Duration(1'000'000 + 1'003 * static_cast<std::int64_t>(pair % 5)) : Duration();
  }
  [[nodiscard]] std::span<const Bandwidth> capacities() const override { return capacities_; }

 private:
  bool latency_;
  std::vector<Bandwidth> capacities_;
};

struct Edge {
  std::size_t from = 0;
  std::size_t to = 0;
  std::int16_t plane = 0;
  std::vector<Bytes> sizes;
  std::uint32_t first = 0;

  [[nodiscard]] Bytes size(std::uint32_t message) const {
    const auto n = static_cast<std::uint32_t>(sizes.size());
    return sizes[(first + n - message % n) % n];
  }
};

struct Ring {
  RingShape shape;
  std::vector<Edge> edges;
  std::vector<TimePoint> starts;  // by member
  std::uint32_t messages = 1;
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
    for (const Ring& ring : traffic.rings) {
      number_of_.emplace_back();
      step_.emplace_back(ring.shape.members());
      arrived_.emplace_back(ring.shape.edges());
      ring_ends_.emplace_back(ring.shape.members());
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
      for (std::uint32_t member = 0; member < traffic_.rings[ring].shape.members(); ++member)
        engine_.at(traffic_.rings[ring].starts[member], [this, ring, member] { start(ring, member); });
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
    const std::uint64_t ring = (token - kEdge) / kMostEdges;
    const std::uint64_t number = (token - kEdge) % kMostEdges;
    if (resender_ == Resender::kModel) {
      ring_ends_[ring][number] = engine_.now();
      return;
    }
    ++arrived_[ring][number];
    for (const std::uint32_t member : traffic_.rings[ring].shape.waiting_for(static_cast<std::uint32_t>(number)))
      advance(ring, member);
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
  static constexpr std::uint64_t kMostEdges = 100;

  void start(std::size_t number, std::uint32_t member) {
    const Ring& ring = traffic_.rings[number];
    if (resender_ == Resender::kListener) return send(number, member);
    if (!number_of_[number]) number_of_[number] = model_->open_ring(ring.shape);
    ASSERT_TRUE(number_of_[number]);
    std::vector<RingEdge> edges;
    for (std::uint32_t e = ring.shape.first_edge(member); e < ring.shape.end_edge(member); ++e) {
      const Edge& edge = ring.edges[e];
      edges.push_back({.from = RankId(edge.from),
                       .to = RankId(edge.to),
                       .nics = {.out = edge.plane},
                       .sizes = edge.sizes,
                       .first = edge.first});
    }
    model_->start_member({.ring = *number_of_[number], .member = member},
                         {.edges = edges, .repeats = ring.messages, .token = kEdge + number * kMostEdges + member},
                         *this);
  }
  // The member's messages of a step.
  void send(std::size_t number, std::uint32_t member) {
    const Ring& ring = traffic_.rings[number];
    const std::uint32_t step = step_[number][member]++;
    for (std::uint32_t e = ring.shape.first_edge(member); e < ring.shape.end_edge(member); ++e) {
      const Edge& edge = ring.edges[e];
      model_->start({.from = RankId(edge.from),
                     .to = RankId(edge.to),
                     .size = edge.size(step),
                     .nics = {.out = edge.plane},
                     .token = kEdge + number * kMostEdges + e},
                    *this);
    }
  }
  // Sends the next messages if they may leave; notes the end.
  void advance(std::size_t number, std::uint32_t member) {
    const Ring& ring = traffic_.rings[number];
    const std::uint32_t step = step_[number][member];  // the next one
    if (step == 0) return;
    for (const std::uint32_t edge : ring.shape.awaited_by(member)) {
      if (arrived_[number][edge] < step) return;
    }
    if (step < ring.messages) return send(number, member);
    ring_ends_[number][member] = engine_.now();
  }

  const Traffic& traffic_;
  Engine engine_;
  Star star_;
  Resender resender_;
  std::unique_ptr<NetworkModel> model_;
  std::vector<TimePoint> ends_;
  std::vector<std::vector<TimePoint>> ring_ends_;
  std::vector<std::optional<std::uint32_t>> number_of_;  // by ring
  std::vector<std::vector<std::uint32_t>> step_;         // by ring, by member: the next one
  std::vector<std::vector<std::uint32_t>> arrived_;      // by ring, by edge: messages
};

inline TimePoint at(Duration time) { return TimePoint(time); }

inline Ring ring_of(const std::vector<std::size_t>& ranks, Bytes size, std::uint32_t messages) {
  const auto n = static_cast<std::uint32_t>(ranks.size());
  Ring ring{.shape = RingShape::one_ring(n), .edges = {}, .starts = std::vector<TimePoint>(n), .messages = messages};
  for (std::size_t i = 0; i < n; ++i)
    ring.edges.push_back({.from = ranks[i], .to = ranks[(i + 1) % n], .sizes = {size}});
  return ring;
}
inline Ring ring_of(std::size_t members, Bytes size, std::uint32_t messages) {
  std::vector<std::size_t> ranks(members);
  std::iota(ranks.begin(), ranks.end(), std::size_t{0});
  return ring_of(ranks, size, messages);
}

// Several rings at once over the same ranks, in orders of their own: one edge for each of a member's.
inline Ring rings_of(const std::vector<std::vector<std::size_t>>& orders, const std::vector<std::int16_t>& planes,
                     Bytes size, std::uint32_t messages) {
  const auto members = static_cast<std::uint32_t>(orders.front().size());
  const auto rings = static_cast<std::uint32_t>(orders.size());
  std::vector<RingShape::Member> shape(members, {.edges = rings, .awaits = {}});
  std::vector<Edge> edges(members * rings);
  for (std::uint32_t r = 0; r < rings; ++r) {
    const std::vector<std::size_t>& order = orders[r];
    for (std::size_t i = 0; i < members; ++i) {
      const auto member_of = [&](std::size_t rank) {
        return static_cast<std::uint32_t>(std::ranges::find(orders.front(), rank) - orders.front().begin());
      };
      const std::size_t to = order[(i + 1) % members];
      const std::uint32_t edge = member_of(order[i]) * rings + r;
      edges[edge] = {.from = order[i], .to = to, .plane = planes[r], .sizes = {size}};
      shape[member_of(to)].awaits.push_back(edge);
    }
  }
  return {.shape = RingShape(shape), .edges = edges, .starts = std::vector<TimePoint>(members), .messages = messages};
}

inline std::size_t below(RandomStream& random, std::uint64_t n) {
  return static_cast<std::size_t>(random.next_below(n));
}

inline std::vector<std::size_t> random_ranks(RandomStream& random, std::size_t count) {
  std::vector<std::size_t> ranks(kRanks);
  std::iota(ranks.begin(), ranks.end(), std::size_t{0});
  if (below(random, 2) == 0) {
    for (std::size_t k = kRanks - 1; k > 0; --k) std::swap(ranks[k], ranks[below(random, k + 1)]);
  }
  ranks.resize(count);
  return ranks;
}

// One ring, or up to three at once whose members await further messages now and then.
inline Ring random_ring(RandomStream& random) {
  const std::size_t members = 2 + below(random, kRanks - 1);
  const Bytes size(static_cast<std::int64_t>(below(random, 4)) * 7001);
  const auto messages = static_cast<std::uint32_t>(1 + below(random, 40));
  const std::vector<std::size_t> ranks = random_ranks(random, members);
  if (below(random, 2) == 0) return ring_of(ranks, size, messages);
  std::vector<std::vector<std::size_t>> orders;
  std::vector<std::int16_t> planes;
  const bool own_planes = below(random, 4) > 0;
  for (std::size_t r = 0; r < 1 + below(random, kPlanes); ++r) {
    orders.push_back(ranks);
    std::rotate(orders.back().begin(), orders.back().begin() + static_cast<std::ptrdiff_t>(below(random, members)),
                orders.back().end());
    if (below(random, 2) == 0) std::ranges::reverse(orders.back());
    if (below(random, 3) == 0) std::swap(orders.back().front(), orders.back()[below(random, members)]);
    planes.push_back(static_cast<std::int16_t>(own_planes ? r : below(random, kPlanes)));
  }
  Ring ring = rings_of(orders, planes, size, messages);
  if (below(random, 3) > 0) return ring;
  std::vector<RingShape::Member> shape;
  for (std::uint32_t m = 0; m < members; ++m) {
    const auto awaited = ring.shape.awaited_by(m);
    shape.push_back({.edges = ring.shape.end_edge(m) - ring.shape.first_edge(m),
                     .awaits = {awaited.begin(), awaited.end()}});
    const auto further = static_cast<std::uint32_t>(below(random, ring.edges.size()));
    if (below(random, 2) == 0) shape.back().awaits.push_back(further);
  }
  ring.shape = RingShape(shape);
  return ring;
}

inline void make_sizes_uneven(RandomStream& random, Ring& ring) {
  for (Edge& edge : ring.edges) {
    const Bytes size = edge.sizes.front();
    edge.sizes.assign(ring.edges.size(), size);
    for (std::size_t k = 0; k < below(random, ring.edges.size()); ++k) edge.sizes[k] = size + Bytes(1);
    edge.first = static_cast<std::uint32_t>(below(random, ring.edges.size()));
  }
}

inline Traffic random_traffic(std::uint64_t seed) {
  RandomStream random(seed, "rings");
  const auto below = [&](std::uint64_t n) { return static_cast<std::size_t>(random.next_below(n)); };
  const auto moment = [&](std::uint64_t most) {
    const auto off_grid = static_cast<std::int64_t>(below(2) * below(500'000));
    return at(Duration(static_cast<std::int64_t>(below(most)) * 500'000 + off_grid));
  };
  Traffic traffic{.latency = below(8) > 0};
  const std::size_t rings = 1 + below(2);
  for (std::size_t i = 0; i < rings; ++i) {
    Ring ring = random_ring(random);
    const std::uint64_t apart = below(3) == 0 ? 1 : 1 + below(30);
    for (TimePoint& start : ring.starts) start = moment(apart);
    if (below(3) == 0) make_sizes_uneven(random, ring);
    traffic.rings.push_back(std::move(ring));
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
                                             .nics = {.out = static_cast<std::int16_t>(below(kPlanes))},
                                             .repeats = static_cast<std::uint32_t>(probed ? 1 : 1 + below(5))}});
  }
  const std::size_t changes = below(4) == 0 ? 1 + below(3) : 0;
  for (std::size_t i = 0; i < changes; ++i) {
    traffic.changes.push_back({.when = moment(120),
                               .link = LinkId(below(kPlanes * kLinks)),
                               .capacity = Bandwidth(1e9 * static_cast<double>(1 + below(12)))});
  }
  for (std::size_t i = 0; probed && i < 3; ++i) traffic.probes.push_back(moment(120));
  std::ranges::sort(traffic.probes);
  return traffic;
}

// Both play the traffic, and all ends at the same picosecond.
inline void expect_same_ends(Player& model, Player& listener) {
  model.play();
  listener.play();
  EXPECT_EQ(model.ring_ends(), listener.ring_ends());
  EXPECT_EQ(model.ends(), listener.ends());
}

}  // namespace ringwright::network_models::flow_rings_test
