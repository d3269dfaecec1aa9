// What a GPU of each pipeline stage does in one training step, by time.
#include <algorithm>

#include <fmt/format.h>

#include "planning/report/builtin_panels.h"
#include "planning/report/gantt_blocks.h"
#include "planning/report/scales.h"

namespace ringwright::planning {

std::vector<Panel> pipeline_gantt(const ResultInput& result) {
  Panel panel{.id = "pipeline",
              .title = "What each stage does in a step",
              .sentence =
                  "One GPU of each pipeline stage: passes of microbatches above, communication below from its call to "
                  "its end, blank where it computes nothing. Zoom with the slider, with Ctrl and the wheel, or "
                  "with two fingers.",
              .chart = Chart::kGantt,
              .wide = true};
  if (result.timeline == nullptr) {
    panel.chart = Chart::kTable;
    panel.note = result.no_timeline.empty()
                     ? "The tasks of a step are not part of result.json: `ringwright run SCENARIO --html FILE` records "
                       "them and shows them here."
                     : result.no_timeline;
    return {panel};
  }
  const GanttBlocks blocks = gantt_blocks(*result.timeline);
  if (blocks.blocks.empty()) return {};
  double end = 0.0;
  for (const GanttBlock& block : blocks.blocks) end = std::max(end, block.end);
  const UnitScale scale = time_scale(end);
  const std::string unit(scale.unit);
  PanelColumn row = text_column("stage"), kind = text_column("kind"), task = text_column("task"),
              from = number_column("start", unit), to = number_column("end", unit), busy = number_column("busy", unit),
              calls = number_column("tasks", ""), bytes = number_column("bytes", "B");
  for (const GanttBlock& block : blocks.blocks) {
    texts(row).push_back(block.row);
    texts(kind).push_back(block.kind);
    texts(task).push_back(block.task);
    numbers(from).push_back(block.start * scale.factor);
    numbers(to).push_back(block.end * scale.factor);
    numbers(busy).push_back(block.busy * scale.factor);
    numbers(calls).push_back(static_cast<double>(block.tasks));
    numbers(bytes).push_back(block.bytes);
  }
  panel.columns = {row, kind, task, from, to, busy, calls, bytes};
  panel.note = blocks.note;
  return {panel};
}

}  // namespace ringwright::planning
