#include "validation/systems/study_figures.h"

#include <algorithm>
#include <optional>

#include <fmt/format.h>

#include "configs/scenario/shared_scenario.h"
#include "configs/simulation/probe_study.h"
#include "core/base/shared_folder.h"
#include "planning/adaptive/adaptive_ratio.h"
#include "planning/embeddings/embeddings.h"
#include "planning/jobs/cluster_study.h"
#include "planning/servers/server_plan.h"
#include "planning/servers/servers.h"
#include "planning/sharing/sharing.h"
#include "planning/tune/step_tuner.h"

namespace ringwright::validation {
namespace {

struct StudyFigureName {
  std::string_view head;  // "hits"
  std::string_view rest;  // "0.01"
};

StudyFigureName figure_parts(std::string_view name) {
  const std::size_t space = name.find(' ');
  if (space == std::string_view::npos) return {.head = name, .rest = {}};
  return {.head = name.substr(0, space), .rest = name.substr(space + 1)};
}

std::string path_of(const SystemRow& row) { return shared_folder("configs") + "/scenarios/" + row.scenario + ".yaml"; }

// Of the row whose field has the wanted text.
template <class Rows, class Field, class Value>
std::optional<double> found_in(const Rows& rows, Field field, std::string_view wanted, Value value) {
  for (const auto& row : rows) {
    if (row.*field == wanted) return static_cast<double>(row.*value);
  }
  return std::nullopt;
}

Result<std::optional<double>> figure_of_jobs(const SystemRow& row, const std::vector<std::string>& settings) {
  const auto shared = configs::load_shared(path_of(row), {.overrides = settings, .share_folders = {}});
  if (!shared) return tl::unexpected(shared.error());
  const planning::SharingResult result = planning::share_machine(*shared);
  const planning::Arrangement& as_given = result.arrangements.front();
  if (!as_given.was_simulated()) return tl::unexpected(failure("E561", as_given.reason, row.place));
  for (const planning::SharedJob& job : as_given.jobs) {
    if (job.name == figure_parts(row.figure).rest) return std::optional(job.slowdown());
  }
  return std::optional<double>();
}

Result<std::optional<double>> figure_of_server_plan(const SystemRow& row, const std::vector<std::string>& settings) {
  const auto result = planning::plan_servers([&](const std::vector<std::string>& more) {
    std::vector<std::string> all = settings;
    all.insert(all.end(), more.begin(), more.end());
    return configs::load_scenario(path_of(row), {.overrides = all, .share_folders = {}});
  });
  if (!result) return tl::unexpected(result.error());
  return std::optional(result->gain());
}

Result<std::optional<double>> figure_of_servers(const SystemRow& row, const std::vector<std::string>& settings) {
  if (row.figure == "plan_gain") return figure_of_server_plan(row, settings);
  const auto scenario = configs::load_scenario(path_of(row), {.overrides = settings, .share_folders = {}});
  if (!scenario) return tl::unexpected(scenario.error());
  const auto result = planning::study_servers(*scenario);
  if (!result) return tl::unexpected(result.error());
  const auto [head, rest] = figure_parts(row.figure);
  if (head == "samples_per_s" && rest == "ring") return std::optional(result->ring_samples_per_second);
  using planning::ServersRow;
  const auto value = head == "staleness" ? &ServersRow::mean_staleness : &ServersRow::samples_per_second;
  return found_in(result->rows, &ServersRow::updates, rest, value);
}

Result<std::optional<double>> figure_of_embeddings(const SystemRow& row, const std::vector<std::string>& settings) {
  const auto scenario = configs::load_scenario(path_of(row), {.overrides = settings, .share_folders = {}});
  if (!scenario) return tl::unexpected(scenario.error());
  const auto result = planning::study_embeddings(*scenario);
  if (!result) return tl::unexpected(result.error());
  const auto [head, rest] = figure_parts(row.figure);
  using planning::CheckpointRow;
  if (head == "memory_overhead") return std::optional(result->memory_overhead);
  if (head == "less_written") {
    return found_in(result->checkpoints, &CheckpointRow::policy, rest, &CheckpointRow::less_written);
  }
  if (head == "less_kept") {
    return found_in(result->checkpoints, &CheckpointRow::policy, rest, &CheckpointRow::less_kept);
  }
  using planning::RecoveryRow;
  if (head == "overhead") return found_in(result->recoveries, &RecoveryRow::kind, rest, &RecoveryRow::overhead);
  for (const planning::CacheRow& cache : result->caches) {
    if (fmt::format("{:g}", cache.rows) == rest) return std::optional(cache.hits);
  }
  return std::optional<double>();
}

double cluster_value(const planning::PolicyResult& result, std::string_view head) {
  if (head == "waiting_s") return result.waiting.mean;
  if (head == "completion_s") return result.completion.mean;
  if (head == "makespan_s") return result.makespan;
  if (head == "guaranteed_s") return result.guaranteed.mean;
  if (head == "peak_gpus") return result.totals.peak_gpus;
  if (head == "computing") return result.computing();
  if (head == "utilisation") return result.utilisation();
  return result.totals.allocated > 0.0 ? result.totals.productive / result.totals.allocated : 0.0;
}

Result<std::optional<double>> figure_of_cluster(const SystemRow& row, const std::vector<std::string>& settings) {
  const auto plan = planning::load_cluster_plan(row.scenario, settings);
  if (!plan) return tl::unexpected(plan.error());
  const auto study = planning::study_cluster(*plan);
  if (!study) return tl::unexpected(study.error());
  const auto [head, rest] = figure_parts(row.figure);
  for (const planning::PolicyResult& result : study->policies) {
    if (rest.empty() || result.policy == rest) return std::optional(cluster_value(result, head));
  }
  return std::optional<double>();
}

Result<std::optional<double>> figure_of_probes(const SystemRow& row, const std::vector<std::string>& settings) {
  const auto scenario = configs::load_scenario(path_of(row), {.overrides = settings, .share_folders = {}});
  if (!scenario) return tl::unexpected(scenario.error());
  const auto study = configs::study_probes(*scenario, scenario->probing);
  if (!study) return tl::unexpected(study.error());
  const std::string_view head = figure_parts(row.figure).head;
  if (head == "wrong_cables") return std::optional(static_cast<double>(study->wrong_cables));
  if (head == "missed_cables") return std::optional(static_cast<double>(study->missed_cables));
  return std::optional(study->tried > 0 ? static_cast<double>(study->localised) / static_cast<double>(study->tried)
                                        : 0.0);
}

Result<std::optional<double>> figure_of_tuning(const SystemRow& row, const std::vector<std::string>& settings) {
  const auto load = [&](const std::vector<std::string>& more) {
    std::vector<std::string> all = planning::step_tuning_settings();
    all.insert(all.end(), settings.begin(), settings.end());
    all.insert(all.end(), more.begin(), more.end());
    return configs::load_scenario(path_of(row), {.overrides = all, .share_folders = {}});
  };
  const auto result = planning::tune_step(load, {});
  if (!result) return tl::unexpected(result.error());
  return std::optional(row.figure == "gain" ? result->gain() : result->gain_over_alone());
}

Result<std::optional<double>> figure_of_adapting(const SystemRow& row, const std::vector<std::string>& settings) {
  planning::AdaptiveQuestion question;
  std::vector<std::string> usual;
  for (const std::string& setting : settings) {
    if (!setting.starts_with(kPhase)) {
      usual.push_back(setting);
      continue;
    }
    auto phase = planning::parse_phase(setting.substr(kPhase.size()));
    if (!phase) return tl::unexpected(phase.error());
    question.phases.push_back(*std::move(phase));
  }
  question.load = [&](const std::vector<std::string>& more) {
    std::vector<std::string> all = usual;
    all.insert(all.end(), more.begin(), more.end());
    return configs::load_scenario(path_of(row), {.overrides = all, .share_folders = {}});
  };
  const auto result = planning::adapt_ratio(question);
  if (!result) return tl::unexpected(result.error());
  return std::optional(result->gain());
}

}  // namespace

std::vector<std::string_view> study_figure_names(SystemRun run) {
  if (run == SystemRun::kJobs) return {"slowdown"};
  if (run == SystemRun::kServers) return {"samples_per_s", "staleness", "plan_gain"};
  if (run == SystemRun::kEmbeddings) return {"hits", "less_written", "less_kept", "overhead", "memory_overhead"};
  if (run == SystemRun::kCluster) {
    return {"waiting_s", "completion_s", "guaranteed_s", "makespan_s",
            "peak_gpus", "utilisation",  "computing",    "productive"};
  }
  if (run == SystemRun::kProbe) return {"localised", "wrong_cables", "missed_cables"};
  if (run == SystemRun::kAdapt) return {"gain"};
  if (run == SystemRun::kTune) return {"gain", "gain_over_alone"};
  return {};
}

bool is_study_figure(SystemRun run, std::string_view name) {
  const std::vector<std::string_view> names = study_figure_names(run);
  return std::ranges::find(names, figure_parts(name).head) != names.end();
}

Result<double> study_figure(const SystemRow& row, const std::vector<std::string>& settings) {
  const auto figure = row.run == SystemRun::kJobs      ? figure_of_jobs(row, settings)
                      : row.run == SystemRun::kServers ? figure_of_servers(row, settings)
                      : row.run == SystemRun::kCluster ? figure_of_cluster(row, settings)
                      : row.run == SystemRun::kProbe   ? figure_of_probes(row, settings)
                      : row.run == SystemRun::kTune    ? figure_of_tuning(row, settings)
                      : row.run == SystemRun::kAdapt   ? figure_of_adapting(row, settings)
                                                       : figure_of_embeddings(row, settings);
  if (!figure) return tl::unexpected(figure.error());
  if (!*figure) {
    return tl::unexpected(failure("E561", "the study of '" + row.id + "' has no figure '" + row.figure + "'",
                                  row.place));
  }
  return **figure;
}

}  // namespace ringwright::validation
