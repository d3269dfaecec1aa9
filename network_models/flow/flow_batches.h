// Batches of repeats: all repetitions of a transfer at once, with one end, while no other flow uses their links.
//
// A transfer without repeats may be a batch of one: latency and streaming are one wait, and no rate need be solved. It
// is worth it where transfers seldom meet others before they end, which is learned from those that did: only the cost
// depends on it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "network_models/builtin.h"
#include "network_models/flow/flow_state.h"

namespace ringwright::network_models {

class FlowBatches {
 public:
  static constexpr FlowSlot kNone = LinkMeters::kNobody;

  FlowBatches(FlowState& state, FastForward fast_forward) : state_(state), fast_forward_(fast_forward) {}

  // The batch, or the edge of a ring, that uses the link alone.
  [[nodiscard]] FlowSlot on(std::uint32_t link) const { return state_.meters.owner(link); }
  // Whether the flow, which has not entered its links and has this rate alone, could have them to itself from now on.
  [[nodiscard]] bool is_free(FlowSlot flow, double rate) const;
  // From now on the flow has its links to itself, until it releases them. False: one of them is taken already.
  [[nodiscard]] bool claim(FlowSlot flow);
  void release(FlowSlot flow);
  // The same for links that are not those of the owner's path, if they are free.
  [[nodiscard]] bool claim(std::span<const LinkId> links, FlowSlot owner);
  void release(std::span<const LinkId> links);
  [[nodiscard]] bool is_fast() const { return fast_forward_ == FastForward::kOn; }
  [[nodiscard]] bool is_any_on(std::span<const LinkId> links) const;
  // All remaining repeats of a flow go at once from now on, if its links are free.
  [[nodiscard]] bool try_start(FlowSlot flow);
  // All repeats have arrived.
  void end(FlowSlot flow);
  // The same for a transfer without repeats.
  void end_lone(FlowSlot flow) {
    FlowRow& row = state_.flows[flow];
    credit_ = std::min(credit_ + 1, kMostCredit);
    row.batched = row.lone = false;
    state_.meters.disown(state_.shares.route(flow), row.bytes, row.alone.time);
  }
  // Another flow enters a link of the batch: it goes on as an ordinary flow from its current position. True: in the
  // middle of its bytes, which have to enter its links now.
  [[nodiscard]] bool split(FlowSlot flow);
  // The row of a transfer without repeats, as it would be without a batch.
  [[nodiscard]] FlowRow unbatched(FlowSlot flow) const;
  // Adds what a batch has carried by now, which the meters get when it ends.
  void add_to(std::vector<LinkUsage>& usage, FlowSlot flow) const;
  // Of repetitions; a transfer without them does not count.
  [[nodiscard]] std::uint64_t fast_forwarded() const { return fast_forwarded_; }

 private:
  static constexpr int kMostCredit = 32;
  static constexpr int kSplitCost = 2;          // in ends that were as expected
  static constexpr std::uint32_t kPause = 8;    // transfers without repeats for each credit that is missing

  // Counts transfers that are not batched, too, so that they are tried again.
  [[nodiscard]] bool is_worth_trying(const FlowRow& row);
  void find_time_alone(FlowSlot flow);
  void free_links(FlowSlot flow, std::uint32_t repeats_done);

  FlowState& state_;
  FastForward fast_forward_;
  std::uint64_t fast_forwarded_ = 0;
  int credit_ = kMostCredit;  // of transfers without repeats; below 0: they are not batched
  std::uint32_t paused_ = 0;  // such transfers since then
};

}  // namespace ringwright::network_models
