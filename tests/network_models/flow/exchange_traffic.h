// Traffic of exchanges, other messages, changes of capacity and of routes, drawn at random or by hand, and a player of
// it: with the network's exchanges, or with a listener that sends each message by itself.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <memory>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "core/base/random.h"
#include "core/engine/engine.h"
#include "core/ports/network_model.h"
#include "network_models/builtin.h"

namespace ringwright::network_models::flow_exchanges_test {

constexpr std::size_t kRanks = 8;
constexpr std::size_t kLinks = 4 * kRanks + 2;

// Rank r sends on link r and receives on link 8 + r; pairs that are three apart share link 16, too, or link 17 while
// there is a detour. With racks of four ranks, messages from one to the other leave on link 18 + r and enter on link
// 26 + r instead, and only those from the first to the second rack use links 16 and 17.
class Switch final : public Router {
 public:
  Switch(bool latency, bool racks) : latency_(latency), racks_(racks), capacities_(kLinks, Bandwidth(10e9)) {
    capacities_[3] = Bandwidth(7e9);
    capacities_[12] = Bandwidth(9.7e9);
  }
  Duration route(const RouteQuery& query, std::vector<Hop>& hops) const override {
    constexpr std::size_t kRack = kRanks / 2;
    const bool leaves = racks_ && query.from.value / kRack != query.to.value / kRack;
    const std::size_t first = leaves ? 2 * kRanks + 2 : 0;
    hops = {{.link = LinkId(first + query.from.value)}, {.link = LinkId(first + kRanks + query.to.value)}};
    const std::uint64_t distance = (query.to.value + kRanks - query.from.value) % kRanks;
    const bool shares = !racks_ || (leaves && query.from.value < query.to.value);
    if (distance == 3 && shares) hops.push_back({.link = LinkId(2 * kRanks + (detour ? 1 : 0))});
    const std::uint64_t pair = 7 * query.from.value + query.to.value + (detour ? 1 : 0);
    return latency_ ? Duration(1'000'000 + 1'003 * static_cast<std::int64_t>(pair % 5)) : Duration();
  }
  [[nodiscard]] std::span<const Bandwidth> capacities() const override { return capacities_; }

  bool detour = false;

 private:
  bool latency_;
  bool racks_;
  std::vector<Bandwidth> capacities_;
};

// Played several times: a member starts the next call a while after its end in the last one.
struct Calls {
  std::vector<std::size_t> ranks;         // by member
  std::vector<std::vector<Bytes>> sizes;  // by member, by distance - 1 to the receiver; none: no message
  std::vector<TimePoint> starts;          // by member, of the first call
  std::vector<Duration> pauses;           // by member
  std::uint32_t calls = 1;
};

struct Message {
  TimePoint start;
  Transfer transfer;
};
struct Change {
  TimePoint when;
  std::optional<LinkId> link;  // none: the detour begins or ends
  Bandwidth capacity;
};
struct Traffic {
  bool latency = true;
  bool racks = false;
  std::vector<Calls> exchanges;
  std::vector<Message> messages;
  std::vector<Change> changes;
  std::vector<TimePoint> probes;  // of usage
};

enum class Sender { kModel, kListener };

class Player final : public TransferListener {
 public:
  Player(const Traffic& traffic, Sender sender)
      : traffic_(traffic), switch_(traffic.latency, traffic.racks), sender_(sender) {
    const FastForward fast = sender == Sender::kModel ? FastForward::kOn : FastForward::kOff;
    for (const ModelEntry& entry : models()) {
      if (entry.name == "flow")
        model_ = entry.make({.engine = engine_, .router = switch_, .options = {.fast_forward = fast}});
    }
    message_ends_.resize(traffic.messages.size());
    for (const Calls& calls : traffic.exchanges) {
      sizes_.emplace_back();
      exchanges_.push_back(exchange_of(calls, sizes_.back()));
      states_.emplace_back(State{.call = std::vector<std::uint32_t>(calls.ranks.size()),
                                 .numbers = std::vector<std::optional<std::uint32_t>>(calls.calls),
                                 .arrived = std::vector<std::uint32_t>(exchanges_.back().edges.size())});
      ends_.emplace_back(calls.ranks.size());
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
    for (std::size_t x = 0; x < exchanges_.size(); ++x) {
      for (std::uint32_t member = 0; member < exchanges_[x].shape.members(); ++member)
        engine_.at(traffic_.exchanges[x].starts[member], [this, x, member] { start(x, member); });
    }
    for (const Change& change : traffic_.changes) engine_.at(change.when, [this, &change] { make(change); });
    for (const TimePoint probe : traffic_.probes) engine_.at(probe, [this] { usages.push_back(model_->usage()); });
    EXPECT_EQ(engine_.run(), RunEnd::kIdle);
    usages.push_back(model_->usage());
  }

  void on_arrived(std::uint64_t token) override {
    if (token < kEdge) {
      message_ends_[token] = engine_.now();
      return;
    }
    const std::uint64_t x = (token - kEdge) / kMostEdges;
    const auto number = static_cast<std::uint32_t>((token - kEdge) % kMostEdges);
    if (sender_ == Sender::kModel) return end(x, number);
    ++states_[x].arrived[number];
    for (const std::uint32_t member : exchanges_[x].shape.waiting_for(number)) end_if_all_arrived(x, member);
  }

  [[nodiscard]] const std::vector<TimePoint>& message_ends() const { return message_ends_; }
  // By exchange, by member, by call.
  [[nodiscard]] const std::vector<std::vector<std::vector<TimePoint>>>& ends() const { return ends_; }
  [[nodiscard]] std::uint64_t counter(std::string_view name) const {
    for (const auto& candidate : model_->counters()) {
      if (candidate.name == name) return candidate.value;
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

  struct State {
    std::vector<std::uint32_t> call;                    // by member: how many it has started
    std::vector<std::optional<std::uint32_t>> numbers;  // by call: the network's
    std::vector<std::uint32_t> arrived;                 // by edge
  };

  static Exchange exchange_of(const Calls& calls, std::deque<std::vector<Bytes>>& sizes) {
    const auto n = static_cast<std::uint32_t>(calls.ranks.size());
    std::vector<RingShape::Member> members(n, {.edges = 0, .awaits = {}});
    std::vector<RingEdge> edges;
    for (std::uint32_t member = 0; member < n; ++member) {
      for (std::uint32_t distance = 1; distance <= calls.sizes[member].size(); ++distance) {
        const std::uint32_t to = (member + distance) % n;
        members[to].awaits.push_back(static_cast<std::uint32_t>(edges.size()));
        ++members[member].edges;
        edges.push_back({.from = RankId(calls.ranks[member]),
                         .to = RankId(calls.ranks[to]),
                         .sizes = sizes.emplace_back(1, calls.sizes[member][distance - 1])});
      }
    }
    return {.shape = RingShape(members), .edges = edges};
  }

  void make(const Change& change) {
    if (change.link) return model_->set_capacity(*change.link, change.capacity);
    switch_.detour = !switch_.detour;
    model_->reroute();
  }

  void start(std::size_t x, std::uint32_t member) {
    State& state = states_[x];
    const Exchange& exchange = exchanges_[x];
    const std::uint32_t call = state.call[member]++;
    const std::uint64_t token = kEdge + x * kMostEdges;
    if (sender_ == Sender::kModel) {
      std::optional<std::uint32_t>& number = state.numbers[call];
      if (!number) number = model_->open_exchange(exchange);
      ASSERT_TRUE(number);
      model_->start_in_exchange({.exchange = *number, .member = member}, token + member, *this);
      return;
    }
    for (std::uint32_t edge = exchange.shape.first_edge(member); edge < exchange.shape.end_edge(member); ++edge) {
      const RingEdge& message = exchange.edges[edge];
      model_->start({.from = message.from, .to = message.to, .size = message.sizes.front(), .token = token + edge},
                    *this);
    }
  }
  void end_if_all_arrived(std::size_t x, std::uint32_t member) {
    State& state = states_[x];
    if (state.call[member] == ends_[x][member].size()) return;  // not in a call
    for (const std::uint32_t edge : exchanges_[x].shape.awaited_by(member)) {
      if (state.arrived[edge] < state.call[member]) return;
    }
    end(x, member);
  }
  void end(std::size_t x, std::uint32_t member) {
    ends_[x][member].push_back(engine_.now());
    if (states_[x].call[member] == traffic_.exchanges[x].calls) return;
    engine_.after(traffic_.exchanges[x].pauses[member], [this, x, member] {
      start(x, member);
      if (sender_ == Sender::kListener) end_if_all_arrived(x, member);
    });
  }

  const Traffic& traffic_;
  Engine engine_;
  Switch switch_;
  Sender sender_;
  std::unique_ptr<NetworkModel> model_;
  std::vector<TimePoint> message_ends_;
  std::vector<std::vector<std::vector<TimePoint>>> ends_;
  std::deque<std::deque<std::vector<Bytes>>> sizes_;
  std::deque<Exchange> exchanges_;
  std::vector<State> states_;
};

inline TimePoint at(Duration time) {
  return TimePoint(time);
}

// All-to-all among ranks 0, 1, ... from the same moment on, in messages of one size.
inline Calls all_to_all(std::size_t members, Bytes size, std::uint32_t calls) {
  Calls made{.ranks = std::vector<std::size_t>(members),
             .sizes = std::vector<std::vector<Bytes>>(members, std::vector<Bytes>(members - 1, size)),
             .starts = std::vector<TimePoint>(members),
             .pauses = std::vector<Duration>(members, Duration(3'000'000)),
             .calls = calls};
  std::iota(made.ranks.begin(), made.ranks.end(), std::size_t{0});
  return made;
}

class RandomTraffic {
 public:
  explicit RandomTraffic(std::uint64_t seed) : random_(seed, "exchanges") {}

  Traffic draw() {
    Traffic traffic{.latency = below(8) > 0, .racks = below(2) == 0};
    for (std::size_t i = 0; i < 1 + below(2); ++i) traffic.exchanges.push_back(draw_calls());
    // In the middle of a batch of repeats usage counts bytes evenly over its time: probes come without those.
    const bool probed = below(2) == 0;
    const std::size_t messages = below(6);
    for (std::size_t i = 0; i < messages; ++i) {
      traffic.messages.push_back(draw_message());
      if (!probed) traffic.messages.back().transfer.repeats = static_cast<std::uint32_t>(1 + below(5));
    }
    const std::size_t changes = below(4) == 0 ? 1 + below(3) : 0;
    for (std::size_t i = 0; i < changes; ++i) {
      traffic.changes.push_back({.when = moment(200), .link = {}, .capacity = {}});
      if (below(4) == 0) continue;
      traffic.changes.back().link = LinkId(below(kLinks));
      traffic.changes.back().capacity = Bandwidth(1e9 * static_cast<double>(below(13)));
    }
    for (std::size_t i = 0; probed && i < 3; ++i) traffic.probes.push_back(moment(200));
    std::ranges::sort(traffic.probes);
    return traffic;
  }

 private:
  std::size_t below(std::uint64_t n) { return static_cast<std::size_t>(random_.next_below(n)); }
  TimePoint moment(std::uint64_t most) {
    const auto off_grid = static_cast<std::int64_t>(below(2) * below(500'000));
    return at(Duration(static_cast<std::int64_t>(below(most)) * 500'000 + off_grid));
  }

  // Members start together, within their latencies, or apart; sizes are equal, differ by a byte, or by much.
  Calls draw_calls() {
    const std::size_t members = 2 + below(kRanks - 1);
    const Bytes size(static_cast<std::int64_t>(below(5)) * 7001);
    Calls calls = all_to_all(members, size, static_cast<std::uint32_t>(1 + below(4)));
    calls.ranks.resize(kRanks);
    std::iota(calls.ranks.begin(), calls.ranks.end(), std::size_t{0});
    for (std::size_t k = kRanks - 1; k > 0; --k) std::swap(calls.ranks[k], calls.ranks[below(k + 1)]);
    calls.ranks.resize(members);
    const std::uint64_t apart = below(3) == 0 ? 1 : 1 + below(30);
    for (TimePoint& start : calls.starts) start = moment(apart);
    const std::uint64_t most_uneven = std::vector<std::uint64_t>{1, 2, 9'000}[below(3)];
    for (std::vector<Bytes>& of_member : calls.sizes) {
      for (Bytes& one : of_member) one += Bytes(static_cast<std::int64_t>(below(most_uneven)));
      // Then some members do not hear from all others.
      if (below(12) == 0) of_member.resize(1 + below(of_member.size()));
    }
    for (Duration& pause : calls.pauses) pause = moment(apart) - TimePoint();
    return calls;
  }

  Message draw_message() {
    const std::size_t from = below(kRanks);
    return {.start = moment(200),
            .transfer = {.from = RankId(from),
                         .to = RankId((from + 1 + below(kRanks - 1)) % kRanks),
                         .size = Bytes(static_cast<std::int64_t>(below(4) * 12'345)),
                         .priority = below(4) == 0 ? Priority::kLow : Priority::kHigh}};
  }

  RandomStream random_;
};

}  // namespace ringwright::network_models::flow_exchanges_test
