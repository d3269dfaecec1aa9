// Validation against measured kernels: each row of a table predicted by the calibrated rules of its GPU. The score is
// the median error of shapes that no fit has used.
#include <algorithm>
#include <cmath>
#include <filesystem>

#include <fmt/format.h>

#include "core/base/json_text.h"
#include "validation/builtin.h"
#include "validation/fit/kernel_plot.h"
#include "validation/kernels/gpu_tables.h"
#include "validation/kernels/kernel_scores.h"
#include "validation/tables/shipped_files.h"

namespace ringwright::validation {
namespace {

constexpr double kKernelsThreshold = 0.08;
constexpr std::size_t kWorstRows = 5;

double error_of(const ScoredKernel& scored) {
  return relative_error({.predicted = scored.predicted, .measured = scored.row.seconds});
}

// Fewer new shapes than this allow no conclusion.
constexpr std::size_t kEnoughRows = 20;

// Of rows that were held out, if they are enough; else of all rows.
ErrorStatistics decisive(const GpuScore& score) {
  if (score.unseen.count >= kEnoughRows) return score.unseen;
  std::vector<PredictedMeasured> pairs;
  for (const ScoredKernel& scored : score.rows)
    pairs.push_back({.predicted = scored.predicted, .measured = scored.row.seconds});
  return error_statistics(pairs);
}

std::string profile_name(const GpuScore& score) {
  return score.profile.empty() ? "class values" : score.profile;
}

void append_row(std::string& text, const std::string& name, const ErrorStatistics& fitted,
                const ErrorStatistics& unseen) {
  const auto cells = [](const ErrorStatistics& s) {
    if (s.count == 0) return fmt::format("{:>5}{:>9}{:>9}", 0, "-", "-");
    return fmt::format("{:>5}{:>9}{:>9}", s.count, percent_text(s.median_abs), percent_text(s.p95_abs));
  };
  text += fmt::format("  {:<22}{}  {}{:>9}\n", name, cells(fitted), cells(unseen),
                      unseen.count > 0 ? fmt::format("{:+.1f} %", 100.0 * unseen.mean_error) : "-");
}

std::string as_text(const std::vector<GpuScore>& scores) {
  std::string text;
  for (const GpuScore& score : scores) {
    text += fmt::format("{} (profile {})\n", score.gpu, profile_name(score));
    text += fmt::format("  {:<22}{:>5}{:>9}{:>9}  {:>5}{:>9}{:>9}{:>9}\n", "family", "fit", "median", "p95", "new",
                        "median", "p95", "mean");
    for (const FamilyScore& family : score.families) append_row(text, family.family, family.fitted, family.unseen);
    append_row(text, "all", score.fitted, score.unseen);
    text += "  worst:\n";
    for (const ScoredKernel* worst : worst_kernels(score, kWorstRows)) {
      text += fmt::format("    {:+6.1f} %  {:.1f} us  {}{}\n", 100.0 * error_of(*worst), worst->row.seconds * 1e6,
                          kernel_label(worst->row.kernel), worst->row.held_out ? "  (new)" : "");
    }
    text += '\n';
  }
  return text;
}

std::string kernels_json(const ErrorStatistics& s) {
  return fmt::format("{{\"count\": {}, \"median\": {:.6g}, \"p95\": {:.6g}, \"max\": {:.6g}, \"mean\": {:.6g}}}",
                     s.count, s.median_abs, s.p95_abs, s.max_abs, s.mean_error);
}

void append_row_json(std::string& text, const ScoredKernel& scored) {
  text += fmt::format(
      "{}\n    {{\"kernel\": {}, \"type\": {}, \"measured_us\": {:.6g}, \"predicted_us\": {:.6g}, \"held_out\": {}, "
      "\"table\": {}}}",
      text.back() == '[' ? "" : ",", json_text(kernel_label(scored.row.kernel)),
      json_text(to_string(scored.row.kernel.type)), scored.row.seconds * 1e6, scored.predicted * 1e6,
      scored.row.held_out, json_text(std::filesystem::path(scored.file).filename().string()));
}

std::string as_json(const std::vector<GpuScore>& scores) {
  std::string text = "{\"gpus\": [";
  for (const GpuScore& score : scores) {
    text += fmt::format("{}\n  {{\"gpu\": {}, \"profile\": {}, \"fitted\": {}, \"unseen\": {}, \"families\": [",
                        &score == &scores.front() ? "" : ",", json_text(score.gpu), json_text(score.profile),
                        kernels_json(score.fitted), kernels_json(score.unseen));
    for (const FamilyScore& family : score.families) {
      text += fmt::format("{}\n    {{\"family\": {}, \"fitted\": {}, \"unseen\": {}}}",
                          &family == &score.families.front() ? "" : ",", json_text(family.family),
                          kernels_json(family.fitted), kernels_json(family.unseen));
    }
    text += "],\n    \"rows\": [";
    for (const ScoredKernel& scored : score.rows) append_row_json(text, scored);
    text += "]}";
  }
  return text + "\n]}\n";
}

std::string markdown_cells(const ErrorStatistics& s) {
  if (s.count == 0) return "| 0 | | ";
  return fmt::format("| {} | {} | {} ", s.count, percent_text(s.median_abs), percent_text(s.p95_abs));
}

std::string as_markdown(const std::vector<GpuScore>& scores, double threshold) {
  std::string text = fmt::format(
      "# Kernels: predictions against measurements\n\nWritten by `ringwright validate kernels --markdown "
      "docs/validation-kernels.md "
      "--plots docs/kernels`. The calibrated\ncompute model (`compute.model: calibrated`) predicts each row of the "
      "tables in "
      "`validation/kernels/`. One shape in four was\nheld out when the constants were fitted ([the "
      "rule](kernel-tables.md)): "
      "*new* shapes. The median error of new shapes must\nstay within {} where there are {} of them; on GPUs with "
      "fewer the numbers are shown and have no limit. Errors are "
      "|predicted / measured - 1|.\n",
      percent_text(threshold), kEnoughRows);
  for (const GpuScore& score : scores) {
    text += fmt::format("\n## {}\n\nProfile `{}`. Sources:\n\n", score.gpu, profile_name(score));
    for (const std::string& source : score.sources) text += fmt::format("* {}\n", source);
    text += "\n| family | fitted rows | median | p95 | new rows | median | p95 |\n|---|---|---|---|---|---|---|\n";
    for (const FamilyScore& family : score.families) {
      text += fmt::format("| {} {}{}|\n", family.family, markdown_cells(family.fitted), markdown_cells(family.unseen));
    }
    text +=
        fmt::format("| all {}{}|\n\nLargest errors:\n\n", markdown_cells(score.fitted), markdown_cells(score.unseen));
    for (const ScoredKernel* worst : worst_kernels(score, kWorstRows)) {
      text +=
          fmt::format("* {:+.1f} %: {}, measured {:.1f} us{}\n", 100.0 * error_of(*worst),
                      kernel_label(worst->row.kernel), worst->row.seconds * 1e6, worst->row.held_out ? " (new)" : "");
    }
    text += fmt::format("\n![{0}](kernels/{0}.svg)\n", score.gpu);
  }
  return text;
}

NamedText plot_of(const GpuScore& score) {
  PlotSeries fitted{.name = "fitted", .colour = "#1f77b4", .points = {}};
  PlotSeries unseen{.name = "new shapes", .colour = "#d62728", .points = {}};
  for (const ScoredKernel& scored : score.rows) {
    (scored.row.held_out ? unseen : fitted)
        .points.push_back({.predicted = scored.predicted, .measured = scored.row.seconds});
  }
  return {.name = score.gpu + ".svg", .text = scatter_svg(score.gpu, std::array{fitted, unseen})};
}

}  // namespace

Result<ValidationOutcome> validate_kernels(const ValidationRequest& request) {
  const auto files = request.files.empty() ? files_in(shipped_folder("kernels"), ".csv") : request.files;
  const auto scores = score_kernels(files, request.overrides);
  if (!scores) return tl::unexpected(scores.error());
  const double threshold = request.threshold.value_or(kKernelsThreshold);
  ValidationOutcome outcome;
  outcome.text = as_text(*scores);
  outcome.json = as_json(*scores);
  outcome.markdown = as_markdown(*scores, threshold);
  for (const GpuScore& score : *scores) {
    outcome.plots.push_back(plot_of(score));
    const bool judged = score.unseen.count >= kEnoughRows || !request.files.empty();
    const ErrorStatistics errors = decisive(score);
    if (!judged) {
      outcome.text += fmt::format("{}: {} new shapes are too few for a limit\n", score.gpu, score.unseen.count);
    } else if (errors.median_abs > threshold) {
      outcome.passed = false;
      outcome.text += fmt::format("{}: the median error is {}, above {}\n", score.gpu, percent_text(errors.median_abs),
                                  percent_text(threshold));
    }
  }
  outcome.warnings = cluster_has_no_effect(request.cluster, "kernels");
  return outcome;
}

}  // namespace ringwright::validation
