#include "configs/simulation/simulation.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "configs/simulation/fault_times.h"
#include "configs/simulation/overheads_at_once.h"
#include "configs/simulation/plan_calls.h"
#include "configs/simulation/rank_positions.h"
#include "configs/simulation/run_cost.h"
#include "configs/simulation/step_messages.h"
#include "configs/simulation/step_plan.h"
#include "configs/simulation/tenant_router.h"
#include "core/base/check.h"
#include "core/plan/gpu_kinds.h"
#include "core/plan/segments.h"
#include "core/run/collectives/coupled_plan.h"
#include "core/symmetry/footprint.h"
#include "network_models/topologies/central_router.h"
#include "workload/layout/stage_meshes.h"
#include "workload/layered/layered_memory.h"
#include "workload/recommendation/recommendation_memory.h"

namespace ringwright::configs {
namespace {

std::vector<RankPosition> places_of_ranks(const Scenario& scenario, const TaskGraph& graph) {
  std::vector<RankPosition> places = place_ranks(graph.sharing.gpus(graph.rank_count()), scenario.cluster.host.gpus,
                                                 scenario.cluster.nic_set_of_host);
  lose_nics(scenario.faults.nics_to_plan_around, scenario.cluster.host.nic.count, places);
  return of_ranks(graph.sharing, std::move(places));
}

void slow_hosts(const Scenario& scenario, TaskGraph& graph) {
  const std::vector<double>& slowdown = scenario.faults.slowdown_of_host;
  if (slowdown.empty()) return;
  for (const RankPosition& place : places_of_ranks(scenario, graph)) {
    graph.compute_slowdown.push_back(slowdown[static_cast<std::size_t>(place.host)]);
  }
}

// Folding examines every primitive of kernels, and so does the price of each call; a search need not ask each time.
Diagnostics too_costly_to_fold(const Scenario& scenario, const Simulation& simulation, FoldMode mode) {
  if (mode == FoldMode::kTimesOnly && !scenario.comm.plan) return {};
  return too_costly(scenario, cost_of_playing(scenario, simulation));
}

}  // namespace

namespace {

std::vector<network_models::LinkKind> kinds_of_classes(const std::vector<network_models::LinkKind>& kinds,
                                                       const LinkClasses& classes) {
  std::vector<network_models::LinkKind> of_classes;
  for (std::size_t c = 0; c < classes.representative.size(); ++c) {
    of_classes.push_back(kinds[classes.representative[c].index()]);
    of_classes.back().stands_for = classes.size[c];
  }
  return of_classes;
}

}  // namespace

Choosers asked_by_run(const Simulation& simulation) {
  const CollectiveTime* const times = simulation.collective_time();
  const ChannelInputs* const channels = simulation.channels();
  Choosers choosers(times != nullptr ? collectives::pairings() : simulation.steps(),
                    channels != nullptr ? &channels->chooser : nullptr, times, simulation.call_overhead(),
                    simulation.footprint());
  choosers.members_together = simulation.progress() == MemberProgress::kTogether;
  return choosers;
}

Simulation::Simulation() = default;
Simulation::~Simulation() = default;

void Simulation::wire_rungs(const Scenario& scenario) {
  PairPaths* const pairs = step_.plan.graph.sharing.on() ? nullptr : &overheads_.pairs;
  rung_ = std::make_unique<CollectiveRung>(CollectiveRung::Inputs{.scenario = scenario,
                                                                  .graph = step_.plan.graph,
                                                                  .network = network_,
                                                                  .choices = *choices_,
                                                                  .progress = progress_.progress,
                                                                  .known = overheads_.known,
                                                                  .pairs = pairs,
                                                                  .asked = &overheads_.asked});
  std::ranges::move(rung_->idle_files(step_.plan.graph), std::back_inserter(ignored_));
  if (!scenario.interference.counts) return;
  footprint_ = std::make_unique<GpuFootprint>(GpuFootprint::Inputs{.settings = scenario.interference,
                                                                   .graph = step_.plan.graph,
                                                                   .router = *network_.router,
                                                                   .tuner = choices_->nccl(),
                                                                   .channels = channels()});
}

Result<std::unique_ptr<Simulation>> Simulation::assemble(const Scenario& scenario, FoldMode fold_mode) {
  return assemble(scenario, plan_step(scenario), scenario.cluster.topology->build(), fold_mode);
}

Result<std::unique_ptr<Simulation>> Simulation::assemble(const Scenario& scenario, workload::StepPlan plan,
                                                         network_models::Network network, FoldMode fold_mode,
                                                         Kept kept) {
  if (!scenario.simulate.network->folds) fold_mode = FoldMode::kNoFold;
  if (Diagnostics unsettled = unsettled_faults(scenario.faults); unsettled.has_errors()) {
    return tl::unexpected(std::move(unsettled));
  }
  std::unique_ptr<Simulation> simulation(new Simulation);
  simulation->folded_ = FoldedNetwork(std::move(kept.bottlenecks), std::move(kept.folds));
  simulation->overheads_.known = kept.overheads;
  if (kept.overheads != nullptr) {
    simulation->overheads_.pairs = std::move(kept.pairs);
    simulation->overheads_.asked = std::move(kept.asked);
  }
  simulation->network_ = std::move(network);
  simulation->step_.plan = std::move(plan);
  TaskGraph& graph = simulation->step_.plan.graph;
  split_by_gpu(graph, of_ranks(graph.sharing, scenario.cluster.kind_of_ranks(graph.sharing.gpus(graph.rank_count()))));
  simulation->lay_out(scenario, kept.places, fold_mode);
  slow_hosts(scenario, graph);
  graph.background = scenario.background.transfers;
  const std::string problem = check_task_graph(graph);
  CHECK(problem.empty(), problem);
  CHECK(simulation->network_.fabric.gpus().size() >= graph.sharing.gpus(graph.rank_count()), "every rank has a GPU");
  if (graph.sharing.on()) {
    simulation->network_.router = std::make_unique<TenantRouter>(std::move(simulation->network_.router), graph.sharing,
                                                                 scenario.cluster.host.gpus);
  }

  simulation->choices_ = std::make_unique<CollectiveChoices>(
      scenario, graph, kept.overheads != nullptr ? &kept.overheads->graphs() : nullptr);
  Diagnostics problems =
      simulation->choices_->check(scenario, graph, simulation->overheads_.asked, simulation->ignored_);
  if (problems.has_errors()) return tl::unexpected(std::move(problems));
  simulation->progress_ = choose_progress(
      scenario, {.graph = graph, .chooser = simulation->chooser(), .router = *simulation->network_.router});
  simulation->wire_rungs(scenario);
  if (simulation->network_.central != nullptr) simulation->plan_paths();
  if (auto slow = too_costly_to_fold(scenario, *simulation, fold_mode); slow.has_errors()) return tl::unexpected(slow);

  if (kept.cores_are_idle && kept.overheads != nullptr && simulation->rung_->adds_kernels()) {
    find_overheads({.scenario = scenario,
                    .graph = graph,
                    .network = simulation->network_,
                    .kernels = simulation->choices_->kernels(),
                    .progress = simulation->progress_.progress},
                   *kept.overheads);
  }
  simulation->fold(scenario, fold_mode, std::move(kept.folding));
  return simulation;
}

// Groups of an earlier step have layouts, which hold for ranks in these places only.
void Simulation::lay_out(const Scenario& scenario, const std::vector<RankPosition>& known, FoldMode mode) {
  TaskGraph& graph = step_.plan.graph;
  std::vector<RankPosition> places = places_of_ranks(scenario, graph);
  if (!are_groups_laid_out(graph) || places != known) {
    lay_out_groups(graph, places);
    overheads_.asked.clear();
  }
  if (mode == FoldMode::kTimesOnly) step_.places = std::move(places);
}

// The controller knows all pairs of the job.
void Simulation::plan_paths() {
  const Footprint footprint = make_footprint(step_.plan.graph, asked_by_run(*this));
  std::vector<network_models::CentralRouter::Pair> pairs;
  for (std::size_t rank = 0; rank + 1 < footprint.first_edge.size(); ++rank) {
    for (const Edge& edge : footprint.edges_of(RankId(rank))) {
      const EdgeKind& kind = footprint.kinds[edge.kind];
      if (!kind.starts_flow || !kind.loads_links || kind.route_kind == RouteKind::kDownFromSwitch) continue;
      pairs.push_back({.query = {.from = RankId(rank),
                                 .to = edge.peer,
                                 .route_kind = kind.route_kind,
                                 .nics = kind.nics,
                                 .label = kind.label},
                       .role = kind.role});
    }
  }
  if (network_.central->plan(pairs)) return;
  ignored_.push_back({.path = "cluster.fabric.routing.policy",
                      .origin = {},
                      .why = fmt::format("{} pairs of ranks exchange messages, and central routing plans at most {}: "
                                         "all paths are hashed",
                                         pairs.size(), network_models::CentralRouter::kMostPairs)});
}

// On hosts that are all equal, and have no tenants, whose ranks are no GPUs.
FarthestPairs* Simulation::farthest_pairs(const Scenario& scenario) const {
  const bool estimates = overheads_.known != nullptr && overheads_.known->accuracy() == OverheadAccuracy::kInterpolated;
  const bool equal = scenario.cluster.nic_set_of_host.empty() && fault_schedule_.empty();
  return estimates && equal && !step_.plan.graph.sharing.on() ? &overheads_.known->farthest() : nullptr;
}

void Simulation::fold(const Scenario& scenario, FoldMode mode, std::optional<Folding> known) {
  const Router& router = *network_.router;
  fault_schedule_ = network_models::FaultSchedule(scenario.faults.links, router.capacities().size());
  if (!fault_schedule_.failover().empty()) {
    fault_paths_.failover.emplace(network_.fabric, router, fault_schedule_.failover());
  }
  if (fault_schedule_.any_losses()) fault_paths_.lossy.emplace(network_.fabric, scenario.cluster.host);
  if (!scenario.simulate.network->max_min) link_kinds_ = network_models::link_kinds(network_.fabric);
  if (mode != FoldMode::kNoFold) {
    const bool alone = mode == FoldMode::kTimesOnly && !scenario.simulate.network->shares_links;
    folded_.fold({.graph = step_.plan.graph,
                  .choosers = asked_by_run(*this),
                  .router = router,
                  .faults = fault_schedule_,
                  .fault_paths = fault_paths_,
                  .kinds = link_kinds_,
                  .times_only = alone,
                  .farthest = farthest_pairs(scenario),
                  .per_host = static_cast<std::size_t>(scenario.cluster.host.gpus),
                  .gpus = network_.fabric.gpus().size()},
                 std::move(known));
  }
  if (mode == FoldMode::kNoFold) folded_.leave_unfolded(step_.plan.graph.rank_count(), router.capacities().size());
  if (!link_kinds_.empty()) link_kinds_ = kinds_of_classes(link_kinds_, folding().links);
}

std::optional<CollectivePlan> Simulation::kernels_of(const CollectiveCall& call) const {
  if (channels() == nullptr && overhead_kernels() == nullptr) return std::nullopt;
  ChannelChoice choice = channels() != nullptr ? channels()->chooser.choose(call) : choices_->kernels().choose(call);
  if (choice.algorithm == nullptr) return std::nullopt;
  return std::move(choice.plan);
}

namespace {

// Of one rank in one call: one for each step, or one for each simulated primitive.
double messages_in(const Simulation& simulation, const CollectiveCall& call) {
  if (simulation.collective_time() != nullptr) return 0.0;
  if (simulation.channels() == nullptr) {
    const CollectiveAlgorithm& algorithm = simulation.steps().choose(call);
    if (simulation.progress() == MemberProgress::kTogether) return count_phases(algorithm, call);
    return static_cast<double>(algorithm.steps(call));
  }
  return primitives_in(simulation.channels()->chooser, call);
}

// Of one rank in one call of a single step: those that leave its host, but for the one of messages_in(). Within a host
// such calls go at once; between hosts messages of pipelines and other groups use the same links.
double exchanged_in(const Simulation& simulation, const CollectiveCall& call) {
  const bool in_steps = simulation.collective_time() == nullptr && simulation.channels() == nullptr;
  if (!in_steps || simulation.progress() == MemberProgress::kTogether || call.layout->host_count() < 2) return 0.0;
  const CollectiveAlgorithm& algorithm = simulation.steps().choose(call);
  if (algorithm.steps(call) != 1) return 0.0;
  constexpr int kMostAsked = 64;  // members; of more the first ones stand for all
  const int asked = std::min(call.size(), kMostAsked);
  double leaving = 0.0;
  CollectiveStep step;
  for (int member = 0; member < asked; ++member) {
    algorithm.step(call, member, 0, step);
    leaving += static_cast<double>(std::ranges::count_if(step.sends, [&](const CollectiveSend& send) {
      return call.layout->host_of[static_cast<std::size_t>(member)] !=
             call.layout->host_of[static_cast<std::size_t>(send.peer)];
    }));
  }
  return std::max(leaving / asked - 1.0, 0.0);
}

std::vector<RankId> one_of_each_program(const TaskGraph& graph) {
  std::vector<RankId> ranks;
  std::vector<bool> seen(graph.programs.size(), false);
  for (std::size_t rank = 0; rank < graph.rank_count(); ++rank) {
    const std::size_t program = graph.program_of[rank].index();
    if (!seen[program]) ranks.emplace_back(rank);
    seen[program] = true;
  }
  return ranks;
}

}  // namespace

Estimate estimate(const Simulation& simulation) {
  // Measured on a 2 GHz-class core: a task or a message costs about half a microsecond.
  constexpr double kSecondsPerItem = 0.5e-6;
  const TaskGraph& graph = simulation.plan().graph;
  const RankClasses& classes = simulation.folding().ranks;
  // By program, dimension and group layout: steps of one rank's collectives, each about one message.
  std::map<std::tuple<std::size_t, std::size_t, const GroupLayout*>, double> messages_of;
  std::map<std::tuple<std::size_t, std::size_t, const GroupLayout*>, double> exchanged_of;
  double overhead_messages = 0.0;
  for_each_call(graph, [&](const CollectiveCall& call, std::uint32_t program, std::uint64_t tasks) {
    messages_of[{program, call.dimension.index(), call.layout}] +=
        static_cast<double>(tasks) * messages_in(simulation, call);
    exchanged_of[{program, call.dimension.index(), call.layout}] +=
        static_cast<double>(tasks) * exchanged_in(simulation, call);
    if (const ChannelChooser* const kernels = simulation.overhead_kernels(); kernels != nullptr) {
      overhead_messages += primitives_in(*kernels, call);
    }
  });
  Estimate result{.ranks = graph.rank_count(), .classes = classes.count(), .overhead_messages = overhead_messages};
  // Before ranks are folded at least one of each program is simulated.
  std::vector<RankId> played = classes.representative;
  if (played.empty()) played = one_of_each_program(graph);
  for (const RankId rank : played) {
    const std::size_t program = graph.program_of[rank.index()].index();
    result.tasks += static_cast<double>(count_tasks(graph, graph.programs[program]));
    for (std::size_t dimension = 0; dimension < graph.dimensions.size(); ++dimension) {
      const Dimension& d = graph.dimensions[dimension];
      const GroupLayout& layout = graph.layouts[d.layout_of_group[d.group_of[rank.index()]]];
      const auto found = messages_of.find({program, dimension, &layout});
      if (found == messages_of.end()) continue;
      result.messages += found->second;
      result.exchanged += exchanged_of[{program, dimension, &layout}];
    }
  }
  const double iterations = graph.iterations;
  result.tasks *= iterations;
  result.messages *= iterations;
  result.exchanged *= iterations;
  result.seconds = (result.tasks + result.messages + result.exchanged) * kSecondsPerItem;
  return result;
}

namespace {

// Of the GPUs that hold a pipeline stage, the one with the least memory.
Bytes smallest_memory(const Cluster& cluster, const workload::ParallelOptions& parallel, int stage) {
  if (!cluster.mixed()) return cluster.gpu.memory;
  const std::vector<int> stages = workload::stage_of_ranks(parallel);
  std::optional<Bytes> smallest;
  for (std::size_t rank = 0; rank < stages.size(); ++rank) {
    if (stages[rank] != stage) continue;
    const Bytes own = cluster.gpu_of_kind(cluster.kind_of_rank(RankId(rank))).memory;
    smallest = std::min(smallest.value_or(own), own);
  }
  return smallest.value_or(cluster.gpu.memory);
}

std::vector<workload::StageMemory> memory_of(const Job& job, workload::KnownMemory* known) {
  if (job.layered) return {workload::layered_memory(job.layered->model, job.layered->layout, job.memory)};
  if (job.recommendation) {
    return workload::recommendation_memory(job.recommendation->model, job.recommendation->placement, job.memory);
  }
  return workload::memory_ledger({.shape = job.model, .training = job.training, .parallel = job.parallel}, job.memory,
                                 known);
}

}  // namespace

std::vector<MemoryRow> memory_rows(const Scenario& scenario) {
  return memory_rows(scenario.cluster, scenario.job);
}

std::vector<MemoryRow> memory_rows(const Cluster& cluster, const Job& job, workload::KnownMemory* known) {
  std::vector<MemoryRow> rows;
  if (job.trace) return rows;  // traces say what is computed, not what is held
  const auto ledger = memory_of(job, known);
  for (const workload::StageMemory& stage : ledger) {
    const Bytes capacity =
        job.trains_transformer() ? smallest_memory(cluster, job.parallel, stage.stage) : cluster.gpu.memory;
    MemoryRow row{.stage = stage.stage,
                  .kind = job.recommendation ? "tables" : "stage",
                  .items = {},
                  .total = stage.total(),
                  .capacity = capacity,
                  .largest_weight = stage.largest_weight,
                  .largest_block = job.memory.largest_block};
    row.items.reserve(stage.items.size());
    for (const workload::MemoryItem& item : stage.items) {
      row.items.push_back({.name = item.name, .size = item.bytes});
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

}  // namespace ringwright::configs
