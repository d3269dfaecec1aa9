// How long the calls of a layout take at least where calls are formulas, without a plan of its step.
//
// Groups of a dimension differ in their places on hosts; the fastest counts. Within a host a call takes its formula
// and the overhead of its kernels, which are simulated once for all layouts; among several hosts only the formula
// counts, since kernels of many ranks take long to simulate, and only lengthen it.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <tuple>
#include <vector>

#include "configs/scenario/scenario.h"
#include "configs/simulation/collective_choices.h"
#include "configs/simulation/collective_rung.h"
#include "configs/simulation/known_overheads.h"
#include "core/plan/task_graph.h"
#include "network_models/builtin.h"
#include "workload/program/piece_path.h"

namespace ringwright::configs {

class LeastCalls {
 public:
  // Of scenarios with this one's machine and choices; both outlive this.
  LeastCalls(const Scenario& machine, KnownOverheads& known) : machine_(machine), known_(known) {}
  LeastCalls(const LeastCalls&) = delete;
  LeastCalls& operator=(const LeastCalls&) = delete;

  // Of the machine with this job: empty where calls are no formulas, or something is not known of them. This outlives
  // the result.
  [[nodiscard]] workload::LeastCallTime of(const Job& job);

 private:
  // The groups of layouts of one shape.
  struct Groups {
    TaskGraph graph;
    std::unique_ptr<CollectiveChoices> choices;
    std::unique_ptr<CollectiveRung> rung;
    std::vector<std::vector<const GroupLayout*>> layouts;  // by dimension, each once
    std::map<std::tuple<DimensionId, CollectiveKind, Bytes>, Duration> times;
  };
  [[nodiscard]] bool is_formula() const;
  [[nodiscard]] Groups& groups_of(const Job& job);
  static Duration time(Groups& groups, DimensionId dimension, const CollectiveSpec& spec);

  const Scenario& machine_;
  KnownOverheads& known_;
  std::unique_ptr<network_models::Network> network_;                      // once it is needed
  std::map<std::vector<std::int64_t>, std::unique_ptr<Groups>> groups_;  // by all sizes that groups depend on
};

}  // namespace ringwright::configs
