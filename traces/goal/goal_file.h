// GOAL schedules of either form, by content: read, summarised, written, and as traces to replay.
#pragma once

#include <string>
#include <string_view>

#include "core/base/diagnostic.h"
#include "traces/chakra/job.h"
#include "traces/goal/schedule.h"
#include "traces/input/file_summary.h"

namespace ringwright::traces {

[[nodiscard]] bool looks_like_goal(std::string_view beginning);
// Plain or gzip, at most 1 GiB.
[[nodiscard]] Result<GoalSchedule> read_goal(const std::string& path);
// Of the first ranks that have one: operations that wait for each other, by lines of the file.
[[nodiscard]] Diagnostics find_goal_cycles(const GoalSchedule& schedule);
[[nodiscard]] FileSummary summarise_goal_file(const std::string& path);

// The text form: operations in order, those that others wait for or that wait with the labels l0, l1, ...
[[nodiscard]] std::string goal_text(const GoalSchedule& schedule);

// Each rank's operations as the nodes of a trace: a calc runs on the stream of its cpu, in the order of the file where
// dependencies leave it open; messages as soon as their dependencies allow. What may begin after the start of an
// operation waits for a node at which that operation's own dependencies are met.
[[nodiscard]] ChakraJob goal_as_job(const GoalSchedule& schedule);

}  // namespace ringwright::traces
