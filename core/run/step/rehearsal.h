// The rehearsal of a run whose collectives are messages: each collective, and each message, of its segments is
// simulated alone, once for each class of ranks, so that a pass can be one event afterwards.
//
// In a round every class simulates one of its collectives, all from the start of the clock. Groups are of one class
// (segments_stand_alone), so their members do the same at the same time, and a call takes the same time as in the round
// whenever nobody else uses its links: times of a run depend on differences alone. The caller ensures that classes do
// not share links in the round; the run checks that nobody else uses them.
//
// Ranks of one class that send each other messages do so in a round as well, and each receives one.
//
// In groups of several classes, members may call at different times. There the rehearsal finds what a call sends over
// which links, and the caller how long each message takes.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "core/plan/rank_classes.h"
#include "core/plan/task_graph.h"
#include "core/run/shortcuts/rehearsed_calls.h"
#include "core/run/step/executor.h"

namespace ringwright {

class Rehearsal {
 public:
  // For a graph with independent segments (segments_stand_alone or segments_stand_together).
  Rehearsal(const TaskGraph& graph, const RankClasses& classes);

  [[nodiscard]] std::size_t rounds() const { return rounds_; }
  // To be simulated with the run's classes, chooser and network model; valid until the next round is requested.
  [[nodiscard]] const TaskGraph& round(std::size_t number);
  [[nodiscard]] ExecutorOptions options() const;
  // Records the run of the round's graph; `links_of`: by class, the links on which it started transfers.
  // `rings`: those of groups of several classes. False: the round contained a call that does not end, over links that
  // are down, or one of such a group that is no ring, or a message that leaves its sender before it arrives.
  [[nodiscard]] bool note(const RunResult& run, const std::vector<std::vector<LinkId>>& links_of,
                          std::vector<RehearsedRing> rings = {});
  [[nodiscard]] RehearsedCalls take() { return std::move(calls_); }

 private:
  struct Part {
    DimensionId dimension;
    TaskKind kind = TaskKind::kCollective;  // or a send
    std::uint32_t spec = 0;                 // index into TaskGraph::collectives, or messages
    friend auto operator<=>(const Part&, const Part&) = default;
  };

  [[nodiscard]] const Task& task_of(ClassId c, std::uint32_t task) const;

  const RankClasses& classes_;
  std::vector<std::vector<Part>> parts_;  // by program: its segments' collectives and sends
  std::size_t rounds_ = 0;
  TaskGraph graph_;
  RehearsedCalls calls_;
};

}  // namespace ringwright
