// The chain of tasks that bounds the step, and what each stage waits for.
#include <algorithm>

#include "planning/report/builtin_panels.h"
#include "planning/report/scales.h"
#include "traces/timeline/critical_path.h"
#include "traces/timeline/slice_names.h"

namespace ringwright::planning {
namespace {

using traces::PathKind;
using traces::PathPart;
using traces::Timeline;

constexpr std::size_t kMostLegs = 20'000;
constexpr std::size_t kMostWaits = 100;

// Parts of the path that follow each other on one rank, up to the next message from another one.
struct PathLeg {
  std::string stage;
  std::string what;  // "F3.0 to B0.0", "PP communication with stage 2"
  TimePoint start;
  TimePoint end;
  Duration computing;
  Duration communication;
  std::size_t tasks = 0;
};

std::string pass_word(const std::string& name) {
  return traces::pass_of(name) ? name.substr(0, name.find(' ')) : name;
}

class LegBuilder {
 public:
  explicit LegBuilder(const Timeline& timeline) : timeline_(timeline) {}

  void add(const PathPart& part) {
    const bool crosses = part.from != part.rank;
    if (legs_.empty() || crosses || crossed_ || part.rank != rank_) start(part, crosses);
    crossed_ = crosses;
    rank_ = part.rank;
    PathLeg& leg = legs_.back();
    leg.end = part.end;
    ++leg.tasks;
    const Duration time = part.end - part.start;
    if (part.kind == PathKind::kCompute) leg.computing += time;
    if (part.kind == PathKind::kCollective || part.kind == PathKind::kMessage) leg.communication += time;
    if (!crosses && part.name != traces::kNoName) note(pass_word(timeline_.names[part.name]));
  }
  [[nodiscard]] const std::vector<PathLeg>& legs() const { return legs_; }

 private:
  void start(const PathPart& part, bool crosses) {
    legs_.push_back({.stage = timeline_.ranks[part.rank].role, .what = {}, .start = part.start, .end = part.end});
    if (crosses) {
      legs_.back().what =
          traces::communication_kind(timeline_.names[part.name]) + " with " + timeline_.ranks[part.from].role;
    }
    first_.clear();
  }
  void note(const std::string& word) {
    if (first_.empty()) first_ = word;
    legs_.back().what = word == first_ ? word : first_ + " to " + word;
  }

  const Timeline& timeline_;
  std::vector<PathLeg> legs_;
  std::string first_;
  std::uint32_t rank_ = 0;
  bool crossed_ = false;
};

struct KindTime {
  std::string kind;
  Duration time;
  double tasks = 0.0;
};

// The longest first.
std::vector<KindTime> kinds_of(const Timeline& timeline, const std::vector<PathPart>& path) {
  std::vector<KindTime> kinds;
  for (const PathPart& part : path) {
    const std::string kind = traces::path_kind_text(timeline, part);
    auto known = std::ranges::find(kinds, kind, &KindTime::kind);
    if (known == kinds.end()) known = kinds.insert(known, {.kind = kind});
    known->time += part.end - part.start;
    known->tasks += 1.0;
  }
  std::ranges::stable_sort(kinds, std::ranges::greater(), &KindTime::time);
  return kinds;
}

Panel path_by_kind(const Timeline& timeline, const std::vector<PathPart>& path) {
  const double step = to_seconds(timeline.step_end - timeline.step_start);
  const UnitScale scale = time_scale(step);
  const std::vector<KindTime> kinds = kinds_of(timeline, path);
  PanelColumn name = text_column("part"), time = number_column("time", std::string(scale.unit)),
              share = number_column("share of the step", "%"), count = number_column("tasks", "");
  for (const KindTime& kind : kinds) {
    texts(name).push_back(kind.kind);
    numbers(time).push_back(to_seconds(kind.time) * scale.factor);
    numbers(share).push_back(100.0 * to_seconds(kind.time) / step);
    numbers(count).push_back(kind.tasks);
  }
  return {
      .id = "critical-path",
      .title = "Critical path of the step",
      .sentence =
          "The chain of tasks in which each one waited for the one before, over all stages shown. Only what "
          "is on it shortens the step; its parts add up to the step time.",
      .chart = Chart::kWaterfall,
      .columns = {name, time, share, count},
      .note = std::ranges::find(kinds, "other", &KindTime::kind) == kinds.end()
                  ? ""
                  : "Other: nothing among the ranks shown explains the time, as the issue of a kernel by its host."};
}

Panel path_legs(const Timeline& timeline, const std::vector<PathPart>& path) {
  LegBuilder builder(timeline);
  for (const PathPart& part : path) builder.add(part);
  const UnitScale scale = time_scale(to_seconds(timeline.step_end - timeline.step_start));
  const std::string unit(scale.unit);
  PanelColumn stage = text_column("stage"), what = text_column("tasks"), from = number_column("start", unit),
              to = number_column("end", unit), takes = number_column("takes", unit),
              computing = number_column("computing", unit), communication = number_column("communication", unit),
              count = number_column("number of tasks", "");
  const std::vector<PathLeg>& legs = builder.legs();
  for (std::size_t i = 0; i < std::min(legs.size(), kMostLegs); ++i) {
    const PathLeg& leg = legs[i];
    texts(stage).push_back(leg.stage);
    texts(what).push_back(leg.what);
    numbers(from).push_back(to_seconds(leg.start - timeline.step_start) * scale.factor);
    numbers(to).push_back(to_seconds(leg.end - timeline.step_start) * scale.factor);
    numbers(takes).push_back(to_seconds(leg.end - leg.start) * scale.factor);
    numbers(computing).push_back(to_seconds(leg.computing) * scale.factor);
    numbers(communication).push_back(to_seconds(leg.communication) * scale.factor);
    numbers(count).push_back(static_cast<double>(leg.tasks));
  }
  return {.id = "critical-path-tasks",
          .title = "Critical path, stage by stage",
          .sentence =
              "In the order of time: what runs on one stage until the path goes to another. F3.0 is the "
              "forward pass of microbatch 3 through model chunk 0, B its backward pass.",
          .columns = {stage, what, from, to, takes, computing, communication, count},
          .wide = true,
          .note = legs.size() > kMostLegs ? "The first " + count_text(kMostLegs) + " rows are shown." : ""};
}

Panel longest_waits(const Timeline& timeline) {
  const std::vector<traces::WaitSum> waits = traces::wait_sums(timeline);
  const UnitScale scale = time_scale(waits.empty() ? 0.0 : to_seconds(waits.front().total));
  const std::string unit(scale.unit);
  PanelColumn words = text_column("wait"), stage = text_column("stage"), time = number_column("time", unit),
              count = number_column("times", ""), longest = number_column("longest", unit),
              from = number_column("first at", unit);
  for (std::size_t i = 0; i < std::min(waits.size(), kMostWaits); ++i) {
    texts(words).push_back(traces::wait_text(timeline, waits[i]));
    texts(stage).push_back(timeline.ranks[waits[i].rank].role);
    numbers(time).push_back(to_seconds(waits[i].total) * scale.factor);
    numbers(count).push_back(static_cast<double>(waits[i].count));
    numbers(longest).push_back(to_seconds(waits[i].longest) * scale.factor);
    numbers(from).push_back(to_seconds(waits[i].first - timeline.step_start) * scale.factor);
  }
  return {.id = "waits",
          .title = "What stages wait for",
          .sentence =
              "Times in which one GPU of a stage computes nothing, with what takes most of them; those for the "
              "same thing are one row.",
          .columns = {words, stage, time, count, longest, from},
          .wide = true,
          .note = waits.size() > kMostWaits ? "The longest " + count_text(kMostWaits) + " of " +
                                                  count_text(static_cast<double>(waits.size())) + " rows."
                                            : ""};
}

}  // namespace

std::vector<Panel> critical_path(const ResultInput& result) {
  if (result.timeline == nullptr) return {};
  const std::vector<PathPart> path = traces::critical_path(*result.timeline);
  if (path.empty()) return {};
  return {path_by_kind(*result.timeline, path), longest_waits(*result.timeline), path_legs(*result.timeline, path)};
}

}  // namespace ringwright::planning
