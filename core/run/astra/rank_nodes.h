// Which nodes of a rank may be issued next: by slot, in order of their ids.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "core/plan/node_graph.h"

namespace ringwright {

class RankNodes {
 public:
  explicit RankNodes(const NodeGraph& graph);

  // The first node in order of ids that is free of dependencies, whose slot is free, and that comes after `after`;
  // it occupies its slot.
  [[nodiscard]] std::optional<std::uint32_t> issue();
  // The node is done: its slot is free, and so are those nodes that waited only for it.
  void complete(std::uint32_t node);
  // A node that is passed over frees nodes as well, but they are not looked for before wake().
  void skip(std::uint32_t node);
  void wake();

  [[nodiscard]] bool all_done() const { return left_ == 0; }
  [[nodiscard]] bool is_idle() const { return running_ == 0; }
  [[nodiscard]] bool has_asleep() const { return !asleep_.empty(); }
  [[nodiscard]] const NodeGraph& graph() const { return graph_; }
  // Nodes that were issued and are not done.
  [[nodiscard]] std::vector<std::uint32_t> running() const;

 private:
  static constexpr std::uint32_t kDone = UINT32_MAX;
  static constexpr std::uint32_t kRunning = UINT32_MAX - 1;

  void free_children(std::uint32_t node, std::vector<std::uint32_t>& freed);
  void make_ready(std::uint32_t node);

  const NodeGraph& graph_;
  std::vector<std::uint32_t> waits_for_;
  std::array<std::vector<std::uint32_t>, kNodeSlots> ready_;  // heaps, the smallest index first
  std::array<bool, kNodeSlots> busy_{};
  std::vector<std::uint32_t> asleep_;
  std::vector<std::uint32_t> freed_;  // scratch
  std::uint32_t left_ = 0;
  std::uint32_t running_ = 0;
};

}  // namespace ringwright
