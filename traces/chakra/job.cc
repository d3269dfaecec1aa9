#include "traces/chakra/job.h"

#include <optional>
#include <utility>

#include "traces/chakra/rank_files.h"
#include "traces/input/equal_files.h"

namespace ringwright::traces {

Result<ChakraJobReading> read_chakra_job(const std::string& prefix, std::size_t ranks,
                                         const ChakraReadOptions& options) {
  auto files = find_rank_files(prefix, ranks);
  if (!files) return tl::unexpected(std::move(files.error()));
  ChakraJobReading reading;
  reading.job.prefix = prefix;
  Diagnostics problems;
  EqualFiles equal;
  std::vector<std::uint32_t> trace_of_file;
  std::vector<std::string> distinct;
  for (const std::string& path : files->files) {
    const std::size_t known = equal.count();
    const auto number = equal.number_of(path);
    if (!number) {
      problems.add({.code = "E245", .place = {.file = path}, .message = "cannot read the trace: " + number.error()});
      trace_of_file.push_back(0);
      continue;
    }
    trace_of_file.push_back(static_cast<std::uint32_t>(*number));
    if (*number == known) distinct.push_back(path);
  }
  std::vector<std::optional<Result<ChakraReading>>> readings(distinct.size());
#pragma omp parallel for schedule(dynamic)
  for (std::size_t i = 0; i < distinct.size(); ++i) readings[i] = read_chakra(distinct[i], options);
  for (auto& trace : readings) {
    const Diagnostics& found = *trace ? (*trace)->warnings : trace->error();
    for (const Diagnostic& problem : found.all()) (*trace ? reading.warnings : problems).add(problem);
    reading.job.traces.push_back(*trace ? std::move((*trace)->trace) : ChakraTrace());
    if (problems.error_count() > 100) break;  // as many as anyone reads
  }
  if (problems.has_errors()) return tl::unexpected(std::move(problems));
  for (const std::uint32_t file : files->file_of) reading.job.trace_of.push_back(trace_of_file[file]);
  return reading;
}

}  // namespace ringwright::traces
