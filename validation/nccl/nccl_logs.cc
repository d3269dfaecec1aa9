#include "validation/nccl/nccl_logs.h"

#include <filesystem>
#include <utility>

namespace ringwright::validation {

Result<NcclLogs> read_nccl_logs(const std::vector<std::string>& files, const std::optional<std::string>& collective) {
  NcclLogs all;
  Diagnostics problems;
  for (const std::string& file : files) {
    auto reading = traces::read_collective_log(file);
    if (!reading) {
      for (const Diagnostic& problem : reading.error().all()) problems.add(problem);
      continue;
    }
    for (const Diagnostic& warning : reading->warnings.all()) all.warnings.add(warning);
    if (collective) reading->log.operation = *collective;
    all.logs.push_back(std::move(reading->log));
  }
  if (problems.has_errors()) return tl::unexpected(std::move(problems));
  return all;
}

std::string log_name(const std::string& file) {
  return std::filesystem::path(file).filename().string();
}

}  // namespace ringwright::validation
