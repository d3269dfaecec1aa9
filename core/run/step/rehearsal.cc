#include "core/run/step/rehearsal.h"

#include <algorithm>
#include <set>

#include "core/base/check.h"
#include "core/plan/segments.h"
#include "core/run/shortcuts/pass_groups.h"

namespace ringwright {

Rehearsal::Rehearsal(const TaskGraph& graph, const RankClasses& classes) : classes_(classes) {
  std::set<DimensionId> dimensions;
  for (const Program& program : graph.programs) {
    std::set<Part> parts;
    const std::vector<std::uint32_t> calls = count_calls(graph, program);
    for (std::size_t segment = 0; segment < calls.size(); ++segment) {
      if (calls[segment] == 0) continue;
      for (const Task& task : graph.segments[segment].tasks) {
        if (task.kind != TaskKind::kCollective && task.kind != TaskKind::kSend) continue;
        parts.insert({.dimension = task.dimension, .kind = task.kind, .spec = task.detail});
      }
    }
    for (const Part& part : parts) dimensions.insert(part.dimension);
    rounds_ = std::max(rounds_, parts.size());
    parts_.emplace_back(parts.begin(), parts.end());
  }
  graph_.programs.resize(graph.programs.size());
  graph_.program_of = graph.program_of;
  graph_.layouts = graph.layouts.borrowed();
  graph_.collectives = graph.collectives;
  graph_.messages = graph.messages;
  graph_.labels = {"rehearsed"};
  graph_.dimensions.resize(graph.dimensions.size());
  for (const DimensionId dimension : dimensions) {
    graph_.dimensions[dimension.index()] = graph.dimensions[dimension.index()];
  }
  calls_.of_class.resize(classes.count());
}

const TaskGraph& Rehearsal::round(std::size_t number) {
  for (std::size_t p = 0; p < parts_.size(); ++p) {
    std::vector<Task>& tasks = graph_.programs[p].tasks;
    tasks.clear();
    if (number >= parts_[p].size()) continue;
    const Part& part = parts_[p][number];
    tasks.push_back({.kind = part.kind, .dimension = part.dimension, .detail = part.spec});
    if (part.kind == TaskKind::kCollective) continue;
    const MessageSpec& sent = graph_.messages[part.spec];
    const std::size_t members = graph_.dimensions[part.dimension.index()].groups.front().size();
    MessageSpec received = sent;
    received.peer = sent.offset_back(members);
    const auto known = std::ranges::find(graph_.messages, received);
    const auto detail = static_cast<std::uint32_t>(known - graph_.messages.begin());
    if (known == graph_.messages.end()) graph_.messages.push_back(received);
    tasks.push_back(
        {.kind = TaskKind::kReceive, .stream = kNoStream, .dimension = part.dimension, .detail = detail});
  }
  return graph_;
}

ExecutorOptions Rehearsal::options() const {
  ExecutorOptions options;
  for (std::size_t c = 0; c < classes_.count(); ++c) options.recorded.emplace_back(c);
  return options;
}

const Task& Rehearsal::task_of(ClassId c, std::uint32_t task) const {
  return graph_.programs[graph_.program_of[classes_.representative[c.index()].index()].index()].tasks[task];
}

bool Rehearsal::note(const RunResult& run, const std::vector<std::vector<LinkId>>& links_of,
                     std::vector<RehearsedRing> rings) {
  if (run.outcome != RunOutcome::kFinished) return false;
  for (const Span& span : run.record.spans) {
    const std::size_t c = span.rank_class.index();
    const Task& task = task_of(span.rank_class, span.task);
    if (task.kind == TaskKind::kReceive) continue;
    RehearsedCall& call = calls_.of_class[c].emplace_back(RehearsedCall{
        .dimension = task.dimension,
        .kind = task.kind,
        .spec = task.detail,
        .time = span.end - span.start,
        .sent = run.record.sent[c][task.dimension.index()],
        .messages = run.messages[c],
        .links = {},
    });
    for (const LinkId link : links_of[c]) call.links.push_back({.link = link, .usage = run.usage[link.index()]});
  }
  for (RehearsedRing& ring : rings) {
    for (std::uint32_t edge = 0; edge < ring.edges.size(); ++edge) {
      RehearsedCall& call = calls_.of_class[ring.edges[edge].rank_class.index()].back();
      call.ring = static_cast<std::uint32_t>(calls_.rings.size());
      call.edge = edge;
    }
    calls_.rings.push_back(std::move(ring));
  }
  return std::ranges::all_of(run.record.spans, [&](const Span& span) {
    const Task& task = task_of(span.rank_class, span.task);
    if (task.kind == TaskKind::kReceive) {
      return span.end == TimePoint(calls_.of_class[span.rank_class.index()].back().time);
    }
    return is_among_equals(graph_, classes_, span.rank_class, task.dimension) ||
           calls_.of_class[span.rank_class.index()].back().ring != RehearsedCall::kNoRing;
  });
}

}  // namespace ringwright
