#include "tools/timeline_file.h"

#include <fmt/format.h>

#include "tools/written_files.h"
#include "traces/timeline/counters.h"

namespace ringwright::tools {

Result<std::string> write_timeline(const traces::Timeline& timeline, const std::string& file) {
  const traces::TimelineForm form = traces::form_of_timeline(file);
  const bool chrome = form == traces::TimelineForm::kChrome;
  const std::string problem =
      write_file(file, chrome ? traces::chrome_trace(timeline) : traces::perfetto_trace(timeline));
  if (!problem.empty()) return tl::unexpected(failure("E625", fmt::format("cannot write '{}': {}", file, problem)));
  std::string said = fmt::format("timeline of {} ranks, {} slices, {} values of counters, in {}\n",
                                 timeline.ranks.size(), timeline.slices.size(),
                                 traces::count_values(traces::counters_of(timeline)), file);
  if (timeline.memory.left_out > 0) {
    said += fmt::format("device memory of {} ranks is left out: such a file has at most {} values of it\n",
                        timeline.memory.left_out, traces::most_memory_values(form));
  }
  return said;
}

}  // namespace ringwright::tools
