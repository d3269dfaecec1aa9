#include "traces/timeline/critical_path.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "traces/timeline/role_waits.h"

namespace ringwright::traces {
namespace {

PathKind kind_of(const Task& task) {
  switch (task.kind) {
    case TaskKind::kCompute:
    case TaskKind::kSegment: return PathKind::kCompute;
    case TaskKind::kCollective: return PathKind::kCollective;
    case TaskKind::kSend:
    case TaskKind::kReceive: return PathKind::kMessage;
  }
  return PathKind::kOther;
}

// Follows the path backwards, part by part.
class PathWalk {
 public:
  explicit PathWalk(const StepDependencies& step) : step_(step), now_(step.end()) {
    for (std::size_t c = 0; c < step.classes(); ++c) tasks_ += step.waits_of(ClassId(c)).size();
  }

  std::vector<PathPart> parts() {
    std::optional<ClassTask> at = last_of_all();
    if (!at) return {};
    fill_up_to(*at, step_.wait(*at).end, PathKind::kOther);
    // Causes come before their effects, so that no task is visited twice.
    for (std::size_t visits = 0; at && now_ > step_.start() && visits <= tasks_; ++visits) {
      at = begin_of(*at);
      if (at) at = before(*at);
    }
    if (now_ > step_.start()) add({.rank_class = here_, .from = here_, .start = step_.start()});
    std::ranges::reverse(parts_);
    return std::move(parts_);
  }

 private:
  [[nodiscard]] std::optional<ClassTask> last_of_all() const {
    std::optional<ClassTask> last;
    for (std::size_t i = 0; i < step_.classes(); ++i) {
      const ClassId c(i);
      for (std::uint32_t task = 0; task < step_.waits_of(c).size(); ++task) {
        const ClassTask at{.rank_class = c, .task = task};
        if (!last || step_.wait(at).end > step_.wait(*last).end) last = at;
      }
    }
    return last;
  }

  // The task itself, up to now, when it ends; returns the one whose start bounded it.
  std::optional<ClassTask> begin_of(const ClassTask& at) {
    const TaskWait& wait = step_.wait(at);
    const bool own = wait.origin == at.rank_class && wait.origin_task == at.task;
    add({.rank_class = at.rank_class,
         .from = wait.origin,
         .kind = kind_of(step_.task(at)),
         .task = at.task,
         .start = own ? wait.start : wait.origin_start});
    here_ = wait.origin;
    if (wait.origin_task == kNoTask) return std::nullopt;
    return ClassTask{.rank_class = wait.origin, .task = wait.origin_task};
  }

  // What ended before the task could begin now.
  std::optional<ClassTask> before(const ClassTask& at) {
    const TaskWait& wait = step_.wait(at);
    const PathKind meanwhile = wait.by == ReleasedBy::kHost ? PathKind::kHost : PathKind::kOther;
    if (wait.after == kNoTask) {
      fill_up_to(at, step_.start(), meanwhile);
      return std::nullopt;
    }
    const ClassTask earlier{.rank_class = at.rank_class, .task = wait.after};
    fill_up_to(at, step_.wait(earlier).end, meanwhile);
    return earlier;
  }

  void fill_up_to(const ClassTask& at, TimePoint time, PathKind kind) {
    add({.rank_class = at.rank_class, .from = at.rank_class, .kind = kind, .start = time});
  }

  // Up to now; what began before the step counts from its start.
  void add(PathPart part) {
    part.start = std::max(part.start, step_.start());
    here_ = part.rank_class;
    if (part.start >= now_) return;
    part.end = now_;
    now_ = part.start;
    parts_.push_back(part);
  }

  const StepDependencies& step_;
  TimePoint now_;
  ClassId here_;
  std::size_t tasks_ = 0;
  std::vector<PathPart> parts_;
};

std::string kind_text(const std::string& name, PathKind kind) {
  switch (kind) {
    case PathKind::kCompute: return "computing";
    case PathKind::kCollective:
    case PathKind::kMessage: return communication_kind(name);
    case PathKind::kHost: return "host";
    case PathKind::kOther: break;
  }
  return "other";
}

std::string pass_word(const std::string& name) {
  return pass_of(name) ? name.substr(0, name.find(' ')) : name;
}

// Collects the parts in the order of time.
class PathText {
 public:
  PathText(const StepDependencies& step, CriticalPath& path) : step_(step), path_(path) {}

  void add(const PathPart& part) {
    const std::string name =
        part.task == kNoTask ? "" : step_.name({.rank_class = part.rank_class, .task = part.task});
    const bool crosses = part.from != part.rank_class;
    const Duration time = part.end - part.start;
    add_to_kind(kind_text(name, part.kind), time);
    if (path_.tasks > 0 && part.rank_class != last_) ++path_.changes;
    if (path_.legs.empty() || crosses || crossed_ || part.rank_class != last_) start_leg(part, name, crosses);
    crossed_ = crosses;
    last_ = part.rank_class;
    ++path_.tasks;
    CriticalPath::Leg& leg = path_.legs.back();
    leg.end = part.end - step_.start();
    ++leg.tasks;
    if (part.kind == PathKind::kCompute) leg.computing += time;
    if (part.kind == PathKind::kCollective || part.kind == PathKind::kMessage) leg.communication += time;
    if (!crosses && !name.empty()) note(pass_word(name));
  }
  void end() { std::ranges::stable_sort(path_.kinds, std::ranges::greater(), &CriticalPath::Kind::time); }

 private:
  void add_to_kind(const std::string& name, Duration time) {
    auto kind = std::ranges::find(path_.kinds, name, &CriticalPath::Kind::name);
    if (kind == path_.kinds.end()) kind = path_.kinds.insert(kind, {.name = name});
    kind->time += time;
    ++kind->tasks;
  }
  void start_leg(const PathPart& part, const std::string& name, bool crosses) {
    path_.legs.push_back({.rank = step_.rank_of(part.rank_class),
                          .role = step_.role(part.rank_class),
                          .what = {},
                          .start = part.start - step_.start(),
                          .end = part.end - step_.start()});
    if (crosses) {
      path_.legs.back().what = communication_kind(name) + " with " + step_.other(part.from, part.rank_class);
    }
    first_.clear();
  }
  void note(const std::string& word) {
    if (first_.empty()) first_ = word;
    path_.legs.back().what = word == first_ ? word : first_ + " to " + word;
  }

  const StepDependencies& step_;
  CriticalPath& path_;
  std::string first_;
  ClassId last_;
  bool crossed_ = false;
};

}  // namespace

std::vector<PathPart> path_parts(const StepDependencies& step) {
  return PathWalk(step).parts();
}

std::uint64_t count_path_tasks(const TaskGraph& graph, const RankClasses& classes) {
  std::map<ProgramId, std::uint64_t> known;
  std::uint64_t tasks = 0;
  for (const RankId rank : classes.representative) {
    const ProgramId program = graph.program_of[rank.index()];
    const auto [of_program, is_new] = known.try_emplace(program, 0);
    if (is_new) of_program->second = count_tasks(graph, graph.programs[program.index()]);
    tasks += of_program->second;
  }
  return tasks;
}

CriticalPath critical_path(const StepDependencies& step) {
  CriticalPath path{.time = step.end() - step.start()};
  PathText text(step, path);
  for (const PathPart& part : path_parts(step)) text.add(part);
  text.end();
  path.waits = waits_of_roles(step);
  return path;
}

}  // namespace ringwright::traces
