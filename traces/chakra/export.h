// A simulated training step as Chakra traces: replayed on the same machine they take the same time.
//
// Each task is a node; the order of a stream is an attribute (`stream`), and dependencies for other readers. Where a
// task began later than its stream and its dependencies allowed, since the host had not issued it yet, it depends on a
// node of the host that ends at that time.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/base/diagnostic.h"
#include "core/base/ids.h"
#include "core/base/units.h"
#include "core/plan/rank_classes.h"
#include "core/plan/task_graph.h"
#include "core/record/run_record.h"
#include "traces/chakra/trace.h"

namespace ringwright::traces {

struct ExportInputs {
  const TaskGraph& graph;                // without cycles left out
  const std::vector<Program>& programs;  // of the graph, written out
  const RankClasses& classes;
  const std::vector<Duration>& work_time;  // by work, as computed alone
  const std::vector<Span>& spans;          // of all classes; those of the first iteration count
};

class ChakraExport {
 public:
  // Errors are tasks that the format cannot express.
  [[nodiscard]] static Result<ChakraExport> make(const ExportInputs& inputs);

  [[nodiscard]] std::size_t ranks() const { return in_.graph.rank_count(); }
  [[nodiscard]] ChakraTrace trace_of(RankId rank) const;
  // The file of process groups: {"1": [0, 1], ...}.
  [[nodiscard]] std::string groups() const;

  [[nodiscard]] const ExportInputs& inputs() const { return in_; }
  // Nodes of tasks have odd ids, those of the host that tasks wait for even ones.
  [[nodiscard]] static bool is_task(std::uint64_t id) { return id % 2 == 1; }
  [[nodiscard]] static std::uint32_t task_of(std::uint64_t id) { return static_cast<std::uint32_t>(id / 2); }
  [[nodiscard]] TimePoint start_of(RankId rank, std::uint32_t task) const {
    return start_[in_.classes.class_of[rank.index()].index()][task];
  }
  [[nodiscard]] TimePoint end_of(RankId rank, std::uint32_t task) const {
    return end_[in_.classes.class_of[rank.index()].index()][task];
  }

 private:
  explicit ChakraExport(const ExportInputs& inputs);
  [[nodiscard]] Diagnostics check() const;

  ExportInputs in_;
  std::vector<std::vector<TimePoint>> start_;  // by class, by task
  std::vector<std::vector<TimePoint>> end_;    // the same
  std::vector<std::uint32_t> first_group_;     // by dimension: number of its first group
};

}  // namespace ringwright::traces
