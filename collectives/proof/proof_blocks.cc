#include "collectives/proof/proof_blocks.h"

#include <utility>

#include <fmt/format.h>

namespace ringwright::collectives {

std::string ProofBlocks::make(const ChannelAlgorithm& algorithm, const CollectiveCall& call,
                              const CollectivePlan& plan, ProofSums& sums) {
  for (std::size_t number = 0; number < rows_.size(); ++number) {
    const auto [member, block] = place(number);
    ProofBlock& made = rows_[number];
    algorithm.block(call, plan, member, block, made.block);
    made.queues.resize(made.block.sends.size());
    const int slots = made.block.slots_per_message;
    if (slots < 1 || slots > kSlots) return fmt::format("a message of {} slots", slots);
    for (std::size_t port = 0; port < made.queues.size(); ++port) {
      made.queues[port].room = at(kSlots / slots);
      made.queues[port].sum = made.block.sends[port].sum;
      if (made.queues[port].sum != kNoSum) sums.add_queue(made.queues[port].sum);
    }
  }
  return {};
}

std::string ProofBlocks::join() {
  for (std::size_t number = 0; number < rows_.size(); ++number) {
    for (const ReceivePort& port : rows_[number].block.receives) {
      if (std::string wrong = join(place(number), port); !wrong.empty()) return wrong;
    }
  }
  for (const ProofBlock& each : rows_) {
    for (const ProofQueue& queue : each.queues) {
      if (!queue.has_reader) return "a queue has no reader";
    }
  }
  return {};
}

std::string ProofBlocks::join(const Place& reader, const ReceivePort& port) {
  const auto [member, block] = reader;
  const bool other = port.peer != member || port.route_kind == RouteKind::kDownFromSwitch;
  const Place from{.member = port.peer, .block = port.block};
  const bool exists = port.peer >= 0 && port.peer < members_ && other && port.block >= 0 && port.block < blocks_ &&
                      port.port >= 0 && at(port.port) < (*this)[from].queues.size();
  if (!exists || (*this)[from].block.sends[at(port.port)].peer != member) {
    return fmt::format("block {} of member {} reads a queue of member {} that is not addressed to it", block, member,
                       port.peer);
  }
  ProofBlock& writer = (*this)[from];
  if (std::exchange(writer.queues[at(port.port)].has_reader, true)) {
    return fmt::format("a queue of member {} has two readers", port.peer);
  }
  const bool to_switch = writer.block.sends[at(port.port)].route_kind == RouteKind::kUpToSwitch;
  if (to_switch != (port.route_kind == RouteKind::kDownFromSwitch)) {
    return fmt::format("members {} and {} do not agree on a switch", port.peer, member);
  }
  if (writer.block.sends[at(port.port)].sum != port.sum) {
    return fmt::format("members {} and {} do not agree on a network sum", port.peer, member);
  }
  if (writer.block.copies != (*this)[reader].block.copies) {
    return fmt::format("members {} and {} do not agree on their channels", port.peer, member);
  }
  return {};
}

}  // namespace ringwright::collectives
