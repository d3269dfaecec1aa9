// The words of a slice's name: the pass that it belongs to, and the dimension of a communication.
//
// Names are those of task_name: "F3.0 forward", "F3.0 tp all_gather", "dp reduce_scatter". A pass is a letter with
// the microbatch, and behind a point the model chunk.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "core/plan/task_graph.h"

namespace ringwright::traces {

// Of a task that is not a segment.
[[nodiscard]] std::string task_name(const TaskGraph& graph, const Task& task);

struct PassLabel {
  char direction = 'F';  // F forward, B backward, as schedules name their passes
  std::string microbatch;
  std::string chunk;  // empty: there is one
};

[[nodiscard]] std::optional<PassLabel> pass_of(std::string_view name);

// What a communication is for: "gradient norm" of "gradient norm mp all_reduce"; what it is
// where the name says nothing else: "tp all_gather" of "F3.0 tp all_gather".
[[nodiscard]] std::string call_label(const std::string& name);

// "TP communication" of "F3.0 tp all_gather".
[[nodiscard]] std::string communication_kind(const std::string& name);

}  // namespace ringwright::traces
