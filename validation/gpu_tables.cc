#include "validation/gpu_tables.h"

#include <fmt/format.h>

#include "validation/shipped_files.h"

namespace ringwright::validation {
namespace {

Diagnostics one_error(std::string message, std::string hint) {
  Diagnostics problems;
  problems.add({.code = "E163", .message = std::move(message), .hint = std::move(hint)});
  return problems;
}

}  // namespace

Result<std::vector<std::string>> tables_of(const std::vector<std::string>& files, std::string_view family) {
  std::vector<std::string> tables = files;
  if (tables.empty()) tables = files_in(shipped_folder("measurements"), fmt::format("{}.csv", family));
  if (!tables.empty()) return tables;
  return tl::unexpected(one_error(fmt::format("no table of {} is shipped yet", family),
                                  fmt::format("measure one: build/gpu/measure_gpu --families {} --out tables", family)));
}

Result<std::string> only_table(const std::vector<std::string>& files) {
  if (files.size() == 1) return files.front();
  return tl::unexpected(one_error(fmt::format("{} tables are given", files.size()), "calibrate with one table of one GPU"));
}

Diagnostics cluster_has_no_effect(const std::optional<std::string>& cluster, std::string_view family) {
  Diagnostics warnings;
  if (cluster) {
    warnings.add({.severity = Severity::kWarning,
                  .code = "W162",
                  .message = fmt::format("--cluster has no effect: every table of {} names its GPU", family)});
  }
  return warnings;
}

std::string percent_text(double ratio) { return fmt::format("{:.1f} %", 100.0 * ratio); }

}  // namespace ringwright::validation
