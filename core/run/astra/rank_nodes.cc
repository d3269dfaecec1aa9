#include "core/run/astra/rank_nodes.h"

#include <algorithm>
#include <functional>

namespace ringwright {
namespace {

constexpr auto kReceiver = static_cast<std::size_t>(NodeSlot::kReceiver);

}  // namespace

RankNodes::RankNodes(const NodeGraph& graph)
    : graph_(graph), waits_for_(graph.dependencies), left_(static_cast<std::uint32_t>(graph.nodes.size())) {
  for (std::uint32_t node = 0; node < left_; ++node) {
    if (waits_for_[node] == 0) make_ready(node);
  }
}

void RankNodes::make_ready(std::uint32_t node) {
  std::vector<std::uint32_t>& heap = ready_[static_cast<std::size_t>(graph_.nodes[node].slot)];
  heap.push_back(node);
  std::ranges::push_heap(heap, std::greater<>());
}

std::optional<std::uint32_t> RankNodes::issue() {
  std::size_t best = kNodeSlots;
  for (std::size_t slot = 0; slot < kNodeSlots; ++slot) {
    if (ready_[slot].empty() || busy_[slot]) continue;
    if (best == kNodeSlots || ready_[slot].front() < ready_[best].front()) best = slot;
  }
  if (best == kNodeSlots) return std::nullopt;
  std::vector<std::uint32_t>& heap = ready_[best];
  const std::uint32_t node = heap.front();
  std::ranges::pop_heap(heap, std::greater<>());
  heap.pop_back();
  busy_[best] = best != kReceiver;
  waits_for_[node] = kRunning;
  ++running_;
  return node;
}

void RankNodes::free_children(std::uint32_t node, std::vector<std::uint32_t>& freed) {
  const GraphNode& done = graph_.nodes[node];
  if (done.slot != NodeSlot::kReceiver) busy_[static_cast<std::size_t>(done.slot)] = false;
  --running_;
  --left_;
  waits_for_[node] = kDone;
  for (const std::uint32_t child : graph_.children_of(node)) {
    if (--waits_for_[child] == 0) freed.push_back(child);
  }
}

void RankNodes::complete(std::uint32_t node) {
  wake();
  freed_.clear();
  free_children(node, freed_);
  for (const std::uint32_t child : freed_) make_ready(child);
}

std::vector<std::uint32_t> RankNodes::running() const {
  std::vector<std::uint32_t> nodes;
  for (std::uint32_t node = 0; running_ > 0 && node < waits_for_.size(); ++node) {
    if (waits_for_[node] == kRunning) nodes.push_back(node);
  }
  return nodes;
}

void RankNodes::skip(std::uint32_t node) {
  free_children(node, asleep_);
}

void RankNodes::wake() {
  for (const std::uint32_t node : asleep_) make_ready(node);
  asleep_.clear();
}

}  // namespace ringwright
