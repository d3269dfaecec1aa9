#include "core/run/step/played_programs.h"

#include "core/plan/segments.h"
#include "core/run/shortcuts/segment_times.h"

namespace ringwright {
namespace {

// Whether segments need not be simulated task by task.
bool pass_at_once(const ExecutorInputs& inputs, const ExecutorOptions& options) {
  const bool recorded = !options.recorded.empty() || options.record_waits;
  const bool may = options.pass_segments_at_once && !recorded && inputs.footprint == nullptr;
  const bool known = inputs.collective_time != nullptr || inputs.rehearsed != nullptr;
  if (!may || !known || inputs.graph.segments.empty()) return false;
  const bool together = inputs.rehearsed != nullptr && inputs.rehearsed->joins_classes();
  // Messages have no formula.
  if (inputs.rehearsed == nullptr && segments_send(inputs.graph)) return false;
  return together ? segments_stand_together(inputs.graph, inputs.classes)
                  : segments_stand_alone(inputs.graph, inputs.classes);
}

}  // namespace

PlayedPrograms::PlayedPrograms(const ExecutorInputs& inputs, const ExecutorOptions& options)
    : at_once(pass_at_once(inputs, options)),
      of_graph(inputs.graph.programs),
      own(at_once ? std::vector<Program>() : write_out_programs(inputs.graph)) {
  for (const Work& work : inputs.graph.works) work_duration.push_back(duration(inputs.compute, work));
}

}  // namespace ringwright
