#include "tools/step_files.h"

#include <cstddef>
#include <filesystem>
#include <string_view>
#include <system_error>

#include <fmt/format.h>

#include "tools/written_files.h"
#include "traces/chakra/rank_files.h"
#include "traces/chakra/writer.h"
#include "traces/goal/binary_form.h"
#include "traces/goal/goal_file.h"

namespace ringwright::tools {
namespace {

// Empty when all is well.
Diagnostics write_one(const std::string& path, std::string_view text) {
  const std::string problem = write_file(path, text);
  if (problem.empty()) return {};
  return failure("E625", fmt::format("cannot write '{}': {}", path, problem));
}

// The folder of the prefix is created.
Diagnostics write_chakra(const traces::ChakraExport& traces, const std::string& prefix) {
  const std::filesystem::path folder = std::filesystem::path(prefix).parent_path();
  std::error_code problem;
  if (!folder.empty()) std::filesystem::create_directories(folder, problem);
  if (problem) return failure("E625", fmt::format("cannot make '{}': {}", folder.string(), problem.message()));
  for (std::size_t rank = 0; rank < traces.ranks(); ++rank) {
    const std::string records = traces::chakra_records(traces.trace_of(RankId(rank)));
    Diagnostics problems = write_one(fmt::format("{}.{}.et", prefix, rank), records);
    if (problems.has_errors()) return problems;
  }
  return write_one(prefix + ".groups.json", traces.groups());
}

// A replay would read files of another step as ranks of this one.
std::string warning_of_other_files(const std::string& prefix, std::size_t ranks) {
  const auto found = traces::find_rank_files(prefix);
  std::string which;
  std::error_code ignored;
  if (std::filesystem::exists(prefix + ".ranks.json", ignored)) {
    which = fmt::format("'{}.ranks.json', which states the ranks of files", prefix);
  } else if (!found) {
    which = found.error().all().front().message;
  } else if (found->file_of.size() > ranks) {
    which = fmt::format("traces up to rank {}", found->file_of.size() - 1);
  }
  if (which.empty()) return "";
  Diagnostics warning;
  warning.add({.severity = Severity::kWarning,
               .code = "W625",
               .place = {.file = prefix},
               .message = fmt::format("files of another step are next to the {} ranks of this one: {}", ranks, which),
               .hint = "remove them, or take another prefix"});
  return render(warning);
}

}  // namespace

Result<std::string> write_step(const configs::StepTraces& step, const StepFiles& files) {
  std::string said;
  if (!files.chakra.empty()) {
    if (Diagnostics problems = step.refused_as_chakra(); problems.has_errors()) {
      return tl::unexpected(std::move(problems));
    }
    if (Diagnostics problems = write_chakra(step.traces(), files.chakra); problems.has_errors()) {
      return tl::unexpected(std::move(problems));
    }
    said += fmt::format("traces of {} ranks in {}.*.et, their groups in {}.groups.json\n", step.traces().ranks(),
                        files.chakra, files.chakra);
    said += warning_of_other_files(files.chakra, step.traces().ranks());
  }
  if (files.goal.empty()) return said;
  const auto goal = step.goal();
  if (!goal) return tl::unexpected(goal.error());
  const bool binary = files.goal.ends_with(".bin");
  const std::string text = binary ? traces::goal_binary(goal->schedule) : traces::goal_text(goal->schedule);
  if (Diagnostics problems = write_one(files.goal, text); problems.has_errors()) {
    return tl::unexpected(std::move(problems));
  }
  if (!goal->lost.all().empty()) said += render(goal->lost);
  return said + fmt::format("GOAL schedule of {} ranks in {}\n", goal->schedule.ranks.size(), files.goal);
}

}  // namespace ringwright::tools
