#include "validation/kernels/kernel_scores.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "configs/scenario/gpu_preset.h"

namespace ringwright::validation {
namespace {

using Pairs = std::vector<PredictedMeasured>;

template <class Predicate>
ErrorStatistics statistics_where(const GpuScore& score, Predicate&& predicate) {
  Pairs pairs;
  for (const ScoredKernel& scored : score.rows) {
    if (predicate(scored.row)) pairs.push_back({.predicted = scored.predicted, .measured = scored.row.seconds});
  }
  return error_statistics(pairs);
}

void add_statistics(GpuScore& score) {
  for (const ScoredKernel& scored : score.rows) {
    const std::string label = family_label(scored.row.kernel);
    if (std::ranges::find(score.families, label, &FamilyScore::family) == score.families.end()) {
      score.families.push_back({.family = label, .fitted = {}, .unseen = {}});
    }
  }
  for (FamilyScore& family : score.families) {
    const auto belongs = [&](const MeasuredKernel& row) { return family_label(row.kernel) == family.family; };
    family.fitted = statistics_where(score, [&](const MeasuredKernel& row) { return !row.held_out && belongs(row); });
    family.unseen = statistics_where(score, [&](const MeasuredKernel& row) { return row.held_out && belongs(row); });
  }
  score.fitted = statistics_where(score, [](const MeasuredKernel& row) { return !row.held_out; });
  score.unseen = statistics_where(score, [](const MeasuredKernel& row) { return row.held_out; });
}

GpuScore& score_of(std::vector<GpuScore>& scores, const std::string& gpu) {
  const auto known = std::ranges::find(scores, gpu, &GpuScore::gpu);
  if (known != scores.end()) return *known;
  return scores.emplace_back(GpuScore{.gpu = gpu});
}

}  // namespace

std::string family_label(const Kernel& kernel) {
  const bool product = kernel.family == KernelFamily::kGemm || kernel.family == KernelFamily::kGroupedGemm;
  if (!product) return std::string(to_string(kernel.family));
  return fmt::format("{} {}", to_string(kernel.family), to_string(kernel.type));
}

std::string kernel_label(const Kernel& kernel) {
  std::string text(to_string(kernel.family));
  if (kernel.family == KernelFamily::kGemm || kernel.family == KernelFamily::kGroupedGemm) {
    text += fmt::format(" {}", to_string(kernel.role));
  }
  if (kernel.m == 0) return text + fmt::format(" {}", to_string(kernel.bytes));
  text += fmt::format(" {} x {} x {}", kernel.m, kernel.n, kernel.k);
  return kernel.batch > 1 ? text + fmt::format(", {} of them", kernel.batch) : text;
}

std::vector<const ScoredKernel*> worst_kernels(const GpuScore& score, std::size_t count) {
  std::vector<const ScoredKernel*> worst;
  for (const ScoredKernel& scored : score.rows) worst.push_back(&scored);
  const auto error = [](const ScoredKernel* scored) {
    return -std::abs(relative_error({.predicted = scored->predicted, .measured = scored->row.seconds}));
  };
  std::ranges::stable_sort(worst, {}, error);
  worst.resize(std::min(worst.size(), count));
  return worst;
}

Result<std::vector<GpuScore>> score_kernels(const std::vector<std::string>& files,
                                            const std::vector<std::string>& overrides) {
  std::vector<GpuScore> scores;
  std::vector<KernelTable> tables;
  Diagnostics problems;
  const auto take = [&problems](const Diagnostics& found) {
    for (const Diagnostic& diagnostic : found.all()) problems.add(diagnostic);
  };
  for (const std::string& file : files) {
    auto table = read_kernel_table(file);
    if (!table) {
      take(table.error());
      continue;
    }
    GpuScore& score = score_of(scores, table->gpu);
    score.sources.push_back(table->source);
    for (const MeasuredKernel& row : table->rows) score.rows.push_back({.row = row, .predicted = 0.0, .file = file});
    tables.push_back(std::move(*table));
  }
  for (GpuScore& score : scores) {
    const auto preset = configs::load_gpu(score.gpu, {.overrides = overrides});
    if (!preset) {
      take(preset.error());
      continue;
    }
    for (const KernelTable& table : tables) {
      if (table.gpu != score.gpu) continue;
      take(check_arithmetic(table, preset->gpu));
      take(check_units(table, preset->gpu));
    }
    if (problems.has_errors()) continue;
    score.profile = preset->gpu.kernels.name;
    for (ScoredKernel& scored : score.rows) scored.predicted = predicted_seconds(scored.row, preset->gpu);
    add_statistics(score);
  }
  if (problems.has_errors()) return tl::unexpected(std::move(problems));
  return scores;
}

}  // namespace ringwright::validation
