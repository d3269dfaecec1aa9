// ASTRA-sim's congestion-unaware network: a message takes hops * latency + size / bandwidth, rounded down to a
// nanosecond, whatever else is in flight.
#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "core/engine/tick_queue.h"
#include "network_models/astra/networks.h"

namespace ringwright::network_models {
namespace {

class AstraUnawareNetwork final : public MessageNetwork {
 public:
  AstraUnawareNetwork(const AstraTopology& topology, TickQueue& queue, NetworkEvents events,
                      std::span<const std::uint32_t> members)
      : topology_(topology), queue_(queue), events_(events), members_(members), bytes_(topology.dimensions.size(), 0) {}

  void send(const NetworkMessage& message) override {
    const std::uint32_t from = members_.empty() ? message.from : members_[message.from];
    const std::uint32_t to = members_.empty() ? message.to : members_[message.to];
    const AstraTopology::Hop crossed = topology_.hop(from, to);
    const AstraDimension& dimension = topology_.dimensions[crossed.dimension];
    bytes_[crossed.dimension] += message.bytes;
    queue_.after(dimension.link().delay(dimension.hops(crossed.from, crossed.to), message.bytes),
                 {.kind = events_.arrival, .index = message.token});
  }
  void on_event(std::uint32_t /*index*/) override {}
  void reset() override { std::ranges::fill(bytes_, 0); }

  [[nodiscard]] std::vector<MessageLinkUsage> busiest_links(std::size_t most) const override {
    std::vector<MessageLinkUsage> usage;
    for (std::size_t d = 0; d < bytes_.size() && d < most; ++d) {
      usage.push_back(
          {.name = fmt::format("dimension {} ({})", d, to_string(topology_.dimensions[d].block)), .bytes = bytes_[d]});
    }
    return usage;
  }

 private:
  const AstraTopology& topology_;
  TickQueue& queue_;
  NetworkEvents events_;
  std::span<const std::uint32_t> members_;
  std::vector<std::int64_t> bytes_;  // by dimension
};

class AstraUnaware final : public MessageNetworks {
 public:
  explicit AstraUnaware(AstraTopology topology) : topology_(std::move(topology)) {}

  [[nodiscard]] std::unique_ptr<MessageNetwork> make(TickQueue& queue, NetworkEvents events,
                                                     std::span<const std::uint32_t> members) const override {
    return std::make_unique<AstraUnawareNetwork>(topology_, queue, events, members);
  }
  [[nodiscard]] std::unique_ptr<MessageNetwork> make_folded(TickQueue& queue, NetworkEvents events) const override {
    return make(queue, events, {});
  }
  [[nodiscard]] bool shares_links() const override { return false; }
  [[nodiscard]] Tick delay(std::span<const std::uint32_t> members, const NetworkMessage& message) const override {
    return topology_.delay(members.empty() ? message.from : members[message.from],
                           members.empty() ? message.to : members[message.to], message.bytes);
  }
  [[nodiscard]] bool all_equivalent(std::span<const std::uint32_t> members,
                                    const ChunkedCollective& collective) const override {
    for (const ChunkPhase& phase : collective.phases) {
      if (phase.shape != PhaseShape::kWindow) return false;
    }
    return topology_.all_equivalent(members);
  }

 private:
  AstraTopology topology_;
};

}  // namespace

std::unique_ptr<MessageNetworks> make_astra_unaware(const AstraTopology& topology) {
  return std::make_unique<AstraUnaware>(topology);
}

}  // namespace ringwright::network_models
