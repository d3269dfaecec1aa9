#include "core/run/step/run_state.h"

#include <algorithm>

#include "core/base/random.h"

namespace ringwright {
namespace {

std::unique_ptr<GpuContention> make_contention(const ExecutorInputs& inputs, ComputeListener& listener) {
  if (inputs.footprint == nullptr) return nullptr;
  return std::make_unique<GpuContention>(GpuContention::Inputs{.engine = inputs.engine,
                                                               .graph = inputs.graph,
                                                               .classes = inputs.classes,
                                                               .network = inputs.network,
                                                               .compute = inputs.compute,
                                                               .footprint = *inputs.footprint,
                                                               .listener = listener});
}

}  // namespace

RunState::RunState(const ExecutorInputs& inputs, const ExecutorOptions& options,
                   CommunicationListener& of_communication, ComputeListener& of_computing)
    : engine(inputs.engine),
      network(inputs.network),
      plan(inputs, options),
      streams(inputs.graph, inputs.classes, plan),
      host({inputs.graph, plan.programs(), inputs.classes, inputs.compute, options.host_awaits_receives}),
      ledger(inputs.classes.count(), inputs.graph.dimensions.size()),
      contention(make_contention(inputs, of_computing)),
      communication({.inputs = inputs,
                     .streams = streams,
                     .ledger = ledger,
                     .contention = contention.get(),
                     .listener = of_communication}) {
  if (contention) ledger.watch_with(&contention->compute());
  if (plan.at_once) {
    segments = std::make_unique<SegmentPlayer>(communication.job(), communication.calls(), inputs, plan);
  }
}

// Under contention, receives that began with the step are known by their order in the program: those on no stream.
bool RunState::is_comparable() const {
  if (!contention) return true;
  return contention->compute().is_comparable() && std::ranges::all_of(plan.programs(), [](const Program& program) {
    return std::ranges::all_of(program.tasks, [](const Task& task) {
      return task.kind != TaskKind::kReceive || task.stream == kNoStream;
    });
  });
}

std::uint64_t RunState::digest(int iteration, std::uint64_t of_network) const {
  std::uint64_t hash = mix(mix(of_network, communication.digest()), host.digest(engine.now()));
  for (const Progress& progress : streams.all()) {
    hash = mix(hash, ringwright::digest(progress, engine.now(), iteration));
  }
  if (contention) hash = mix(hash, contention->digest_of_copy_blocks());
  for (std::size_t c = 0; contention && c < streams.classes(); ++c) {
    hash = mix(hash, contention->digest(ClassId(c), {.reference = 0, .farthest = kNoTask}));
  }
  for (std::size_t c = 0; segments != nullptr && c < streams.classes(); ++c) {
    hash = mix(mix(hash, segments->digest(ClassId(c))), ledger.digest(ClassId(c)));
  }
  return hash;
}

std::uint64_t RunState::cycle_digest(std::uint64_t of_network) const {
  const TimePoint now = engine.now();
  const std::vector<std::uint32_t>& first_task = communication.job().reference_task;
  std::uint64_t hash = mix(of_network, communication.digest());
  if (contention) hash = mix(hash, contention->digest_of_copy_blocks());
  for (std::size_t c = 0; c < streams.classes(); ++c) {
    const ClassId rank_class(c);
    // Behind the farthest task only receives that began with the step wait for their data, all that are left.
    const ContendedCompute::Scope scope{.reference = first_task[c], .farthest = streams.of(rank_class).farthest};
    if (contention) hash = mix(hash, contention->digest(rank_class, scope));
    hash = mix(hash, digest_cycle(streams.of(rank_class), {.now = now, .task = first_task[c]}));
    hash = mix(mix(hash, segments != nullptr ? segments->digest(rank_class) : 0), ledger.digest(rank_class));
  }
  return hash;
}

bool RunState::is_past_loops() const {
  const int iteration = streams.all().front().iteration;
  for (std::size_t i = 0; i < streams.classes(); ++i) {
    const Progress& progress = streams.of(ClassId(i));
    const Loop& loop = streams.program_of(ClassId(i)).loop;
    const bool at_end = progress.farthest + loop.size >= loop.end();
    if (progress.iteration > iteration || (progress.iteration == iteration && at_end)) return true;
  }
  return false;
}

std::vector<SteadyStateWatch::Position> RunState::find_places() {
  std::vector<std::uint32_t>& reference_task = communication.job().reference_task;
  reference_task.resize(streams.classes());
  const TimePoint now = engine.now();
  std::vector<SteadyStateWatch::Position> places;
  for (std::size_t i = 0; i < streams.classes(); ++i) {
    const ClassId c(i);
    const Progress& progress = streams.of(c);
    const Loop& loop = streams.program_of(c).loop;
    const std::vector<std::uint32_t>& order = streams.index_of(c).stream_tasks[kComputeStream];
    const std::size_t at = progress.streams[kComputeStream].next;
    if (progress.iteration != streams.all().front().iteration || at >= order.size()) return {};
    if (order[at] < loop.first || progress.farthest + loop.size >= loop.end()) return {};
    const std::uint32_t cycle = (order[at] - loop.first) / loop.size;
    const std::uint32_t first = loop.first + cycle * loop.size;
    reference_task[i] = first;
    places.push_back({.cycle = cycle,
                      .host_behind = host.issuing(c, first) - now,
                      .receives_behind = host.issuing_unhindered(c, first) - now});
  }
  return places;
}

StepSnapshot RunState::snapshot(int iteration, std::uint64_t digest) {
  const TimePoint now = engine.now();
  for (std::size_t c = 0; c < streams.classes(); ++c) ledger.close(ClassId(c), now);
  const PlayedJob& job = communication.booked_job();
  return {.iteration = iteration,
          .at = now,
          .digest = digest,
          .time_in = ledger.time_in(),
          .sent = job.sent,
          .messages = job.messages_in_all(),
          .calls = {},
          .usage = usage(),
          .losses = contention ? contention->compute().losses() : ContendedCompute::Losses{}};
}

std::vector<CallTime> RunState::calls() const {
  CallTimes all(0);
  all.add(communication.calls().take());
  if (segments != nullptr) segments->add_calls(all);
  return all.take();
}

}  // namespace ringwright
