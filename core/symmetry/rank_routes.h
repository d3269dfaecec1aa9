// Which ranks run which programs in which groups, and to whom they send: what the steps of one layout have in common,
// however many bytes they move.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/base/ids.h"
#include "core/plan/task_graph.h"
#include "core/ports/call_overhead.h"
#include "core/symmetry/traffic.h"

namespace ringwright {

class RankRoutes {
 public:
  // `overhead`: of messages; null: none counts.
  RankRoutes(const TaskGraph& graph, const Traffic& traffic, const CallOverhead* overhead);

  // Whether they are those of another step.
  [[nodiscard]] bool are_of(const TaskGraph& graph, const Traffic& traffic) const;
  // The layouts of the groups in which the ranks of a program call, in order of first appearance; `calls`: which of
  // ProgramTraffic::calls.
  [[nodiscard]] const std::vector<std::uint32_t>& layouts(std::size_t program, std::size_t calls) const {
    return layouts_[program][calls];
  }
  // Of the ranks of a program, one for each different overhead that a message of theirs may have, in order of ranks.
  [[nodiscard]] const std::vector<RankId>& senders(std::size_t program, std::size_t message) const {
    return senders_[program][message];
  }

 private:
  struct Groups {
    std::vector<std::uint32_t> group_of;
    std::vector<std::uint32_t> index_in_group;
    std::vector<std::uint32_t> layout_of_group;
    [[nodiscard]] bool are_of(const Dimension& dimension) const {
      return group_of == dimension.group_of && index_in_group == dimension.index_in_group &&
             layout_of_group == dimension.layout_of_group;
    }
  };
  // A message without its size.
  struct Route {
    DimensionId dimension;
    bool is_send = false;
    bool by_library = false;
    bool relative = false;
    int peer = 0;
    friend bool operator==(const Route&, const Route&) = default;
  };
  struct ProgramRoutes {
    std::vector<DimensionId> calls;
    std::vector<Route> messages;
    friend bool operator==(const ProgramRoutes&, const ProgramRoutes&) = default;
  };
  [[nodiscard]] static ProgramRoutes routes_of(const ProgramTraffic& traffic, const Traffic& all);
  void find_layouts(const TaskGraph& graph);
  void find_senders(const TaskGraph& graph, const Traffic& traffic, const CallOverhead& overhead);

  std::vector<ProgramId> program_of_;
  std::vector<double> slowdown_;
  std::vector<Groups> dimensions_;
  std::vector<GroupLayout> group_layouts_;
  std::vector<ProgramRoutes> routes_;                            // by program
  std::vector<std::vector<std::vector<std::uint32_t>>> layouts_;  // by program and its calls
  std::vector<std::vector<std::vector<RankId>>> senders_;         // by program and message
};

// The message as a rank sends it to another.
[[nodiscard]] MessageBetween message_of(const TaskGraph& graph, RankId sender, const MessageContent& message);

}  // namespace ringwright
