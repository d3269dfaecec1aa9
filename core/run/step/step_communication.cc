#include "core/run/step/step_communication.h"

#include "core/run/step/collective_rung.h"

namespace ringwright {

StepCommunication::StepCommunication(const Parts& parts)
    : streams_(parts.streams),
      contention_(parts.contention),
      job_{.engine = parts.inputs.engine,
           .graph = parts.inputs.graph,
           .classes = parts.inputs.classes,
           .network = parts.inputs.network,
           .paced = contention_ != nullptr ? contention_->network() : parts.inputs.network,
           .clocks = contention_ != nullptr ? &contention_->clocks() : nullptr,
           .ledger = parts.ledger,
           .listener = parts.listener,
           .sent = std::vector<std::vector<Bytes>>(parts.inputs.classes.count(),
                                                   std::vector<Bytes>(parts.inputs.graph.dimensions.size())),
           .messages = std::vector<std::uint64_t>(parts.inputs.classes.count())},
      collectives_(make_collective_runner(job_, parts.inputs)),
      messages_(job_, collectives_->carrier(), parts.inputs.call_overhead),
      calls_(parts.inputs.classes.count()) {}

std::uint64_t StepCommunication::number_of(ClassId c, std::uint32_t task) const {
  const ProgramIndex& index = streams_.index_of(c);
  const auto iteration = static_cast<std::uint64_t>(streams_.of(c).iteration);
  return iteration * index.period[task] + index.occurrence[task];
}

bool StepCommunication::start(ClassId c, std::uint32_t task, Duration late) {
  const Task& entry = streams_.task(c, task);
  if (contention_ != nullptr) contention_->hold(job_, c, task, entry);
  const int iteration = streams_.of(c).iteration;
  const std::uint64_t sequence = number_of(c, task);
  const TimePoint now = job_.engine.now();
  switch (entry.kind) {
    case TaskKind::kCompute:
    case TaskKind::kSegment: return false;
    case TaskKind::kCollective:
      calls_.begin(c, task, {.dimension = entry.dimension, .spec = entry.detail}, now);
      collectives_->start({.rank_class = c,
                           .dimension = entry.dimension,
                           .spec = entry.detail,
                           .sequence = sequence,
                           .iteration = iteration,
                           .task = task});
      return false;
    case TaskKind::kSend:
      messages_.send({.rank_class = c,
                      .dimension = entry.dimension,
                      .spec = entry.detail,
                      .sequence = sequence,
                      .iteration = iteration,
                      .task = task});
      return false;
    case TaskKind::kReceive:
      return messages_.receive({.rank_class = c,
                                .dimension = entry.dimension,
                                .spec = entry.detail,
                                .sequence = sequence,
                                .iteration = iteration,
                                .task = task,
                                .not_before = now + late});
  }
  return false;
}

}  // namespace ringwright
