#include "planning/study/point.h"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

#include "configs/simulation/fault_times.h"
#include "configs/simulation/simulate.h"
#include "configs/simulation/step_facts.h"
#include "core/base/sha256.h"
#include "core/base/text.h"
#include "planning/study/first_error.h"

namespace ringwright::planning {
namespace {

constexpr std::array<std::string_view, 4> kStatusNames{"ok", "too_large", "refused", "unfinished"};

Point refused_point(const Diagnostics& mistakes) {
  const Diagnostic* const first = first_error(mistakes);
  if (first == nullptr) return {.reason = "it cannot be simulated"};
  return {.status = PointStatus::kRefused, .code = first->code, .reason = reason_of(*first)};
}

// Why the result is impossible on this machine; empty when everything fits.
std::string lack_of_memory(const Report& report) {
  if (report.fullest_memory) {
    const MemoryRow& row = report.facts.memory[*report.fullest_memory];
    if (row.total > row.capacity) {
      return fmt::format("{} needs {} of {}", row.role(), to_string(row.total), to_string(row.capacity));
    }
    if (!row.fits_in_blocks()) {
      return fmt::format("the largest weight needs {} in a block of {}", to_string(row.largest_weight),
                         to_string(row.largest_block));
    }
  }
  for (const HostRow& row : report.facts.hosts) {
    if (!row.fits()) {
      return fmt::format("the {} of a host needs {} of {}", row.what, to_string(row.total), to_string(row.capacity));
    }
  }
  return {};
}

std::string why_unfinished(RunOutcome outcome) {
  switch (outcome) {
    case RunOutcome::kFinished: return {};
    case RunOutcome::kStalled: return "ranks wait for each other forever";
    case RunOutcome::kGivenUp: return "a NIC gives up a transfer over a link that stays down";
    case RunOutcome::kLivelock: return "events follow each other without time passing";
    case RunOutcome::kClockRanOut: return "it ends after the end of the simulated clock";
    case RunOutcome::kDisturbed:
    case RunOutcome::kUnproven:
    case RunOutcome::kStopped: return "the run was stopped";
  }
  return {};
}

}  // namespace

std::string_view to_string(PointStatus status) {
  return kStatusNames[static_cast<std::size_t>(status)];
}

std::optional<PointStatus> status_named(std::string_view name) {
  const auto found = std::ranges::find(kStatusNames, name);
  if (found == kStatusNames.end()) return std::nullopt;
  return static_cast<PointStatus>(found - kStatusNames.begin());
}

std::string fingerprint_of(const configs::Scenario& scenario) {
  return sha256(canonical_text(scenario.document.log()));
}

LoadedPoint PointSource::load(std::span<const std::string> settings) {
  const std::vector<std::string> overrides(settings.begin(), settings.end());
  auto scenario = configs::load_scenario(path_, {.overrides = overrides, .share_folders = {}, .known = &known_});
  if (!scenario) {
    Point point = refused_point(scenario.error());
    point.fingerprint = sha256("refused\n" + join(overrides, "\n") + "\n" + point.code + point.reason);
    return {.point = std::move(point), .scenario = {}};
  }
  const std::string fingerprint = fingerprint_of(*scenario);
  if (const Diagnostics wrong = configs::settle_fault_times(*scenario); wrong.has_errors()) {
    Point point = refused_point(wrong);
    point.fingerprint = fingerprint;
    return {.point = std::move(point), .scenario = {}};
  }
  LoadedPoint loaded{.point = {.fingerprint = fingerprint}, .scenario = {}};
  loaded.point.figures.processed = configs::processed_by(scenario->job);
  loaded.scenario.emplace(std::move(*scenario));
  return loaded;
}

Point PointSource::simulate(std::span<const std::string> settings) {
  LoadedPoint loaded = load(settings);
  if (!loaded.scenario) return std::move(loaded.point);
  return simulate_point(*loaded.scenario, overheads_.of(*loaded.scenario));
}

Point simulate_point(const configs::Scenario& scenario, configs::KnownOverheads* overheads) {
  Point point;
  auto outcome = configs::simulate(scenario, configs::FoldMode::kFold, {.overheads = overheads});
  if (!outcome) {
    point = refused_point(outcome.error());
  } else if (!outcome->report) {
    point.status = PointStatus::kUnfinished;
    point.reason = why_unfinished(outcome->end);
  } else {
    point.reason = lack_of_memory(*outcome->report);
    point.status = point.reason.empty() ? PointStatus::kOk : PointStatus::kTooLarge;
    point.figures = figures_of(*outcome->report);
    point.ignored = outcome->report->facts.ignored;
    point.warnings = outcome->report->facts.warnings;
  }
  point.fingerprint = fingerprint_of(scenario);
  return point;
}

StepFigures figures_of(const Report& report) {
  StepFigures figures{.step = report.step_time.mean,
                      .parts = parts_of(report.everywhere, report.facts.kernel_times, report.step_time.mean),
                      .tokens_per_second_per_gpu = report.tokens_per_second_per_gpu,
                      .model_flop_utilisation = report.model_flop_utilisation,
                      .gpus = static_cast<std::int64_t>(report.gpus),
                      .tokens_per_step = report.facts.tokens_per_step,
                      .processed = report.facts.processed,
                      .cost = cost_of(report)};
  figures.mean_step = figures.step;
  if (report.facts.checkpoint) {
    figures.checkpoint_takes = report.facts.checkpoint->takes;
    if (report.facts.checkpoint->every > 0) figures.mean_step = report.facts.checkpoint->mean_step;
  }
  if (report.fullest_memory) {
    const MemoryRow& row = report.facts.memory[*report.fullest_memory];
    figures.memory = row.total;
    figures.memory_capacity = row.capacity;
  }
  return figures;
}

}  // namespace ringwright::planning
