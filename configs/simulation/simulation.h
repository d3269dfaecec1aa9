// A scenario ready to run: the built network, the training step as a task graph, the chooser, the classes of ranks.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "collectives/channel_chooser.h"
#include "collectives/nccl/tuner.h"
#include "configs/scenario/scenario.h"
#include "configs/simulation/call_overheads.h"
#include "configs/simulation/collective_choices.h"
#include "configs/simulation/collective_rung.h"
#include "configs/simulation/folded_network.h"
#include "configs/simulation/interference.h"
#include "configs/simulation/step_messages.h"
#include "core/base/diagnostic.h"
#include "core/report/facts.h"
#include "core/run/kernels/chunk_player.h"
#include "core/run/step/executor.h"
#include "core/symmetry/fold_memory.h"
#include "core/symmetry/folding.h"
#include "network_models/builtin.h"
#include "network_models/congestion/link_kinds.h"
#include "network_models/topologies/fault_schedule.h"
#include "network_models/topologies/faulty_router.h"
#include "workload/step/step_builder.h"

namespace ringwright::configs {

// kTimesOnly: as kFold, but the traffic of links may be lost, where that folds more ranks. Times are the same.
enum class FoldMode { kFold, kNoFold, kTimesOnly };

// Results of an earlier simulation on a network, for the next one on the same network.
struct KeptFindings {
  std::unique_ptr<Router> bottlenecks;
  FoldMemory folds;
  KnownOverheads* overheads = nullptr;  // outlives the simulation; null: it finds them itself
  PairPaths pairs;                      // with numbers of these overheads
  AskedCalls asked;                     // of the groups below
  bool cores_are_idle = false;          // no other steps are simulated meanwhile: overheads are found on all cores
  std::optional<Folding> folding;       // of a step with the same classes of ranks, but other cycles left out
  workload::KnownGroups groups;
  std::vector<RankPosition> places;     // of the ranks of these groups
};

// Owned members that refer to each other: not movable.
class Simulation {
 public:
  ~Simulation();  // in the source file: otherwise each user would compile those of all members anew
  Simulation(const Simulation&) = delete;
  Simulation& operator=(const Simulation&) = delete;

  // Fails when the scenario's choices are incompatible (an algorithm that cannot carry out a call).
  [[nodiscard]] static Result<std::unique_ptr<Simulation>> assemble(const Scenario& scenario, FoldMode fold);

  // The same for any plan on this machine, on a network that is built already (every size of a sweep).
  using Kept = KeptFindings;
  [[nodiscard]] static Result<std::unique_ptr<Simulation>> assemble(const Scenario& scenario, workload::StepPlan plan,
                                                                    network_models::Network network, FoldMode fold,
                                                                    Kept kept = {});
  // Returns the network and the known overheads; only for a simulation that is no longer used.
  [[nodiscard]] network_models::Network take_network() && { return std::move(network_); }
  [[nodiscard]] Kept take_kept() && {
    return {.bottlenecks = std::move(folded_).take_bottlenecks(),
            .folds = std::move(folded_).take_memory(),
            .overheads = overheads_.known,
            .pairs = std::move(overheads_.pairs),
            .asked = std::move(overheads_.asked),
            .folding = std::nullopt,
            .groups = {},
            .places = std::move(step_.places)};
  }
  [[nodiscard]] workload::StepPlan& plan_to_take() && { return step_.plan; }
  [[nodiscard]] Folding take_folding() && { return std::move(folded_).take_folding(); }

  [[nodiscard]] const network_models::Network& network() const { return network_; }
  // The router of the simulation: of link classes when folded.
  [[nodiscard]] const Router& router() const { return is_folded() ? *folded_.router() : *network_.router; }
  [[nodiscard]] const workload::StepPlan& plan() const { return step_.plan; }
  [[nodiscard]] const CollectiveChooser& chooser() const { return choices_->steps(); }
  // The same as a run in steps carries them out.
  [[nodiscard]] const CollectiveChooser& steps() const { return rung_->steps(); }
  // NCCL's choice, even where another chooser decides here.
  [[nodiscard]] const collectives::NcclTuner& nccl() const { return choices_->nccl(); }
  // How the members of a call in steps progress.
  [[nodiscard]] MemberProgress progress() const { return progress_.progress; }
  [[nodiscard]] const ProgressChoice& progress_choice() const { return progress_; }
  // Null unless collectives are simulated as formulas.
  [[nodiscard]] const CollectiveTime* collective_time() const { return rung_->time(); }
  // Null unless collectives are simulated as kernels run them.
  [[nodiscard]] const ChannelInputs* channels() const { return rung_->channels(); }
  // Null unless the cost of kernels, or of another library, is added to collectives in steps or as formulas.
  [[nodiscard]] const CallOverhead* call_overhead() const { return rung_->overhead(); }
  // As CollectiveRung has it.
  [[nodiscard]] const CallOverhead* overhead_of_messages() const { return rung_->overhead_of_messages(); }
  // The chooser of those kernels; null with the above.
  [[nodiscard]] const ChannelChooser* overhead_kernels() const {
    return rung_->adds_kernels() ? &choices_->kernels() : nullptr;
  }
  // How the library's kernels carry out a call: as simulated, or as added to steps and formulas. Nothing where kernels
  // do not count, or none implements the algorithm that the user named.
  [[nodiscard]] std::optional<CollectivePlan> kernels_of(const CollectiveCall& call) const;
  // Settings of the scenario without effect on the simulation, besides those of its own log.
  [[nodiscard]] const std::vector<IgnoredKey>& ignored() const { return ignored_; }
  // Null unless communication slows computing.
  [[nodiscard]] const CommunicationFootprint* footprint() const { return footprint_.get(); }
  [[nodiscard]] bool is_folded() const { return folded_.router() != nullptr; }
  // By link of the network, not of the classes. Paths of epochs other than 0:
  // network_models/topologies/faulty_router.h.
  [[nodiscard]] const network_models::FaultSchedule& fault_schedule() const { return fault_schedule_; }
  [[nodiscard]] const network_models::FaultPaths& fault_paths() const { return fault_paths_; }
  // By link of the simulated network; empty where the network model does not tell links apart.
  [[nodiscard]] std::span<const network_models::LinkKind> link_kinds() const { return link_kinds_; }
  // With FoldMode::kNoFold every rank and every link is a class of its own.
  [[nodiscard]] const Folding& folding() const { return folded_.folding(); }

 private:
  // Those of calls on this network, and the numbers of paths that they are known by.
  struct Overheads {
    KnownOverheads* known = nullptr;  // null: its own
    PairPaths pairs;
    AskedCalls asked;
  };
  struct Step {
    workload::StepPlan plan;
    std::vector<RankPosition> places;  // of its ranks, where the next step may have the same
  };
  Simulation();
  void lay_out(const Scenario& scenario, const std::vector<RankPosition>& known, FoldMode mode);
  void wire_rungs(const Scenario& scenario);
  void plan_paths();
  [[nodiscard]] FarthestPairs* farthest_pairs(const Scenario& scenario) const;
  void fold(const Scenario& scenario, FoldMode mode, std::optional<Folding> known);

  network_models::Network network_;
  network_models::FaultSchedule fault_schedule_;
  network_models::FaultPaths fault_paths_;
  std::vector<network_models::LinkKind> link_kinds_;
  Step step_;
  std::unique_ptr<CollectiveChoices> choices_;
  Overheads overheads_;
  std::unique_ptr<CollectiveRung> rung_;
  ProgressChoice progress_;
  std::vector<IgnoredKey> ignored_;
  std::unique_ptr<GpuFootprint> footprint_;
  FoldedNetwork folded_;
};

// The answers to everything that a run asks about communication: what folding has to distinguish.
[[nodiscard]] Choosers asked_by_run(const Simulation& simulation);

// The size of a run, before it is run. Counts are whole numbers, some too large for 64 bits.
struct Estimate {
  std::size_t ranks = 0;
  std::size_t classes = 0;
  double tasks = 0.0;  // of all simulated classes, all iterations
  double messages = 0.0;
  double exchanged = 0.0;          // further messages, of all-to-alls between hosts, which may go one by one
  double overhead_messages = 0.0;  // simulated once, to find the cost of kernels in addition to the messages of the run
  double seconds = 0.0;  // of this machine's time, by rule of thumb
};
[[nodiscard]] Estimate estimate(const Simulation& simulation);

// Device memory of every pipeline stage at its peak. `known`: of other layouts of this model; null: none.
[[nodiscard]] std::vector<MemoryRow> memory_rows(const Cluster& cluster, const Job& job,
                                                 workload::KnownMemory* known = nullptr);
[[nodiscard]] std::vector<MemoryRow> memory_rows(const Scenario& scenario);

}  // namespace ringwright::configs
