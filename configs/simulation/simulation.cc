#include "configs/simulation/simulation.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "configs/simulation/group_wires.h"
#include "configs/simulation/rank_positions.h"
#include "configs/simulation/run_cost.h"
#include "configs/simulation/step_plan.h"
#include "configs/simulation/torus_boxes.h"
#include "core/base/check.h"
#include "core/base/text.h"
#include "core/plan/segments.h"
#include "core/symmetry/bottleneck_router.h"
#include "network_models/topologies/faulty_router.h"

namespace ringwright::configs {
namespace {

// Calls visit(call, program, number of tasks) for every distinct collective of every program and group layout.
template <class Visit>
void for_each_call(const TaskGraph& graph, Visit&& visit) {
  std::map<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>, std::uint64_t> count;
  for (std::uint32_t p = 0; p < graph.programs.size(); ++p) {
    visit_tasks(graph, graph.programs[p], [&](const Task& task, std::uint32_t times) {
      if (task.kind == TaskKind::kCollective) count[{p, task.dimension.value, task.detail}] += times;
    });
  }
  std::vector<std::vector<std::uint32_t>> ranks_of(graph.programs.size());
  for (std::uint32_t rank = 0; rank < graph.rank_count(); ++rank) {
    ranks_of[graph.program_of[rank].index()].push_back(rank);
  }
  for (const auto& [key, tasks] : count) {
    const auto& [program, dimension, detail] = key;
    const Dimension& d = graph.dimensions[dimension];
    std::set<std::uint32_t> layouts;
    std::uint32_t last = ~std::uint32_t{0};  // nearly always the same as for the next one
    for (const std::uint32_t rank : ranks_of[program]) {
      const std::uint32_t layout = d.layout_of_group[d.group_of[rank]];
      if (layout != last) layouts.insert(layout);
      last = layout;
    }
    for (const std::uint32_t layout : layouts) {
      const CollectiveSpec& spec = graph.collectives[detail];
      visit(CollectiveCall{.kind = spec.kind,
                           .bytes = spec.bytes,
                           .layout = &graph.layouts[layout],
                           .dimension = DimensionId(dimension)},
            program, tasks);
    }
  }
}

// The position in the scenario where the algorithm of a dimension's collectives is set.
Place place_of_choice(const Scenario& scenario, std::string_view path) {
  for (const ValueRead& value : scenario.document.log().values()) {
    if (value.path == path) return {.file = value.origin};
  }
  return {};
}

Folding unfolded(std::size_t ranks, std::size_t links) {
  Folding folding;
  folding.ranks = identity_classes(ranks);
  folding.links.size.assign(links, 1);
  for (std::size_t link = 0; link < links; ++link) {
    folding.links.class_of.push_back(static_cast<std::uint32_t>(link));
    folding.links.representative.emplace_back(link);
  }
  return folding;
}

void slow_hosts(const Scenario& scenario, TaskGraph& graph) {
  const std::vector<double>& slowdown = scenario.faults.slowdown_of_host;
  if (slowdown.empty()) return;
  for (const RankPosition& place : place_ranks(graph.rank_count(), scenario.cluster.host.gpus)) {
    graph.compute_slowdown.push_back(slowdown[static_cast<std::size_t>(place.host)]);
  }
}

Folding fold_over_faults(const TaskGraph& graph, const Choosers& chooser, const Router& router,
                         const network_models::FaultSchedule& schedule, FoldMemory* memory) {
  if (schedule.empty()) return memory != nullptr ? memory->fold(graph, chooser, router) : fold(graph, chooser, router);
  std::vector<network_models::FaultyRouter> routers;
  for (std::uint32_t epoch = 1; epoch < schedule.epoch_count(); ++epoch) routers.emplace_back(router, schedule, epoch);
  NetworkChanges changes{.epochs = {}, .link_colours = schedule.link_colours()};
  for (const network_models::FaultyRouter& epoch : routers) changes.epochs.push_back(&epoch);
  return fold(graph, chooser, router, changes);
}

// The answers to everything that a run asks about communication.
Choosers asked_by_run(const Simulation& simulation) {
  const CollectiveTime* const times = simulation.collective_time();
  const ChannelInputs* const channels = simulation.channels();
  return {times != nullptr ? collectives::pairings() : simulation.chooser(),
          channels != nullptr ? &channels->chooser : nullptr, times, simulation.call_overhead(),
          simulation.footprint()};
}

// Folding examines every primitive of kernels, and so does the price of each call; a search need not ask each time.
Diagnostics too_costly_to_fold(const Scenario& scenario, const Simulation& simulation, FoldMode mode) {
  if (mode == FoldMode::kTimesOnly && !scenario.comm.plan) return {};
  return too_costly(scenario, cost_of_playing(scenario, simulation));
}

}  // namespace

Simulation::Simulation() = default;
Simulation::~Simulation() = default;

Diagnostics Simulation::check_algorithms(const Scenario& scenario) {
  const TaskGraph& graph = plan_.graph;
  const bool in_chunks = scenario.collectives.rung == collectives::Rung::kChunks;
  Diagnostics problems;
  std::set<std::string> told;
  for_each_call(graph, [&](const CollectiveCall& call, std::uint32_t, std::uint64_t) {
    const std::string path = fmt::format("collectives.{}.algorithm", chooser_->dimension(call));
    const auto refuse = [&](const std::string& why) {
      if (why.empty() || !told.insert(why).second) return;
      problems.add({.code = "E151",
                    .place = place_of_choice(scenario, path),
                    .message = fmt::format("'{}' cannot carry out {} of {} among {} ranks: {}", path,
                                           to_string(call.kind), to_string(call.bytes), call.size(), why)});
    };
    const std::string why = chooser_->check(call);
    refuse(why);
    if (!why.empty() || call.size() < 2 || !scenario.collectives.heeds_kernels()) return;
    const bool own = chooser_->named(call) != nullptr || chooser_->on_torus(call) != nullptr;
    if (!own || kernels_->choose(call).algorithm != nullptr) return;
    const std::string_view name = chooser_->choose(call).name();
    if (in_chunks) {
      refuse(fmt::format("no kernel implements '{}'; these have kernels: {}; or take 'collectives.model: steps'", name,
                         join(collectives::algorithms_with_kernels(call), ", ")));
    } else if (told.insert(path).second) {
      ignored_.push_back({.path = "collectives.overhead",
                          .why = fmt::format("of dimension '{}': no kernel implements '{}', only its messages count",
                                             chooser_->dimension(call), name)});
    }
  });
  return problems;
}

// A plan of the user's for all calls, or NCCL's choice for each: steps, formulas and kernels all use it, unless the
// user names an algorithm for a dimension.
void Simulation::wire_choosers(const Scenario& scenario) {
  collectives::NcclGraphCache* const found = known_overheads_ != nullptr ? &known_overheads_->graphs() : nullptr;
  nccl_ = std::make_unique<collectives::NcclTuner>(scenario.nccl, found);
  if (scenario.comm.plan) tuner_ = std::make_unique<collectives::FixedTuner>(*scenario.comm.plan);
  const ChannelTuner& tuner = tuner_ ? *tuner_ : static_cast<const ChannelTuner&>(*nccl_);
  const bool sums = scenario.cluster.switch_sums.enabled;
  planned_ = std::make_unique<collectives::PlannedChooser>(
      tuner, sums ? collectives::NetworkSums::kYes : collectives::NetworkSums::kNo);
  collectives::ChooserFacts facts{
      .dimensions = {}, .hosts_have_nvls = scenario.cluster.host.nvlink.reduces, .library = planned_.get()};
  for (const Dimension& dimension : plan_.graph.dimensions) facts.dimensions.push_back(dimension.name);
  facts.boxes = boxes_of_groups(plan_.graph, scenario.cluster);
  chooser_ = std::make_unique<collectives::SimpleChooser>(scenario.collectives, facts);
  kernels_ = std::make_unique<collectives::ChosenKernels>(
      collectives::ChosenKernels::Inputs{.library = *planned_,
                                         .steps = *chooser_,
                                         .nccl = *nccl_,
                                         .network_sums = sums,
                                         .played = scenario.collectives.rung == collectives::Rung::kChunks,
                                         .fixed = scenario.comm.plan ? &*scenario.comm.plan : nullptr});
}

// Kernels carry out the calls, algorithms from files before all others, or give the cost in addition to their messages.
void Simulation::wire_kernels(const Scenario& scenario) {
  if (scenario.collectives.rung == collectives::Rung::kChunks) {
    files_ = std::make_unique<collectives::FileChooser>(scenario.nccl.algorithms, scenario.nccl.plans, *kernels_);
    channels_.emplace(ChannelInputs{.chooser = *files_, .costs = scenario.comm.costs});
    return;
  }
  const ChannelInputs kernels{.chooser = *kernels_, .costs = scenario.comm.costs};
  // Channels of one call share the host's links, even where the network model of the run shares none between calls.
  const network_models::ModelEntry& model =
      closed_form_ ? *std::ranges::find(network_models::models(), true, &network_models::ModelEntry::shares_links)
                   : *scenario.simulate.network;
  overheads_ = std::make_unique<CallOverheads>(CallOverheads::Inputs{.network = network_,
                                                                     .model = model,
                                                                     .per_host = scenario.cluster.host.gpus,
                                                                     .nic_set_of_host =
                                                                         scenario.cluster.host.nic_sets.of_host,
                                                                     .steps = *chooser_,
                                                                     .formula = closed_form_.get(),
                                                                     .step_costs = scenario.collectives.step_costs,
                                                                     .channels = kernels,
                                                                     .known = known_overheads_ != nullptr
                                                                                  ? *known_overheads_
                                                                                  : own_overheads_});
  if (closed_form_) with_overhead_.emplace(*closed_form_, *overheads_);
}

Result<std::unique_ptr<Simulation>> Simulation::assemble(const Scenario& scenario, FoldMode fold_mode) {
  return assemble(scenario, plan_step(scenario), scenario.cluster.topology->build(), fold_mode);
}

Result<std::unique_ptr<Simulation>> Simulation::assemble(const Scenario& scenario, workload::StepPlan plan,
                                                         network_models::Network network, FoldMode fold_mode,
                                                         Kept kept) {
  std::unique_ptr<Simulation> simulation(new Simulation);
  simulation->bottlenecks_ = std::move(kept.bottlenecks);
  simulation->folds_ = std::move(kept.folds);
  simulation->known_overheads_ = kept.overheads;
  simulation->network_ = std::move(network);
  simulation->plan_ = std::move(plan);
  TaskGraph& graph = simulation->plan_.graph;
  const std::vector<int>& nic_set_of_host = scenario.cluster.host.nic_sets.of_host;
  lay_out_groups(graph, place_ranks(graph.rank_count(), scenario.cluster.host.gpus, nic_set_of_host));
  slow_hosts(scenario, graph);
  graph.background = scenario.background.transfers;
  const std::string problem = check_task_graph(graph);
  CHECK(problem.empty(), problem);
  CHECK(simulation->network_.fabric.gpus().size() >= graph.rank_count(), "every rank has a GPU");

  simulation->wire_choosers(scenario);
  if (Diagnostics problems = simulation->check_algorithms(scenario); problems.has_errors()) {
    return tl::unexpected(std::move(problems));
  }

  const Router& router = *simulation->network_.router;
  if (scenario.collectives.rung == collectives::Rung::kClosedForm) {
    simulation->closed_form_ =
        std::make_unique<collectives::ClosedForm>(*simulation->chooser_, GroupWires(graph, router));
  }
  if (scenario.collectives.heeds_kernels()) simulation->wire_kernels(scenario);
  if (scenario.interference.counts) {
    simulation->footprint_ =
        std::make_unique<GpuFootprint>(GpuFootprint::Inputs{.settings = scenario.interference,
                                                            .graph = graph,
                                                            .router = router,
                                                            .tuner = *simulation->nccl_,
                                                            .channels = simulation->channels()});
  }
  if (auto slow = too_costly_to_fold(scenario, *simulation, fold_mode); slow.has_errors()) return tl::unexpected(slow);
  simulation->fault_schedule_ = network_models::FaultSchedule(scenario.faults.links, router.capacities().size());
  if (fold_mode == FoldMode::kNoFold) {
    simulation->folding_ = unfolded(graph.rank_count(), router.capacities().size());
    return simulation;
  }
  const bool alone = fold_mode == FoldMode::kTimesOnly && !scenario.simulate.network->shares_links;
  if (alone && !simulation->bottlenecks_) simulation->bottlenecks_ = make_bottleneck_router(router);
  const Router& paths = alone ? *simulation->bottlenecks_ : router;
  simulation->folding_ =
      kept.folding ? std::move(*kept.folding)
                   : fold_over_faults(graph, asked_by_run(*simulation), paths, simulation->fault_schedule_,
                                      alone ? &simulation->folds_ : nullptr);
  simulation->folded_router_ = make_folded_router(paths, simulation->folding_);
  return simulation;
}

std::optional<CollectivePlan> Simulation::kernels_of(const CollectiveCall& call) const {
  if (!channels_ && !overheads_) return std::nullopt;
  ChannelChoice choice = channels_ ? channels_->chooser.choose(call) : kernels_->choose(call);
  if (choice.algorithm == nullptr) return std::nullopt;
  return std::move(choice.plan);
}

namespace {

// Of one rank in one call with the kernels' primitives.
double primitives_in(const ChannelChooser& chooser, const CollectiveCall& call) {
  const ChannelChoice choice = chooser.choose(call);
  if (choice.algorithm == nullptr) return 0.0;
  double messages = 0.0;
  ThreadBlock made;
  for (int block = 0; block < choice.algorithm->blocks(call, choice.plan); ++block) {
    choice.algorithm->block(call, choice.plan, 0, block, made);
    messages += static_cast<double>(made.primitives);
  }
  return messages;
}

// Of one rank in one call: one for each step, or one for each simulated primitive.
double messages_in(const Simulation& simulation, const CollectiveCall& call) {
  if (simulation.collective_time() != nullptr) return 0.0;
  if (simulation.channels() == nullptr) return static_cast<double>(simulation.chooser().choose(call).steps(call));
  return primitives_in(simulation.channels()->chooser, call);
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
  double overhead_messages = 0.0;
  for_each_call(graph, [&](const CollectiveCall& call, std::uint32_t program, std::uint64_t tasks) {
    messages_of[{program, call.dimension.index(), call.layout}] +=
        static_cast<double>(tasks) * messages_in(simulation, call);
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
      if (found != messages_of.end()) result.messages += found->second;
    }
  }
  const double iterations = graph.iterations;
  result.tasks *= iterations;
  result.messages *= iterations;
  result.seconds = (result.tasks + result.messages) * kSecondsPerItem;
  return result;
}

std::vector<MemoryRow> memory_rows(const Scenario& scenario) {
  const Job& job = scenario.job;
  std::vector<MemoryRow> rows;
  if (job.trace) return rows;  // traces say what is computed, not what is held
  const auto ledger =
      workload::memory_ledger({.shape = job.model, .training = job.training, .parallel = job.parallel}, job.memory);
  for (const workload::StageMemory& stage : ledger) {
    MemoryRow row{.stage = stage.stage, .items = {}, .total = stage.total(), .capacity = scenario.cluster.gpu.memory};
    for (const workload::MemoryItem& item : stage.items) row.items.push_back({.name = item.name, .size = item.bytes});
    rows.push_back(std::move(row));
  }
  return rows;
}

}  // namespace ringwright::configs
