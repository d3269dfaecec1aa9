#include "core/run/astra/group_calls.h"

#include <algorithm>

#include <fmt/format.h>

#include "core/base/check.h"

namespace ringwright {

GroupCalls::GroupCalls(const NodeJob& job, const JobRules& rules, const MessageNetworks& networks, TickQueue& queue,
                       RankEvents& events, CallListener& listener)
    : job_(job),
      rules_(rules),
      networks_(networks),
      queue_(queue),
      events_(events),
      listener_(listener),
      isolated_(rules.streams, networks),
      groups_(job.groups.size()) {}

std::uint32_t GroupCalls::execution_of(const Caller& caller, std::uint32_t call, std::uint32_t position) {
  const std::uint32_t group_index = job_.calls[call].group;
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
  execution.open = Execution::kNotOpen;
  execution.first = queue_.now();
  execution.callers.assign(size_of(group_index), {.rank = caller.rank, .node = UINT32_MAX});
  execution.times.clear();
  group.executions.push_back(index);
  return index;
}

// Isolated: on a network where messages do not delay each other every collective is alone, and each member needs data
// of all others, so that none is done before the last one has called. Together: all ranks of the job may be about to
// call at one tick, with nobody left to disturb them.
GroupCalls::Way GroupCalls::way_of(const GraphCall& use) const {
  const ChunkedCollective& plan = job_.plans[use.plan];
  if (plan.phases.empty()) return Way::kNothing;
  if (rules_.shortcuts == Shortcuts::kNo || rules_.streams.queues.queues_per_dimension > 1) return Way::kMessages;
  if (rules_.streams.rendezvous) return Way::kMessages;
  std::uint64_t covered = 1;
  std::uint64_t dimensions = 0;
  for (const ChunkPhase& phase : plan.phases) {
    if (phase.shape == PhaseShape::kGraphs) return Way::kMessages;
    if ((dimensions >> phase.dimension & 1U) == 0) covered *= phase.nodes;
    dimensions |= std::uint64_t{1} << phase.dimension;
  }
  if (covered != size_of(use.group)) return Way::kMessages;
  if (!networks_.shares_links()) return Way::kIsolated;
  const bool is_whole = job_.groups[use.group].members.empty();
  return is_whole && networks_.all_look_alike({}, plan) ? Way::kTogether : Way::kMessages;
}

bool GroupCalls::call(const Caller& caller, std::uint32_t call) {
  const GraphCall& use = job_.calls[call];
  const std::uint32_t position = job_.groups[use.group].position_of(caller.rank);
  CHECK(position != kNoPosition, "a rank calls a collective of a group that it is no member of");
  const std::uint32_t index = execution_of(caller, call, position);
  Execution& execution = executions_[index];
  if (job_.calls[execution.call].plan != use.plan &&
      job_.plans[job_.calls[execution.call].plan] != job_.plans[use.plan]) {
    mismatch_ = {
        .rank = caller.rank,
        .node = job_.graphs[job_.graph_of[caller.rank]].nodes[caller.node].id,
        .reason = fmt::format("calls {}, as call {} on group {}, where another rank calls {}", use.name,
                              execution.ordinal + 1, job_.groups[use.group].name, job_.calls[execution.call].name)};
    return false;
  }
  execution.callers[position] = caller;
  ++execution.entered;
  switch (way_of(use)) {
    case Way::kNothing:
      events_.after(caller.rank, 0, {.kind = RankEventKind::kNodeDone, .index = caller.node});
      if (execution.entered == size_of(use.group)) close(index);
      break;
    case Way::kMessages: enter_streams(index, position); break;
    case Way::kIsolated:
      execution.times.resize(execution.callers.size());
      execution.times[position] = queue_.now();
      if (execution.entered == size_of(use.group)) finish_isolated(index);
      break;
    case Way::kTogether:
      if (execution.open != Execution::kNotOpen) {
        enter_streams(index, position);
      } else if (execution.entered == 1) {
        gathering_.push_back(index);
      }
      break;
  }
  return true;
}

// All ranks that call at one tick have nothing else on its way: a send ends when it arrives.
void GroupCalls::end_of_tick() {
  for (const std::uint32_t index : std::exchange(gathering_, {})) {
    const Execution& execution = executions_[index];
    if (execution.entered == execution.callers.size() && finish_folded(index)) continue;
    for (std::uint32_t position = 0; position < executions_[index].callers.size(); ++position) {
      if (executions_[index].callers[position].node != UINT32_MAX) enter_streams(index, position);
    }
  }
}

void GroupCalls::enter_streams(std::uint32_t index, std::uint32_t position) {
  Execution& execution = executions_[index];
  const GraphCall& use = job_.calls[execution.call];
  if (execution.open == Execution::kNotOpen) {
    execution.open = streams_->open(
        {.plan = &job_.plans[use.plan], .members = job_.groups[use.group].members, .size = size_of(use.group)});
    if (execution_of_open_.size() <= execution.open) execution_of_open_.resize(execution.open + 1);
    execution_of_open_[execution.open] = index;
  }
  streams_->enter(execution.open, position, execution.callers[position].priority);
}

void GroupCalls::on_member_done(std::uint32_t collective, std::uint32_t position) {
  const std::uint32_t index = execution_of_open_[collective];
  Execution& execution = executions_[index];
  const Caller caller = execution.callers[position];
  if (++execution.done == execution.callers.size()) {
    note(execution);
    streams_->close(collective);
    close(index);
  }
  listener_.on_call_done(caller.rank, caller.node);
}

void GroupCalls::note(const Execution& execution) {
  CallOutcome& outcome = outcomes_[execution.call];
  outcome.call = execution.call;
  ++outcome.executions;
  const Tick lasted = queue_.now() - execution.first;
  outcome.total = later(outcome.total, lasted);
  outcome.longest = std::max(outcome.longest, lasted);
}

void GroupCalls::close(std::uint32_t index) {
  Group& group = groups_[job_.calls[executions_[index].call].group];
  free_executions_.push_back(index);
  // Executions end in order of their calls.
  CHECK(group.executions.front() == index, "collectives of a group end out of order");
  group.executions.pop_front();
  ++group.first_ordinal;
}

std::optional<Tick> GroupCalls::folded_time(const GraphCall& use) {
  const auto [known, fresh] = folded_.try_emplace({use.plan, use.group});
  if (fresh) {
    known->second = isolated_.run_folded(job_.plans[use.plan], job_.groups[use.group].members, size_of(use.group));
  }
  return known->second;
}

void GroupCalls::finish_all_at(std::uint32_t index, Tick after) {
  Execution& execution = executions_[index];
  ++shortcuts_;
  for (const Caller& caller : execution.callers) {
    events_.after(caller.rank, after, {.kind = RankEventKind::kNodeDone, .index = caller.node});
  }
  CallOutcome& outcome = outcomes_[execution.call];
  outcome.call = execution.call;
  ++outcome.executions;
  const Tick lasted = queue_.now() + after - execution.first;
  outcome.total = later(outcome.total, lasted);
  outcome.longest = std::max(outcome.longest, lasted);
  close(index);
}

bool GroupCalls::finish_folded(std::uint32_t index) {
  const std::optional<Tick> time = folded_time(job_.calls[executions_[index].call]);
  if (!time) return false;
  finish_all_at(index, *time);
  return true;
}

void GroupCalls::finish_isolated(std::uint32_t index) {
  Execution& execution = executions_[index];
  const GraphCall& use = job_.calls[execution.call];
  const ChunkedCollective& plan = job_.plans[use.plan];
  const std::span<const std::uint32_t> members = job_.groups[use.group].members;
  const Tick first = execution.first;
  const bool at_once =
      execution.times.back() == first &&
      std::ranges::adjacent_find(execution.times, std::ranges::not_equal_to()) == execution.times.end();
  if (at_once && networks_.all_look_alike(members, plan) && finish_folded(index)) return;
  for (Tick& time : execution.times) time -= first;
  const auto done = isolated_.run(plan, members, execution.times);
  CHECK(done.has_value(), "a collective on a network without shared links does not end");
  Tick last = 0;
  for (std::size_t position = 0; position < done->size(); ++position) {
    const Caller& caller = execution.callers[position];
    const Tick when = first + (*done)[position];
    last = std::max(last, when);
    CHECK(when >= queue_.now(), "a member of a collective is done before the last one has called");
    events_.after(caller.rank, when - queue_.now(), {.kind = RankEventKind::kNodeDone, .index = caller.node});
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
  const GraphCall& use = job_.calls[call];
  const Group& group = groups_[use.group];
  const RankGroup& members = job_.groups[use.group];
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
