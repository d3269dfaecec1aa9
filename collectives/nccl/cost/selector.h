// NCCL's choice for a call: the cheapest algorithm and protocol, then channels and threads for the size.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "collectives/msccl/execution_plan.h"
#include "collectives/msccl/program.h"
#include "collectives/nccl/cost/cost.h"
#include "collectives/nccl/cost/tuner_file.h"
#include "collectives/nccl/cost/work.h"
#include "collectives/nccl/search/graph_cache.h"
#include "collectives/nccl/search/graph_file.h"
#include "core/plan/collective_call.h"
#include "core/plan/collective_plan.h"

namespace ringwright::collectives {

// A row of the report's table that explains a choice.
struct NcclOption {
  NcclCost cost;
  int channels = 0;
  int threads = 0;
};

struct NcclSetup {
  NcclTables tables;
  std::string version;  // of the library, as the user states it; empty: not stated
  NcclHost host;
  NcclKnobs knobs;
  TunerFile tuner;
  std::optional<NcclGraphFile> graph;    // channels that NCCL found, instead of our own search
  std::vector<MscclProgram> algorithms;  // from files, for the rung that simulates thread blocks
  std::vector<ExecutionPlan> plans;      // the same, of MSCCL++
};

class NcclSelector {
 public:
  // `graphs`: channels found earlier for the same setup; they outlive the selector. Null: the selector searches itself.
  explicit NcclSelector(NcclSetup setup, NcclGraphCache* graphs = nullptr)
      : setup_(std::move(setup)),
        own_cache_(std::make_unique<NcclGraphCache>()),
        cache_(graphs != nullptr ? graphs : own_cache_.get()) {}

  [[nodiscard]] CollectivePlan plan(const CollectiveCall& call) const;
  // With the algorithm that the user names, regardless of cost: the cheapest protocol that it may use.
  [[nodiscard]] CollectivePlan plan_with(const CollectiveCall& call, NcclAlgorithm algorithm) const;
  // Whether variables leave no algorithm that the communicator can run with a protocol: `plan` takes a ring.
  [[nodiscard]] bool leaves_nothing(const CollectiveCall& call) const;
  [[nodiscard]] CollectivePlan plan_message(const MessageCall& call) const;
  // NCCL's own estimate of every choice, cheapest first, unusable ones last; empty for all-to-all and for communicators
  // of one rank.
  [[nodiscard]] std::vector<NcclOption> options(const CollectiveCall& call) const;
  [[nodiscard]] const NcclSetup& setup() const { return setup_; }
  // The communicator's channels, as NCCL prints them at start.
  [[nodiscard]] NcclGraphs graphs(const GroupLayout& layout) const;

 private:
  [[nodiscard]] NcclCostModel model(const GroupLayout& layout) const;
  [[nodiscard]] CollectivePlan plan_for(const CollectiveCall& call, const NcclCostModel& costs,
                                        const NcclChoice& choice) const;

  NcclSetup setup_;
  std::unique_ptr<NcclGraphCache> own_cache_;
  NcclGraphCache* cache_;
};

// NCCL's estimate for every algorithm and protocol, as a plain function of its inputs.
[[nodiscard]] std::vector<NcclOption> nccl_cost(const NcclSetup& setup, const CollectiveCall& call,
                                                NcclGraphCache* graphs = nullptr);

}  // namespace ringwright::collectives
