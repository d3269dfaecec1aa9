// The critical path of the last step: the chain of tasks that bounds its time, among the ranks of a timeline.
//
// It is followed backwards from the task that ends last. What ended latest before a task began is what the task waited
// for: a kernel or a communication of its own rank. A collective is bounded by the member that joined last, a message
// by its later end, sender or receiver; the path goes on with that rank. The parts follow each other without gaps, so
// that they add up to the step time exactly.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "traces/timeline/timeline.h"

namespace ringwright::traces {

// kOther: nothing of the timeline's ranks explains the time: the issue of a task by its host, ranks that are not shown.
enum class PathKind : std::uint8_t { kCompute, kCollective, kMessage, kOther };

struct PathPart {
  std::uint32_t rank = 0;  // into Timeline::ranks: where the part ends
  std::uint32_t from = 0;  // of a message the other end; else the same rank
  PathKind kind = PathKind::kOther;
  std::uint32_t name = 0;  // into Timeline::names; kNoName of kOther
  TimePoint start;
  TimePoint end;
};
inline constexpr std::uint32_t kNoName = ~0U;

// In the order of time, from Timeline::step_start to step_end. Empty where the last step has no tasks.
[[nodiscard]] std::vector<PathPart> critical_path(const Timeline& timeline);

// Time in which a rank of the timeline does not compute, and what it waits for.
struct StageWait {
  std::uint32_t rank = 0;  // into Timeline::ranks
  std::uint32_t from = 0;  // of a message the other end, of a collective the member that joined last
  PathKind kind = PathKind::kOther;
  std::uint32_t name = kNoName;
  std::uint32_t next = kNoName;  // the kernel that follows, into Timeline::names; kNoName at the end of the step
  TimePoint start;
  TimePoint end;

  [[nodiscard]] Duration time() const { return end - start; }
};

// Of the first rank of each role in the last step, the longest first.
[[nodiscard]] std::vector<StageWait> stage_waits(const Timeline& timeline);

// Waits of one stage for the same thing.
struct WaitSum {
  std::uint32_t rank = 0;  // into Timeline::ranks
  std::string cause;       // "the activations of stage 2, microbatch 5"
  Duration total;
  Duration longest;
  std::size_t count = 0;
  TimePoint first;  // start of the earliest one
};

// Of stage_waits, those with the longest single wait first.
[[nodiscard]] std::vector<WaitSum> wait_sums(const Timeline& timeline);

// "stage 3 waits 212 ms for the activations of stage 2, microbatch 5"
[[nodiscard]] std::string wait_text(const Timeline& timeline, const WaitSum& wait);

// What the path consists of: "computing", "TP communication", "PP communication", "other".
[[nodiscard]] std::string path_kind_text(const Timeline& timeline, const PathPart& part);

// The path by kind, and the longest waits, for people.
[[nodiscard]] std::string render_critical_path(const Timeline& timeline);

}  // namespace ringwright::traces
