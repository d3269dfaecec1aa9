// ASTRA-sim's congestion-aware network for jobs of node graphs: the links of one dimension, by the rule of
// network_models/astra/message_queues.h.
//
// Links: to and from the switch for every rank; both directions between neighbours of a ring, the shorter direction
// (clockwise where both are equal); one per ordered pair of a full mesh.
#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "core/base/check.h"
#include "core/engine/tick_queue.h"
#include "network_models/astra/message_queues.h"
#include "network_models/astra/networks.h"

namespace ringwright::network_models {
namespace {

enum class Folding : bool { kNo, kYes };

// The routes of one dimension, on the clock of a job of node graphs.
class DimensionTraffic {
 public:
  struct Message {
    std::uint32_t token = 0;
    std::uint32_t to = 0;
    std::uint32_t at = 0;  // the rank whose link it waits for or is on; for a switch, its second link is `to`'s
    std::uint32_t hops_left = 0;
    std::uint32_t next = kNoMessage;  // in the queue of a link, or of free records
    bool clockwise = true;
    bool at_source = true;
    std::int64_t bytes = 0;
  };

  DimensionTraffic(const AstraDimension& shape, TickQueue& queue, NetworkEvents events, Folding folding)
      : shape_(shape), link_(shape.link()), queue_(queue), events_(events), is_folded_(folding == Folding::kYes) {}

  [[nodiscard]] std::size_t link_count() const {
    const std::size_t places = is_folded_ ? 1 : shape_.nodes;
    return places * (shape_.block == AstraBlock::kFullyConnected ? shape_.nodes : 2);
  }

  [[nodiscard]] Message message(std::uint32_t from, std::uint32_t to, const NetworkMessage& sent) const {
    const std::uint32_t clockwise = to >= from ? to - from : to + shape_.nodes - from;
    return {.token = sent.token,
            .to = to,
            .at = from,
            .hops_left = shape_.hops(from, to),
            .clockwise = clockwise <= shape_.nodes - clockwise,
            .bytes = sent.bytes};
  }

  [[nodiscard]] Tick now() const { return queue_.now(); }
  [[nodiscard]] Tick moment(Tick delay) const { return queue_.now() + delay; }
  void at(Tick when, std::uint32_t event) { queue_.at(when, {.kind = events_.internal, .index = event}); }
  void deliver(const Message& message, Tick when) {
    queue_.at(when, {.kind = events_.arrival, .index = message.token});
  }

  // Switch: a rank's link to it, then the one back. Ring: clockwise, then the other. Mesh: by distance.
  [[nodiscard]] std::uint32_t link_of(const Message& message) const {
    const std::uint32_t place = is_folded_ ? 0 : message.at;
    switch (shape_.block) {
      case AstraBlock::kRing: return place * 2 + (message.clockwise ? 0 : 1);
      case AstraBlock::kSwitch:
        if (message.hops_left == 2) return place * 2;
        return (is_folded_ ? 0 : message.to) * 2 + 1;
      case AstraBlock::kFullyConnected: break;
    }
    const std::uint32_t distance =
        message.to >= message.at ? message.to - message.at : message.to + shape_.nodes - message.at;
    return place * shape_.nodes + distance;
  }
  // The times of the last size are cached, since messages that follow each other are often equal.
  [[nodiscard]] MessageTimes times(std::uint32_t /*link*/, const Message& message) {
    if (message.bytes != last_bytes_) {
      last_bytes_ = message.bytes;
      last_times_ = {.delay = link_.delay(1, message.bytes), .occupancy = link_.occupancy(message.bytes)};
    }
    return last_times_;
  }
  static void started(MessageLink& link, const Message& message, Tick occupancy) {
    link.bytes += message.bytes;
    link.busy += occupancy;
  }
  void arrive(Message& message) const {
    if (shape_.block != AstraBlock::kRing) return;
    message.at = (message.at + (message.clockwise ? 1 : shape_.nodes - 1)) % shape_.nodes;
  }

  [[nodiscard]] std::string name(std::size_t link) const {
    switch (shape_.block) {
      case AstraBlock::kRing:
        return fmt::format("{} of rank {}", link % 2 == 0 ? "clockwise" : "counter-clockwise", link / 2);
      case AstraBlock::kSwitch: return fmt::format("{} rank {}", link % 2 == 0 ? "from" : "to", link / 2);
      case AstraBlock::kFullyConnected: break;
    }
    const std::size_t from = link / shape_.nodes;
    return fmt::format("from rank {} to rank {}", from, (from + link % shape_.nodes) % shape_.nodes);
  }

 private:
  AstraDimension shape_;
  AstraLink link_;
  TickQueue& queue_;
  NetworkEvents events_;
  bool is_folded_;
  std::int64_t last_bytes_ = -1;
  MessageTimes last_times_;
};

class AstraAwareNetwork final : public MessageNetwork {
 public:
  AstraAwareNetwork(const DimensionTraffic& traffic, std::span<const std::uint32_t> members)
      : traffic_(traffic), members_(members), queues_(traffic_, traffic_.link_count()) {}

  void send(const NetworkMessage& message) override {
    const std::uint32_t from = members_.empty() ? message.from : members_[message.from];
    const std::uint32_t to = members_.empty() ? message.to : members_[message.to];
    queues_.send(traffic_.message(from, to, message));
  }
  void on_event(std::uint32_t index) override { queues_.on_event(index); }
  void reset() override { queues_.reset(); }
  [[nodiscard]] bool met_ties() const override { return queues_.met_ties(); }

  [[nodiscard]] std::vector<MessageLinkUsage> busiest_links(std::size_t most) const override {
    const std::vector<MessageLink>& links = queues_.links();
    std::vector<std::size_t> order(links.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
    const std::size_t count = std::min(most, order.size());
    std::ranges::partial_sort(order, order.begin() + static_cast<std::ptrdiff_t>(count), [&](auto a, auto b) {
      return links[a].busy != links[b].busy ? links[a].busy > links[b].busy : a < b;
    });
    std::vector<MessageLinkUsage> usage;
    for (std::size_t i = 0; i < count; ++i) {
      const MessageLink& link = links[order[i]];
      if (link.bytes > 0) usage.push_back({.name = traffic_.name(order[i]), .bytes = link.bytes, .busy = link.busy});
    }
    return usage;
  }

 private:
  DimensionTraffic traffic_;
  std::span<const std::uint32_t> members_;
  MessageQueues<DimensionTraffic> queues_;
};

class AstraAware final : public MessageNetworks {
 public:
  explicit AstraAware(AstraDimension shape) : shape_(shape) {}

  [[nodiscard]] std::unique_ptr<MessageNetwork> make(TickQueue& queue, NetworkEvents events,
                                                     std::span<const std::uint32_t> members) const override {
    return std::make_unique<AstraAwareNetwork>(DimensionTraffic(shape_, queue, events, Folding::kNo), members);
  }
  [[nodiscard]] std::unique_ptr<MessageNetwork> make_folded(TickQueue& queue, NetworkEvents events) const override {
    return std::make_unique<AstraAwareNetwork>(DimensionTraffic(shape_, queue, events, Folding::kYes),
                                               std::span<const std::uint32_t>());
  }
  [[nodiscard]] bool shares_links() const override { return true; }
  [[nodiscard]] Tick delay(std::span<const std::uint32_t> /*members*/,
                           const NetworkMessage& /*message*/) const override {
    CHECK(false, "the time of a message on shared links depends on the others");
    return 0;
  }
  // Groups share links with each other. Pairs whose indices differ in a bit use the links of a ring unevenly.
  [[nodiscard]] bool all_equivalent(std::span<const std::uint32_t> members,
                                    const ChunkedCollective& collective) const override {
    if (!members.empty()) return false;
    for (const ChunkPhase& phase : collective.phases) {
      if (phase.shape != PhaseShape::kWindow) return false;
      const bool pairs = std::ranges::any_of(phase.steps, [](auto& step) { return step.rule == PeerRule::kXor; });
      if (pairs && shape_.block == AstraBlock::kRing) return false;
    }
    return true;
  }

 private:
  AstraDimension shape_;
};

}  // namespace

std::unique_ptr<MessageNetworks> make_astra_aware(const AstraTopology& topology) {
  CHECK(topology.dimensions.size() == 1, "the congestion-aware network has one dimension");
  return std::make_unique<AstraAware>(topology.dimensions.front());
}

}  // namespace ringwright::network_models
