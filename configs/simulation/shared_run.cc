#include "configs/simulation/shared_run.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "configs/simulation/clock_range.h"
#include "configs/simulation/run_cost.h"
#include "configs/simulation/simulate.h"

namespace ringwright::configs {
namespace {

Diagnostics unfinished_jobs(const Scenario& machine, const RunResult& run) {
  const Place at{.file = machine.simulate.steps_at.file};
  switch (run.outcome) {
    case RunOutcome::kClockRanOut: return ends_too_late(machine.simulate, run);
    case RunOutcome::kStopped:
      return failure("E484",
                     fmt::format("a job ends more than {} steps before every other has ended its {} warm-up and {} "
                                 "measured steps",
                                 kMostJobSteps, std::max(1, machine.simulate.warmup), machine.simulate.steps),
                     at, "fewer steps or warmup steps, or the short job as `background` traffic of the long one");
    case RunOutcome::kFinished:
    case RunOutcome::kStalled:
    case RunOutcome::kLivelock:
    case RunOutcome::kDisturbed:
    case RunOutcome::kUnproven:
    case RunOutcome::kGivenUp: break;
  }
  return failure("E483", "the jobs do not end: " + render(run.stall), at);
}

// The classes of one job; others have no ranks.
RankClasses classes_of_job(const TaskGraph& graph, const RankClasses& classes, std::uint32_t job) {
  RankClasses own = classes;
  for (std::size_t c = 0; c < classes.count(); ++c) {
    const ProgramId program = graph.program_of[classes.representative[c].index()];
    if (graph.programs[program.index()].job != job) own.size[c] = 0;
  }
  return own;
}

SharedJobFigures figures_of_job(const TaskGraph& graph, const RankClasses& classes, const RunRecord& record,
                                std::uint32_t job) {
  const JobRecord& own = record.jobs[job];
  SharedJobFigures figures;
  figures.window = {.first = own.first, .count = static_cast<int>(own.step_end.size()) - own.first};
  figures.step = step_times(own.step_end, own.first);
  figures.time = break_down({.record = record,
                             .graph = graph,
                             .classes = classes_of_job(graph, classes, job),
                             .step_time = figures.step.mean,
                             .counted_iterations = figures.step.count});
  figures.time.of = graph.jobs[job].name;
  return figures;
}

void share_gpus_of(TaskGraph& graph, SharingKind kind) {
  const bool limited = std::ranges::any_of(graph.jobs, [](const JobSpec& job) { return job.limits != TenantLimits(); });
  // In MIG mode every GPU is without peer-to-peer paths.
  const bool shared = kind == SharingKind::kMig || limited || !graph.sharing.gpu_of_rank.empty();
  graph.sharing.kind = shared ? kind : SharingKind::kNone;
}

std::vector<double> link_loads(const Simulation& simulation, const RunResult& run) {
  const std::span<const Bandwidth> capacities = simulation.network().router->capacities();
  const double seconds = to_seconds(run.record.iteration_end.back().since_start());
  std::vector<double> loads;
  loads.reserve(capacities.size());
  for (std::size_t link = 0; link < capacities.size(); ++link) {
    const LinkUsage& usage = run.usage[simulation.folding().links.class_of[link]];
    loads.push_back(usage.bytes / (capacities[link].count() * seconds));
  }
  return loads;
}

}  // namespace

Result<SharedRun> run_jobs(const Scenario& machine, std::span<const PlacedJob> jobs,
                           const SharedRunOptions& options) {
  network_models::Network network = machine.cluster.topology->build();
  workload::StepPlan plan;
  plan.graph = merge_jobs(jobs, network.fabric.gpus().size());
  plan.graph.iterations = machine.simulate.steps;
  share_gpus_of(plan.graph, options.gpus == GpuUse::kShared ? machine.gpu_sharing : SharingKind::kNone);
  auto simulation = Simulation::assemble(machine, std::move(plan), std::move(network), options.fold);
  if (!simulation) return tl::unexpected(std::move(simulation.error()));
  if (Diagnostics costly = too_costly(machine, cost_of_playing(machine, **simulation)); costly.has_errors()) {
    return tl::unexpected(std::move(costly));
  }
  const PlayedPlan played = play_plan(machine, **simulation, {.windows = options.windows});
  if (played.run.outcome != RunOutcome::kFinished) return tl::unexpected(unfinished_jobs(machine, played.run));

  const TaskGraph& graph = (*simulation)->plan().graph;
  const RankClasses& classes = (*simulation)->folding().ranks;
  SharedRun result{.jobs = {},
                   .link_load = link_loads(**simulation, played.run),
                   .events = played.events,
                   .rank_classes = classes.count(),
                   .end = played.run.record.iteration_end.back()};
  for (std::size_t job = 0; job < jobs.size(); ++job) {
    result.jobs.push_back(jobs[job].runs ? figures_of_job(graph, classes, played.run.record,
                                                          static_cast<std::uint32_t>(job))
                                         : SharedJobFigures{});
  }
  return result;
}

}  // namespace ringwright::configs
