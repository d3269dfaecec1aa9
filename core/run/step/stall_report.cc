#include "core/run/step/stall_report.h"

#include <algorithm>

#include <fmt/format.h>

namespace ringwright {
namespace {

constexpr std::size_t kBlockedShown = 24;

const Program& program_of(const StallSources& sources, ClassId c) {
  return sources.programs[sources.job.graph.program_of[sources.job.rank_of(c).index()].index()];
}

std::string why_blocked(const StallSources& sources, ClassId c, std::uint32_t task) {
  const Program& program = program_of(sources, c);
  const Task& entry = program.tasks[task];
  const Progress& progress = sources.progress[c.index()];
  if (progress.tasks[task].state == TaskState::kRunning) {
    return entry.kind == TaskKind::kCollective ? sources.collectives.waits_for(c, task)
                                               : sources.messages.waits_for(c, task);
  }
  for (std::uint32_t d = 0; d < entry.dependency_count; ++d) {
    const std::uint32_t before = program.dependencies[entry.first_dependency + d];
    if (progress.tasks[before].state == TaskState::kDone) continue;
    return fmt::format("its own task '{}'", sources.job.graph.labels[program.tasks[before].label]);
  }
  return "the task before it on its stream";
}

bool communicates(TaskKind kind) {
  return kind == TaskKind::kCollective || kind == TaskKind::kSend || kind == TaskKind::kReceive;
}

// The sender's first running task in a group that holds both ends.
Broken describe(const StallSources& sources, const GivenUp& transfer) {
  Broken broken{.transfer = transfer, .task = {}, .call = {}};
  const ClassId c = sources.job.classes.class_of[transfer.from.index()];
  const Program& program = program_of(sources, c);
  const Progress& progress = sources.progress[c.index()];
  for (std::uint32_t task = 0; task < progress.tasks.size(); ++task) {
    const Task& entry = program.tasks[task];
    if (progress.tasks[task].state != TaskState::kRunning || !communicates(entry.kind)) continue;
    if (entry.kind == TaskKind::kReceive) continue;  // its sender is another rank
    if (std::ranges::count(sources.job.group_of(c, entry.dimension), transfer.to) == 0) continue;
    broken.task = sources.job.graph.labels[entry.label];
    broken.call = why_blocked(sources, c, task);
    break;
  }
  return broken;
}

}  // namespace

StallReport report_stall(const StallSources& sources) {
  StallReport report;
  report.at = sources.job.engine.now();
  if (const auto given_up = sources.job.network.given_up()) report.broken = describe(sources, *given_up);
  for (std::size_t c = 0; c < sources.progress.size(); ++c) {
    const Progress& progress = sources.progress[c];
    if (progress.iteration >= sources.iterations) continue;
    report.unfinished_ranks += sources.job.classes.size[c];
    const Program& program = program_of(sources, ClassId(c));
    const bool any_running = std::ranges::count(progress.tasks, TaskState::kRunning, &TaskProgress::state) > 0;
    for (std::uint32_t task = 0; task < program.tasks.size(); ++task) {
      if (report.blocked.size() >= kBlockedShown) break;
      const TaskState state = progress.tasks[task].state;
      const bool head = state == TaskState::kRunning || (!any_running && state == TaskState::kWaiting);
      const bool works = state == TaskState::kRunning && !communicates(program.tasks[task].kind);
      if (!head || works) continue;
      report.blocked.push_back({.rank = sources.job.rank_of(ClassId(c)),
                                .program = program.name,
                                .task = sources.job.graph.labels[program.tasks[task].label],
                                .waits_for = why_blocked(sources, ClassId(c), task)});
      if (!any_running) break;  // the rest waits behind it
    }
  }
  return report;
}

std::string render(const StallReport& stall) {
  std::string text =
      fmt::format("the run cannot continue at {}: {} rank{} unfinished\n", to_string(stall.at.since_start()),
                  stall.unfinished_ranks, stall.unfinished_ranks == 1 ? "" : "s");
  const std::vector<Blocked> none;  // where one transfer blocks all others, they add nothing
  for (const Blocked& blocked : stall.broken ? none : stall.blocked) {
    text += fmt::format("  rank {} ({}) in '{}' waits for {}\n", blocked.rank.value, blocked.program, blocked.task,
                        blocked.waits_for);
  }
  for (const std::string& note : stall.notes) text += fmt::format("  {}\n", note);
  return text;
}

}  // namespace ringwright
