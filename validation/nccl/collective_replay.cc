#include "validation/nccl/collective_replay.h"

#include <algorithm>
#include <filesystem>

#include <fmt/format.h>

#include "configs/scenario/catalogue.h"
#include "configs/scenario/named_machine.h"
#include "configs/scenario/nccl_host.h"
#include "core/base/check.h"
#include "core/base/json_text.h"

namespace ringwright::validation {
namespace {

using namespace ringwright::literals;

// A shipped profile is a preset; any other is a file.
std::string profile_line(const std::string& profile) {
  const auto names = preset_names(configs::load_options({}), "profiles");
  if (std::ranges::find(names, profile) != names.end()) return "preset: " + profile + "\n";
  return "extends: " + json_text(std::filesystem::absolute(profile).string()) + "\n";
}

// The constants of classes that are asked for, as a setting.
std::vector<std::string> classes_setting(const ReplayOptions& options) {
  if (options.classes.empty()) return {};
  if (options.classes == "none") return {"comm.classes=planning"};
  return {"comm.classes=" + json_text(std::filesystem::absolute(options.classes).string())};
}

Result<configs::Scenario> load(const MeasuredMachine& machine, const ReplayOptions& options) {
  std::string text = machine.profile.empty() ? "" : profile_line(machine.profile);
  if (machine.profile.empty()) text += "collectives: {model: chunks}\n";
  text += fmt::format("cluster: {{nodes: {}, node: {{preset: {}}}}}\n", machine.hosts, machine.node);
  configs::ScenarioOptions scenario{.overrides = machine.overrides, .share_folders = {}};
  if (machine.profile.empty()) {
    scenario.overrides.insert(scenario.overrides.end(), machine.assumed.begin(), machine.assumed.end());
  }
  const std::vector<std::string> classes = classes_setting(options);
  scenario.overrides.insert(scenario.overrides.end(), classes.begin(), classes.end());
  scenario.overrides.insert(scenario.overrides.end(), options.overrides.begin(), options.overrides.end());
  return configs::load_machine_text("machine of the log", text, scenario);
}

// Times of operations with a root, or of a shift, are those of a stream of calls: the root runs ahead of the others.
configs::CollectiveRequest request_of(const ReplayPlan& plan, Bytes size) {
  using configs::CollectiveOperation;
  configs::CollectiveRequest request{.operation = plan.operation, .bytes = size, .gpus_per_host = plan.gpus_per_host};
  request.gpus_per_process = plan.machine.gpus_per_process.value_or(1);
  request.alone = plan.machine.alone;
  if (plan.played) {
    request.gpus_per_process = plan.played->gpus_per_process;
    request.warmup = plan.played->warmup;
    request.iterations = plan.played->iterations;
    return request;
  }
  if (request.alone) return request;
  const bool runs_ahead = plan.operation == CollectiveOperation::kBroadcast ||
                          plan.operation == CollectiveOperation::kReduce;
  if (runs_ahead) {
    request.warmup = 1;
    request.iterations = 4;
  }
  return request;
}

LogRole role_of(const MeasuredMachine& machine) {
  if (machine.profile.empty()) return LogRole::kClass;
  return machine.fitted_on ? LogRole::kFitted : LogRole::kPredicted;
}

}  // namespace

Result<ReplayPlan> plan_replay(const traces::CollectiveLog& log, const ReplayOptions& options) {
  const auto operation = configs::parse_operation(log.operation);
  if (!operation) {
    return tl::unexpected(failure(
        "E241",
        fmt::format("'{}' names no collective that can be simulated{}", log.file,
                    log.operation.empty() ? "" : ": '" + log.operation + "'"),
        {.file = log.file}, "pass --collective all_reduce, or name the file after the test, as in all_reduce_2n.log"));
  }
  // The output of `ringwright collective` names the simulated machine.
  const bool again = log.played && !options.cluster && !options.profile;
  if (again && options.node) {
    return tl::unexpected(failure("E240",
                                  fmt::format("'{}' was simulated on '{}', which --node {} contradicts", log.file,
                                              log.played->cluster, *options.node),
                                  {.file = log.file}, "leave out --node, or name another machine with --cluster"));
  }
  if (options.cluster || again) {
    const std::string cluster = again ? log.played->cluster : *options.cluster;
    std::vector<std::string> settings = again ? log.played->settings : std::vector<std::string>();
    const std::vector<std::string> classes = classes_setting(options);
    settings.insert(settings.end(), classes.begin(), classes.end());
    settings.insert(settings.end(), options.overrides.begin(), options.overrides.end());
    auto scenario = configs::load_named_machine(cluster, {.overrides = settings, .share_folders = {}});
    if (!scenario) return tl::unexpected(scenario.error());
    std::vector<std::string> notes;
    if (!again && log.nodes > 0 && scenario->cluster.hosts != log.nodes) {
      notes.push_back(fmt::format("'{}' has {} hosts; the {} of the log are simulated", cluster,
                                  scenario->cluster.hosts, log.nodes));
      settings.push_back(fmt::format("cluster.nodes={}", log.nodes));
      scenario = configs::load_named_machine(cluster, {.overrides = settings, .share_folders = {}});
      if (!scenario) return tl::unexpected(scenario.error());
    }
    MeasuredMachine machine{.node = cluster, .network = "as described"};
    machine.hosts = static_cast<int>(scenario->cluster.hosts);
    const int per_host = log.ranks > 0 ? log.ranks / machine.hosts : scenario->cluster.host.gpus;
    if (per_host < 1 || per_host > scenario->cluster.host.gpus || per_host * machine.hosts < 2) {
      return tl::unexpected(failure("E240",
                                    fmt::format("'{}' has {} ranks and '{}' has {} hosts with {} GPUs", log.file,
                                                log.ranks, cluster, machine.hosts, scenario->cluster.host.gpus),
                                    {.file = log.file}));
    }
    machine.gpus_per_host = per_host;
    machine.notes = std::move(notes);
    return ReplayPlan{.scenario = std::move(*scenario),
                      .machine = std::move(machine),
                      .operation = *operation,
                      .gpus_per_host = per_host,
                      .played = again ? log.played : std::nullopt};
  }
  auto machine = machine_of(log, options.profile ? UseProfile::kNo : options.use_profile);
  if (!machine) return tl::unexpected(machine.error());
  if (options.node) machine->node = *options.node;
  if (options.profile) machine->profile = *options.profile;
  auto scenario = load(*machine, options);
  if (!scenario) return tl::unexpected(scenario.error());
  const int per_host = machine->gpus_per_host;
  return ReplayPlan{.scenario = std::move(*scenario), .machine = std::move(*machine), .operation = *operation,
                    .gpus_per_host = per_host};
}

Result<ReplayedLog> replay(const traces::CollectiveLog& log, const ReplayPlan& plan) {
  const MeasuredMachine& machine = plan.machine;
  ReplayedLog replayed{
      .file = log.file,
      .machine = fmt::format("{} x {} of {}, {}", machine.hosts, machine.gpus_per_host, machine.node, machine.network),
      .platform = fmt::format("{}, {}", machine.node, machine.network),
      .profile = machine.profile,
      .role = role_of(machine),
      .operation = std::string(to_string(plan.operation)),
      .ranks = machine.hosts * machine.gpus_per_host,
      .rows = {},
      .notes = machine.notes};
  const configs::Scenario& scenario = plan.scenario;
  const auto of = configs::cost_class_of(scenario.cluster.host, scenario.cluster.gpu, scenario.nccl);
  replayed.listed = machine.listed;
  replayed.kernels = of.kernels;
  replayed.transport = machine.hosts > 1 ? of.transport : "none";
  configs::CollectiveBench bench(plan.scenario);
  for (const traces::CollectiveRow& row : log.rows) {
    const auto result = bench.run(request_of(plan, row.size));
    if (!result) return tl::unexpected(result.error());
    replayed.rows.push_back({.size = row.size, .line = row.line, .measured = *row.time(), .simulated = result->time,
                             .formula = result->formula, .algorithm = result->algorithm,
                             .protocol = result->protocol, .channels = result->channels});
  }
  return replayed;
}

namespace {

// Of one log: its replay, or why there is none, with the log's name.
Result<ReplayedLog> replay_one(const traces::CollectiveLog& log, const ReplayOptions& options) {
  auto plan = plan_replay(log, options);
  auto replayed = plan ? replay(log, *plan) : Result<ReplayedLog>(tl::unexpected(plan.error()));
  if (replayed) return replayed;
  Diagnostics named = failure("E361", fmt::format("'{}' cannot be simulated on its machine", log.file),
                              {.file = log.file}, "the reasons follow; --cluster describes the machine in a file");
  for (const Diagnostic& reason : replayed.error().all()) named.add(reason);
  return tl::unexpected(std::move(named));
}

std::vector<Result<ReplayedLog>> answers_of(const std::vector<traces::CollectiveLog>& logs,
                                            const ReplayOptions& options) {
  std::vector<Result<ReplayedLog>> answers(logs.size(), tl::unexpected(Diagnostics()));
  const auto count = static_cast<std::int64_t>(logs.size());
#pragma omp parallel for schedule(dynamic)
  for (std::int64_t i = 0; i < count; ++i) {
    answers[static_cast<std::size_t>(i)] = replay_one(logs[static_cast<std::size_t>(i)], options);
  }
  return answers;
}

}  // namespace

Result<std::vector<ReplayedLog>> replay_all(const std::vector<traces::CollectiveLog>& logs,
                                            const ReplayOptions& options) {
  std::vector<ReplayedLog> replayed;
  for (Result<ReplayedLog>& answer : answers_of(logs, options)) {
    if (!answer) return tl::unexpected(answer.error());
    replayed.push_back(std::move(*answer));
  }
  return replayed;
}

Result<Replays> replay_each(const std::vector<traces::CollectiveLog>& logs, const ReplayOptions& options) {
  Replays replays;
  Diagnostics first;
  for (Result<ReplayedLog>& answer : answers_of(logs, options)) {
    if (answer) {
      replays.logs.push_back(std::move(*answer));
      continue;
    }
    if (replays.refusals++ == 0) first = answer.error();
    for (Diagnostic reason : answer.error().all()) {
      reason.severity = Severity::kWarning;
      replays.refused.add(std::move(reason));
    }
  }
  if (replays.logs.empty() && replays.refusals > 0) return tl::unexpected(std::move(first));
  return replays;
}

SizeBand band_of(Bytes size) {
  if (size < 64_KiB) return SizeBand::kSmall;
  return size < 64_MiB ? SizeBand::kMiddle : SizeBand::kLarge;
}

std::string_view to_string(LogRole role) {
  switch (role) {
    case LogRole::kFitted: return "fitted";
    case LogRole::kPredicted: return "predicted";
    case LogRole::kClass: return "class values";
  }
  return "";
}

std::string_view to_string(SizeBand band) {
  switch (band) {
    case SizeBand::kSmall: return "below 64 KiB";
    case SizeBand::kMiddle: return "64 KiB to 64 MiB";
    case SizeBand::kLarge: return "64 MiB and above";
  }
  return "";
}

std::vector<PredictedMeasured> pairs_of(const std::vector<ReplayedRow>& rows, SizeBand band, Against what) {
  std::vector<PredictedMeasured> pairs;
  for (const ReplayedRow& row : rows) {
    if (band_of(row.size) != band || (what == Against::kFormula && !row.formula)) continue;
    const Duration predicted = what == Against::kFormula ? *row.formula : row.simulated;
    pairs.push_back({.predicted = to_seconds(predicted), .measured = to_seconds(row.measured)});
  }
  return pairs;
}

}  // namespace ringwright::validation
