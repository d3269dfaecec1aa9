#include "configs/simulation/server_study.h"

#include <algorithm>
#include <utility>

#include "configs/simulation/fabric_view.h"
#include "configs/simulation/simulate.h"
#include "configs/simulation/simulation.h"
#include "core/engine/engine.h"
#include "workload/layered/layered_step.h"

namespace ringwright::configs {
namespace {

using workload::LayeredLayout;
using workload::ServerUpdates;

// Of one host without servers.
workload::StepPlan plan_of_one_host(const LayeredJob& job) {
  workload::LayeredModel model = job.model;
  model.global_batch = model.global_batch / job.layout.workers() * job.layout.host_ranks;
  workload::StepPlan plan = workload::build_layered_step(
      model, {.ranks = job.layout.host_ranks, .host_ranks = job.layout.host_ranks, .servers = {}});
  plan.graph.iterations = 1;
  return plan;
}

Duration computing_of(const TaskGraph& graph, const Program& program, const ComputeModel& compute) {
  Duration time;
  for (const Task& task : program.tasks) {
    if (task.kind == TaskKind::kCompute) time += duration(compute, graph.works[task.detail]);
  }
  return time;
}

// A gradient follows from the computing before it. Where one GPU is a worker its program exchanges nothing, so buckets
// are taken from a program of two.
std::vector<ServerBucket> buckets_of(const LayeredJob& job, const ComputeModel& compute) {
  workload::LayeredModel model = job.model;
  model.global_batch = model.global_batch / job.layout.workers() * 2;
  const workload::StepPlan plan = workload::build_layered_step(model, {.ranks = 2, .host_ranks = 2, .servers = {}});
  const TaskGraph& graph = plan.graph;
  const Program& program = graph.programs.front();
  std::vector<Duration> ended(program.tasks.size());
  std::vector<ServerBucket> buckets;
  Duration now;
  for (std::size_t t = 0; t < program.tasks.size(); ++t) {
    const Task& task = program.tasks[t];
    if (task.kind == TaskKind::kCompute) now += duration(compute, graph.works[task.detail]);
    ended[t] = now;
    if (task.kind != TaskKind::kCollective) continue;
    Duration ready;
    for (std::uint32_t d = 0; d < task.dependency_count; ++d) {
      const std::uint32_t before = program.dependencies[task.first_dependency + d];
      if (program.tasks[before].kind == TaskKind::kCompute) ready = std::max(ready, ended[before]);
    }
    buckets.push_back({.ready = ready, .bytes = graph.collectives[task.detail].bytes});
  }
  return buckets;
}

std::vector<std::vector<RankId>> hosts_of(const LayeredLayout& layout, std::int64_t first, std::int64_t count) {
  std::vector<std::vector<RankId>> hosts;
  for (std::int64_t host = first; host < first + count; ++host) {
    std::vector<RankId>& ranks = hosts.emplace_back();
    for (std::int64_t gpu = 0; gpu < layout.host_ranks; ++gpu) {
      ranks.emplace_back(static_cast<std::size_t>(host * layout.host_ranks + gpu));
    }
  }
  return hosts;
}

// An update reads the gradient, weight and state, and writes weight and state; a synchronous one follows the sum of all
// pushes, 3 n - 1 passes over memory, and has a share of 1 / n here. Threads share the host's memory.
Bandwidth update_rate(const Scenario& scenario, ServerUpdates updates, std::int64_t workers) {
  const LayeredJob& job = *scenario.job.layered;
  const double update = 3.0 + 2.0 * workload::state_values(job.model.optimizer);
  const auto pushes = static_cast<double>(workers);
  const double passes = updates == ServerUpdates::kSync ? (3.0 * pushes - 1.0 + update) / pushes : update;
  return scenario.cluster.host.memory.bandwidth * (1.0 / passes / static_cast<double>(job.layout.service.threads));
}

// Of all NICs to the next host: of their ports, slots and cables, by the narrowest link of a path.
Bandwidth host_bandwidth(const Scenario& scenario) {
  const auto next = static_cast<std::size_t>(scenario.job.layered->layout.host_ranks);
  const auto nics = static_cast<double>(scenario.cluster.host.nic.count);
  return FabricView(scenario.cluster).path(0, next).narrowest * nics;
}

}  // namespace

Result<WorkerStep> worker_step(const Scenario& scenario) {
  const LayeredJob& job = *scenario.job.layered;
  const ComputeModel& compute = *scenario.job.compute;
  auto simulation =
      Simulation::assemble(scenario, plan_of_one_host(job), scenario.cluster.topology->build(), FoldMode::kFold);
  if (!simulation) return tl::unexpected(std::move(simulation.error()));
  const TaskGraph& graph = (*simulation)->plan().graph;
  const Duration computing = computing_of(graph, graph.programs.front(), compute);
  const PlayedPlan played = play_plan(scenario, **simulation, {});
  if (played.run.outcome != RunOutcome::kFinished) {
    return tl::unexpected(
        failure("E549", "the step of one worker does not end", Place{.file = scenario.simulate.steps_at.file}));
  }
  // Where the first host is a slow one, its step without what that adds to its computing.
  const std::vector<double>& slow = scenario.faults.slowdown_of_host;
  const Duration added = slow.empty() ? Duration(0) : scale(computing, slow.front() - 1.0);
  WorkerStep worker{.step = played.run.record.iteration_end.back().since_start() - added,
                    .buckets = buckets_of(job, compute)};
  // What the reduction within the host adds to the step delays all of its buckets by the same factor.
  const double slower = to_seconds(worker.step) / to_seconds(computing);
  for (ServerBucket& bucket : worker.buckets) bucket.ready = scale(bucket.ready, slower);
  return worker;
}

Result<ServerRunResult> run_parameter_servers(const Scenario& scenario, const WorkerStep& worker,
                                              const ServerMode& mode) {
  const LayeredLayout& layout = scenario.job.layered->layout;
  const std::int64_t hosts = layout.ranks / layout.host_ranks;
  const std::int64_t servers = layout.servers.count;
  const std::int64_t workers = layout.servers.dedicated ? hosts - servers : hosts;
  ServerPlan plan{.workers = hosts_of(layout, 0, workers),
                  .servers = hosts_of(layout, hosts - servers, servers),
                  .slowdown = scenario.faults.slowdown_of_host,
                  .step = worker.step,
                  .buckets = worker.buckets,
                  .synchronous = mode.updates == ServerUpdates::kSync,
                  .staleness = {},
                  .update_rate = update_rate(scenario, mode.updates, workers),
                  .request = layout.service.request,
                  .threads = layout.service.threads,
                  .rpc_latency = layout.service.rpc_latency,
                  .rpc_thread_rate = layout.service.rpc_thread_rate,
                  .warmup = std::max(1, scenario.simulate.warmup),
                  .steps = scenario.simulate.steps,
                  .until = mode.updates == ServerUpdates::kSync ? CountUntil::kGiven : CountUntil::kSteady};
  if (mode.updates == ServerUpdates::kStaleSync) plan.staleness = mode.staleness;
  const network_models::Network machine = scenario.cluster.topology->build();
  Engine engine;
  const auto network = scenario.simulate.network->make(
      {.engine = engine,
       .router = *machine.router,
       .options = {.ranks_per_host = static_cast<std::uint32_t>(scenario.cluster.host.gpus)}});
  ServerRunResult result = run_servers(engine, *network, plan);
  if (!result.finished) {
    return tl::unexpected(failure("E549", "workers and servers do not end: they wait for each other",
                                  Place{.file = scenario.simulate.steps_at.file}));
  }
  return result;
}

Duration ring_step(const Scenario& scenario, const WorkerStep& worker) {
  const LayeredLayout& layout = scenario.job.layered->layout;
  const std::int64_t hosts = layout.ranks / layout.host_ranks;
  const auto n = static_cast<double>(layout.servers.dedicated ? hosts - layout.servers.count : hosts);
  if (hosts == 1) return worker.step;
  const Bandwidth rate = host_bandwidth(scenario);
  Duration ended;
  for (const ServerBucket& bucket : worker.buckets) {
    ended = std::max(ended, bucket.ready) + transfer_time(scale(bucket.bytes, 2.0 * (n - 1.0) / n), rate);
  }
  return std::max(ended, worker.step);
}

}  // namespace ringwright::configs
