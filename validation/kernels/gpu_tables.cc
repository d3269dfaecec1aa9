#include "validation/kernels/gpu_tables.h"

#include <fmt/format.h>

#include "validation/tables/shipped_files.h"

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
  return tl::unexpected(
      one_error(fmt::format("no table of {} is shipped yet", family),
                fmt::format("measure one: build/gpu/measure_gpu --families {} --out tables", family)));
}

Result<std::string> only_table(const std::vector<std::string>& files) {
  if (files.size() == 1) return files.front();
  return tl::unexpected(
      one_error(fmt::format("{} tables are given", files.size()), "calibrate with one table of one GPU"));
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

Result<ValidationOutcome> validate_tables(const ValidationRequest& request, const TableKind& kind,
                                          const std::function<Result<TableScore>(const std::string& file)>& score) {
  const auto files = tables_of(request.files, kind.family);
  if (!files) return tl::unexpected(files.error());
  ValidationOutcome outcome{.warnings = cluster_has_no_effect(request.cluster, kind.family)};
  const double threshold = request.threshold.value_or(kind.threshold);
  std::string objects;
  for (const std::string& file : *files) {
    auto table = score(file);
    if (!table) return tl::unexpected(table.error());
    outcome.text += table->text;
    objects += (objects.empty() ? "\n  " : ",\n  ") + table->json;
    outcome.plots.push_back(std::move(table->plot));
    for (const ScoredPart& part : table->parts) {
      const ErrorStatistics& judged = part.unseen.count > 0 ? part.unseen : part.fitted;
      if (judged.mean_abs <= threshold) continue;
      outcome.passed = false;
      outcome.text += fmt::format("{}, {}: the mean error is {}, above {}\n", table->gpu, part.name,
                                  percent_text(judged.mean_abs), percent_text(threshold));
    }
  }
  outcome.json = "{\"gpus\": [" + objects + "\n]}\n";
  if (!request.wants_page) return outcome;
  outcome.markdown = fmt::format(
      "# {}\n\nWritten by `ringwright validate {} FILE... --markdown PAGE --plots FOLDER`\n([what it "
      "means]({}.md)).\n\n```\n{}```\n",
      kind.title, kind.family, kind.docs, outcome.text);
  for (const NamedText& plot : outcome.plots)
    outcome.markdown += fmt::format("\n![{0}]({1}/{0})\n", plot.name, kind.docs);
  return outcome;
}

std::string errors_text(const ErrorStatistics& errors) {
  if (errors.count == 0) return "0 rows";
  return fmt::format("{} rows, mean {}, largest {}", errors.count, percent_text(errors.mean_abs),
                     percent_text(errors.max_abs));
}

std::string percent_text(double ratio) { return fmt::format("{:.1f} %", 100.0 * ratio); }

}  // namespace ringwright::validation
