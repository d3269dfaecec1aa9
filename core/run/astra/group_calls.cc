#include "core/run/astra/group_calls.h"

#include <algorithm>

#include <fmt/format.h>

#include "core/base/check.h"

namespace ringwright {

GroupCalls::GroupCalls(const Parts& parts)
    : parts_(parts), isolated_(parts.rules.streams, parts.networks), groups_(parts.job.groups.size()) {}

std::uint32_t GroupCalls::execution_of(const Caller& caller, std::uint32_t call, std::uint32_t position) {
  const std::uint32_t group_index = parts_.job.calls[call].group;
  Group& group = groups_[group_index];
  if (group.calls_of.empty()) group.calls_of.resize(size_of(group_index), 0);
  const std::uint32_t ordinal = group.calls_of[position]++;
  const std::uint32_t place = ordinal - group.first_ordinal;
  if (place < group.executions.size()) return group.executions[place];
  std::uint32_t index = static_cast<std::uint32_t>(executions_.size());
  if (free_executions_.empty()) {
    executions_.emplace_back();
  } else {
    index = free_executions_.back();
    free_executions_.pop_back();
  }
  Execution& execution = executions_[index];
  execution.call = call;
  execution.ordinal = ordinal;
  execution.entered = execution.done = 0;
  execution.open = execution.ring = Execution::kNotOpen;
  execution.first = parts_.queue.now();
  execution.callers.assign(size_of(group_index), {.rank = caller.rank, .node = UINT32_MAX});
  execution.times.clear();
  group.executions.push_back(index);
  return index;
}

// Isolated: on a network where messages do not delay each other every collective is alone, and each member needs data
// of all others, so that none is done before the last one has called. Together: all ranks of the job may be about to
// call at one tick, with nobody left to disturb them.
GroupCalls::Simulated GroupCalls::simulated_as(const GraphCall& use) const {
  const ChunkedCollective& plan = parts_.job.plans[use.plan];
  if (plan.phases.empty()) return Simulated::kNothing;
  if (parts_.rules.shortcuts == Shortcuts::kNo || parts_.rules.streams.queues.queues_per_dimension > 1)
    return Simulated::kMessages;
  if (parts_.rules.streams.rendezvous) return Simulated::kMessages;
  std::uint64_t covered = 1;
  std::uint64_t dimensions = 0;
  for (const ChunkPhase& phase : plan.phases) {
    if (phase.shape == PhaseShape::kGraphs) return Simulated::kMessages;
    if ((dimensions >> phase.dimension & 1U) == 0) covered *= phase.nodes;
    dimensions |= std::uint64_t{1} << phase.dimension;
  }
  if (covered != size_of(use.group)) return Simulated::kMessages;
  if (!parts_.networks.shares_links()) return Simulated::kIsolated;
  const bool is_whole = parts_.job.groups[use.group].members.empty();
  return is_whole && parts_.networks.all_equivalent({}, plan) ? Simulated::kTogether : Simulated::kMessages;
}

void GroupCalls::call(const Caller& caller, std::uint32_t call) {
  const GraphCall& use = parts_.job.calls[call];
  const std::uint32_t position = parts_.job.groups[use.group].position_of(caller.rank);
  CHECK(position != kNoPosition, "a rank calls a collective of a group that it is no member of");
  const std::uint32_t index = execution_of(caller, call, position);
  Execution& execution = executions_[index];
  if (parts_.job.calls[execution.call].plan != use.plan &&
      parts_.job.plans[parts_.job.calls[execution.call].plan] != parts_.job.plans[use.plan]) {
    mismatch_ = {.rank = caller.rank,
                 .node = parts_.job.graphs[parts_.job.graph_of[caller.rank]].nodes[caller.node].id,
                 .reason = fmt::format("calls {}, as call {} on group {}, where another rank calls {}", use.name,
                                       execution.ordinal + 1, parts_.job.groups[use.group].name,
                                       parts_.job.calls[execution.call].name)};
    return;
  }
  execution.callers[position] = caller;
  ++execution.entered;
  switch (simulated_as(use)) {
    case Simulated::kNothing:
      parts_.events.after(caller.rank, 0, {.kind = RankEventKind::kNodeDone, .index = caller.node});
      if (execution.entered == size_of(use.group)) close(index);
      break;
    case Simulated::kMessages: enter_messages(index, position); break;
    case Simulated::kIsolated:
      execution.times.resize(execution.callers.size());
      execution.times[position] = parts_.queue.now();
      if (execution.entered == size_of(use.group)) finish_isolated(index);
      break;
    case Simulated::kTogether:
      if (execution.is_started()) {
        enter_messages(index, position);
      } else if (execution.entered == 1) {
        gathering_.push_back(index);
      }
      break;
  }
}

// All ranks that call at one tick have nothing else in flight: a send ends when it arrives.
void GroupCalls::end_of_tick() {
  for (const std::uint32_t index : std::exchange(gathering_, {})) {
    const Execution& execution = executions_[index];
    if (execution.entered == execution.callers.size() && finish_folded(index)) continue;
    for (std::uint32_t position = 0; position < executions_[index].callers.size(); ++position) {
      if (executions_[index].callers[position].node != UINT32_MAX) enter_messages(index, position);
    }
  }
}

void GroupCalls::enter_messages(std::uint32_t index, std::uint32_t position) {
  Execution& execution = executions_[index];
  const GraphCall& use = parts_.job.calls[execution.call];
  if (!execution.is_started()) execution.ring = parts_.rings.open(use, index).value_or(Execution::kNotOpen);
  if (execution.entered == execution.callers.size()) {
    parts_.rings.note_order(use.group, execution.first == parts_.queue.now());
  }
  if (execution.ring == Execution::kNotOpen) {
    enter_streams(index, position);
  } else {
    parts_.rings.enter({.ring = execution.ring, .position = position});
  }
}

void GroupCalls::enter_streams(std::uint32_t index, std::uint32_t position) {
  Execution& execution = executions_[index];
  const GraphCall& use = parts_.job.calls[execution.call];
  if (execution.open == Execution::kNotOpen) {
    execution.open = streams_->open({.plan = &parts_.job.plans[use.plan],
                                     .members = parts_.job.groups[use.group].members,
                                     .size = size_of(use.group)});
    if (execution_of_open_.size() <= execution.open) execution_of_open_.resize(execution.open + 1);
    execution_of_open_[execution.open] = index;
  }
  streams_->enter(execution.open, position, execution.callers[position].priority);
}

void GroupCalls::on_member_done(std::uint32_t collective, std::uint32_t position) {
  finish_member(execution_of_open_[collective], position);
}

void GroupCalls::on_ring_packet(std::uint32_t rank, const RankEvent& packet) {
  if (packet.extra > 0) {
    parts_.events.after(rank, packet.extra, {.kind = RankEventKind::kRingPacket, .index = packet.index});
    return;
  }
  const GraphCall& use = parts_.job.calls[executions_[packet.index].call];
  finish_member(packet.index, parts_.job.groups[use.group].position_of(rank));
}

void GroupCalls::finish_member(std::uint32_t index, std::uint32_t position) {
  Execution& execution = executions_[index];
  const Caller caller = execution.callers[position];
  if (++execution.done == execution.callers.size()) {
    note(execution);
    if (execution.open != Execution::kNotOpen) streams_->close(execution.open);
    close(index);
  }
  parts_.listener.on_call_done(caller.rank, caller.node);
}

void GroupCalls::note(const Execution& execution) {
  CallOutcome& outcome = outcomes_[execution.call];
  outcome.call = execution.call;
  ++outcome.executions;
  const Tick lasted = parts_.queue.now() - execution.first;
  outcome.total = later(outcome.total, lasted);
  outcome.longest = std::max(outcome.longest, lasted);
}

void GroupCalls::close(std::uint32_t index) {
  Group& group = groups_[parts_.job.calls[executions_[index].call].group];
  free_executions_.push_back(index);
  // Executions end in order of their calls.
  CHECK(group.executions.front() == index, "collectives of a group end out of order");
  group.executions.pop_front();
  ++group.first_ordinal;
}

std::optional<Tick> GroupCalls::folded_time(const GraphCall& use) {
  const auto [known, fresh] = folded_.try_emplace({use.plan, use.group});
  if (fresh) {
    known->second =
        isolated_.run_folded(parts_.job.plans[use.plan], parts_.job.groups[use.group].members, size_of(use.group));
  }
  return known->second;
}

void GroupCalls::finish_all_at(std::uint32_t index, Tick after) {
  Execution& execution = executions_[index];
  ++shortcuts_;
  for (const Caller& caller : execution.callers) {
    parts_.events.after(caller.rank, after, {.kind = RankEventKind::kNodeDone, .index = caller.node});
  }
  CallOutcome& outcome = outcomes_[execution.call];
  outcome.call = execution.call;
  ++outcome.executions;
  const Tick lasted = parts_.queue.now() + after - execution.first;
  outcome.total = later(outcome.total, lasted);
  outcome.longest = std::max(outcome.longest, lasted);
  close(index);
}

bool GroupCalls::finish_folded(std::uint32_t index) {
  const std::optional<Tick> time = folded_time(parts_.job.calls[executions_[index].call]);
  if (!time) return false;
  finish_all_at(index, *time);
  return true;
}

void GroupCalls::finish_isolated(std::uint32_t index) {
  Execution& execution = executions_[index];
  const GraphCall& use = parts_.job.calls[execution.call];
  const ChunkedCollective& plan = parts_.job.plans[use.plan];
  const std::span<const std::uint32_t> members = parts_.job.groups[use.group].members;
  const Tick first = execution.first;
  const bool at_once =
      execution.times.back() == first &&
      std::ranges::adjacent_find(execution.times, std::ranges::not_equal_to()) == execution.times.end();
  if (at_once && parts_.networks.all_equivalent(members, plan) && finish_folded(index)) return;
  for (Tick& time : execution.times) time -= first;
  const auto done = isolated_.run(plan, members, execution.times);
  CHECK(done.has_value(), "a collective on a network without shared links does not end");
  Tick last = 0;
  for (std::size_t position = 0; position < done->size(); ++position) {
    const Caller& caller = execution.callers[position];
    const Tick when = first + (*done)[position];
    last = std::max(last, when);
    CHECK(when >= parts_.queue.now(), "a member of a collective is done before the last one has called");
    parts_.events.after(caller.rank, when - parts_.queue.now(),
                        {.kind = RankEventKind::kNodeDone, .index = caller.node});
  }
  CallOutcome& outcome = outcomes_[execution.call];
  outcome.call = execution.call;
  ++outcome.executions;
  outcome.total = later(outcome.total, last - first);
  outcome.longest = std::max(outcome.longest, last - first);
  close(index);
}

std::vector<CallOutcome> GroupCalls::outcomes() const {
  std::vector<CallOutcome> all;
  for (const auto& [call, outcome] : outcomes_) all.push_back(outcome);
  return all;
}

std::string GroupCalls::reason(std::uint32_t /*rank*/, std::uint32_t call) const {
  const GraphCall& use = parts_.job.calls[call];
  const Group& group = groups_[use.group];
  const RankGroup& members = parts_.job.groups[use.group];
  for (const std::uint32_t index : group.executions) {
    const Execution& execution = executions_[index];
    if (execution.entered == execution.callers.size()) continue;
    for (std::uint32_t position = 0; position < execution.callers.size(); ++position) {
      if (execution.callers[position].node != UINT32_MAX) continue;
      const std::uint32_t missing = members.members.empty() ? position : members.members[position];
      return fmt::format("{} on group {} waits for rank {}{}, which does not call it", use.name, members.name, missing,
                         execution.callers.size() - execution.entered > 1
                             ? fmt::format(" and {} more", execution.callers.size() - execution.entered - 1)
                             : "");
    }
  }
  return fmt::format("{} on group {}: its chunks wait for each other in the queues of its members", use.name,
                     members.name);
}

}  // namespace ringwright
