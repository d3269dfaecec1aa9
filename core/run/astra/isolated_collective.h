// A collective whose members share no link with anybody else while it lasts: its times depend on nothing but the
// moments at which its members enter.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "core/ports/message_network.h"
#include "core/run/astra/chunk_streams.h"

namespace ringwright {

class IsolatedCollective final : ChunkListener {
 public:
  IsolatedCollective(const StreamRules& rules, const MessageNetworks& networks) : rules_(rules), networks_(networks) {}

  // When each member is done, by the ticks at which they enter (the first at 0). Empty: some never are.
  [[nodiscard]] std::optional<std::vector<Tick>> run(const ChunkedCollective& plan,
                                                     std::span<const std::uint32_t> members,
                                                     std::span<const Tick> entered);
  // The same for `size` members that enter at once and are equivalent, from one of them. Empty: the order in which
  // messages of the same tick are handled would matter.
  [[nodiscard]] std::optional<Tick> run_folded(const ChunkedCollective& plan, std::span<const std::uint32_t> members,
                                               std::uint32_t size);
  [[nodiscard]] std::uint64_t events() const { return queue_.events_run(); }

 private:
  struct Machine {
    std::unique_ptr<RankEvents> events;
    std::unique_ptr<MessageNetwork> network;
    std::unique_ptr<ChunkStreams> streams;
  };

  [[nodiscard]] static bool is_chain(const ChunkedCollective& plan);
  [[nodiscard]] std::vector<Tick> run_chain(const ChunkedCollective& plan, std::span<const std::uint32_t> members,
                                            std::span<const Tick> entered) const;
  void on_member_done(std::uint32_t collective, std::uint32_t position) override;
  void drive(Machine& machine);
  [[nodiscard]] Machine make(std::size_t ranks, std::unique_ptr<MessageNetwork> network);

  StreamRules rules_;
  const MessageNetworks& networks_;
  TickQueue queue_;
  std::vector<Tick> done_;
};

}  // namespace ringwright
