#include "traces/timeline/role_waits.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

namespace ringwright::traces {
namespace {

// Time in which a class does not compute.
struct Gap {
  ClassId rank_class;
  std::uint32_t next = kNoTask;  // the kernel that follows; kNoTask: the step ends
  TimePoint start;
  TimePoint end;
};

struct Kernel {
  TimePoint start;
  TimePoint end;
  std::uint32_t task = kNoTask;
};

std::vector<Gap> gaps_of(const StepDependencies& step, ClassId c) {
  std::vector<Kernel> kernels;
  const std::vector<TaskWait>& waits = step.waits_of(c);
  for (std::uint32_t task = 0; task < waits.size(); ++task) {
    const Task& entry = step.task({.rank_class = c, .task = task});
    if (entry.kind != TaskKind::kCompute || entry.stream == kNoStream || waits[task].end <= step.start()) continue;
    kernels.push_back({.start = std::max(waits[task].start, step.start()), .end = waits[task].end, .task = task});
  }
  std::ranges::sort(kernels, {}, [](const Kernel& kernel) { return std::pair(kernel.start, kernel.end); });
  kernels.push_back({.start = step.end(), .end = step.end()});
  std::vector<Gap> gaps;
  TimePoint computed = step.start();
  for (const Kernel& kernel : kernels) {
    if (kernel.start > computed) {
      gaps.push_back({.rank_class = c, .next = kernel.task, .start = computed, .end = kernel.start});
    }
    computed = std::max(computed, kernel.end);
  }
  return gaps;
}

// The last task of the class, where the step ends with it.
std::uint32_t last_of(const StepDependencies& step, ClassId c) {
  const std::vector<TaskWait>& waits = step.waits_of(c);
  for (std::uint32_t task = static_cast<std::uint32_t>(waits.size()); task-- > 0;) {
    const Task& entry = step.task({.rank_class = c, .task = task});
    if (waits[task].end == step.end() && entry.kind != TaskKind::kCompute) return task;
  }
  return kNoTask;
}

// Of the communication between the gap's ends, one released by another, what takes most of it.
std::optional<ClassTask> cause_of(const StepDependencies& step, const Gap& gap) {
  std::optional<ClassTask> cause;
  Duration most;
  std::uint32_t at = gap.next == kNoTask ? last_of(step, gap.rank_class)
                                         : step.waits_of(gap.rank_class)[gap.next].after;
  while (at != kNoTask) {
    const ClassTask task{.rank_class = gap.rank_class, .task = at};
    const TaskWait& wait = step.wait(task);
    const TimePoint from = std::max(wait.start, gap.start), to = std::min(wait.end, gap.end);
    if (step.task(task).kind == TaskKind::kCompute || to <= gap.start) break;
    if (to - from > most) {
      most = to - from;
      cause = task;
    }
    at = wait.after;
  }
  return cause;
}

// "the activations of stage 2, microbatch 5": what is sent is named by the pass that follows.
std::string message_text(const StepDependencies& step, const Gap& gap, const ClassTask& message) {
  const TaskWait& wait = step.wait(message);
  const bool is_other = wait.origin != gap.rank_class;
  const std::string name = step.name(message);
  const auto pass =
      gap.next == kNoTask ? std::nullopt : pass_of(step.name({.rank_class = gap.rank_class, .task = gap.next}));
  if (step.task(message).kind == TaskKind::kSend || (!is_other && !pass)) return "'" + call_label(name) + "'";
  if (!pass) return "a message of " + step.other(wait.origin, gap.rank_class);
  std::string text = pass->direction == 'F' ? "the activations" : "the gradients";
  if (is_other) text += " of " + step.other(wait.origin, gap.rank_class);
  text += ", microbatch " + pass->microbatch;
  if (!pass->chunk.empty() && pass->chunk != "0") text += ", model chunk " + pass->chunk;
  return text;
}

// "stage 0, the last to join 'mp gradient norm'"
std::string cause_text(const StepDependencies& step, const Gap& gap) {
  const std::optional<ClassTask> cause = cause_of(step, gap);
  if (!cause) return gap.next == kNoTask ? "the end of the step on other ranks" : "its host";
  if (step.task(*cause).kind != TaskKind::kCollective) return message_text(step, gap, *cause);
  const TaskWait& wait = step.wait(*cause);
  const std::string call = "'" + call_label(step.name(*cause)) + "'";
  return wait.origin == gap.rank_class ? call : step.other(wait.origin, gap.rank_class) + ", the last to join " + call;
}

// Those of the first rank of each program, in the order of these ranks.
std::vector<ClassId> first_classes(const StepDependencies& step) {
  std::map<ProgramId, ClassId> first;
  for (std::size_t i = 0; i < step.classes(); ++i) {
    const ClassId c(i);
    const auto [at, is_new] = first.try_emplace(step.program_of(c), c);
    if (step.rank_of(c) < step.rank_of(at->second)) at->second = c;
  }
  std::vector<ClassId> classes;
  for (const auto& [program, c] : first) classes.push_back(c);
  std::ranges::sort(classes, {}, [&](ClassId c) { return step.rank_of(c); });
  return classes;
}

}  // namespace

std::vector<CriticalPath::Wait> waits_of_roles(const StepDependencies& step) {
  std::map<std::pair<ClassId, std::string>, std::size_t> known;
  std::vector<CriticalPath::Wait> sums;
  for (const ClassId c : first_classes(step)) {
    for (const Gap& gap : gaps_of(step, c)) {
      std::string cause = cause_text(step, gap);
      const auto [at, is_new] = known.try_emplace({c, cause}, sums.size());
      const Duration first = gap.start - step.start();
      if (is_new) sums.push_back({.role = step.role(c), .cause = std::move(cause), .first = first});
      CriticalPath::Wait& sum = sums[at->second];
      sum.total += gap.end - gap.start;
      sum.longest = std::max(sum.longest, gap.end - gap.start);
      sum.first = std::min(sum.first, first);
      ++sum.count;
    }
  }
  std::ranges::stable_sort(sums, std::ranges::greater(), &CriticalPath::Wait::longest);
  return sums;
}

}  // namespace ringwright::traces
