#include "validation/nccl/collective_replay.h"

#include <algorithm>
#include <filesystem>

#include <fmt/format.h>

#include "configs/scenario/catalogue.h"
#include "configs/scenario/load_warnings.h"
#include "configs/scenario/named_machine.h"
#include "configs/scenario/nccl_host.h"
#include "core/base/check.h"
#include "core/base/json_text.h"
#include "core/base/text.h"
#include "traces/input/log_text.h"

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

std::string why_not(const traces::CollectiveLog& log, const configs::Cluster& cluster, const std::string& name) {
  const auto hosts = static_cast<int>(cluster.hosts);
  const int per_host = log.ranks > 0 ? log.ranks / hosts : cluster.host.gpus;
  const bool uneven = log.ranks % hosts != 0;
  if (!uneven && per_host >= 1 && per_host <= cluster.host.gpus && per_host * hosts >= 2) return {};
  return fmt::format("'{}' has {} ranks and '{}' has {} hosts with {} GPUs{}", log.file, log.ranks, name, hosts,
                     cluster.host.gpus, uneven ? ", over which they do not spread evenly" : "");
}

// A rack that is one node has servers of its own, which the log counts.
int hosts_of(const traces::CollectiveLog& log, const configs::Cluster& cluster) {
  constexpr int kLargestServer = 16;
  const int gpus = cluster.host.gpus;
  const bool racks = gpus > kLargestServer && log.gpus_per_node < gpus && log.ranks > 0;
  return racks ? (log.ranks + gpus - 1) / gpus : log.nodes;
}

// On the machine of --cluster, with the library as the log states it; or on that of a simulated log.
Result<ReplayPlan> plan_on_cluster(const traces::CollectiveLog& log, const ReplayOptions& options,
                                   configs::CollectiveOperation operation, bool again) {
  const std::string cluster = again ? log.played->cluster : *options.cluster;
  std::vector<std::string> settings = again ? log.played->settings : library_settings(log);
  const std::vector<std::string> classes = classes_setting(options);
  settings.insert(settings.end(), classes.begin(), classes.end());
  settings.insert(settings.end(), options.overrides.begin(), options.overrides.end());
  auto scenario = configs::load_named_machine(cluster, {.overrides = settings, .share_folders = {}});
  if (!scenario) return tl::unexpected(scenario.error());
  MeasuredMachine machine{.node = cluster, .network = "as described"};
  const int hosts = hosts_of(log, scenario->cluster);
  if (!again && hosts > 0 && scenario->cluster.hosts != hosts) {
    machine.notes.push_back(fmt::format("'{}' has {} hosts; the {} of the log are simulated", cluster,
                                        scenario->cluster.hosts, hosts));
    settings.push_back(fmt::format("cluster.nodes={}", hosts));
    scenario = configs::load_named_machine(cluster, {.overrides = settings, .share_folders = {}});
    if (!scenario) return tl::unexpected(scenario.error());
  }
  const Diagnostics warnings = configs::unlisted_warnings(*scenario);
  for (const Diagnostic& warning : warnings.all()) machine.notes.push_back(warning.message);
  if (const std::string why = why_not(log, scenario->cluster, cluster); !why.empty()) {
    return tl::unexpected(failure("E240", why, {.file = log.file}));
  }
  machine.hosts = static_cast<int>(scenario->cluster.hosts);
  machine.gpus_per_host = log.ranks > 0 ? log.ranks / machine.hosts : scenario->cluster.host.gpus;
  machine.gpus_per_process = threads_gpus(log, machine.gpus_per_host);
  const int usual = configs::usual_gpus_per_process(scenario->cluster, machine.gpus_per_host);
  if (!again && !machine.gpus_per_process && usual > 1) {
    machine.gpus_per_process = usual;
    machine.notes.push_back(
        fmt::format("the log does not state how many GPUs a thread drives: all {} are assumed", usual));
  }
  const int per_host = machine.gpus_per_host;
  return ReplayPlan{.scenario = std::move(*scenario),
                    .machine = std::move(machine),
                    .operation = operation,
                    .gpus_per_host = per_host,
                    .played = again ? log.played : std::nullopt};
}

std::string words_of_operations() {
  std::vector<std::string> names;
  for (const auto& entry : configs::collective_operations()) names.emplace_back(entry.name);
  return join(names, ", ");
}

// Rings and trees of many bytes use all channels of the communicator.
void note_channels(const traces::CollectiveLog& log, ReplayedLog& replayed) {
  const auto measured = traces::parse_number<int>(log.fact("channels"));
  int simulated = 0;
  for (const ReplayedRow& row : replayed.rows) {
    const bool all = row.size >= 64_MiB && (row.algorithm == "ring" || row.algorithm == "tree");
    if (all) simulated = std::max(simulated, row.channels);
  }
  if (!measured || simulated == 0 || simulated == *measured) return;
  replayed.notes.push_back(fmt::format(
      "the log's communicator has {} channels, the simulated one {}: comm.graph takes those that NCCL found "
      "(NCCL_GRAPH_DUMP_FILE)",
      *measured, simulated));
}

}  // namespace

Result<ReplayPlan> plan_replay(const traces::CollectiveLog& log, const ReplayOptions& options) {
  const auto operation = configs::parse_operation(log.operation);
  if (!operation) {
    return tl::unexpected(failure(
        "E241",
        fmt::format("'{}' names no collective that can be simulated{}", log.file,
                    log.operation.empty() ? "" : ": '" + log.operation + "'"),
        {.file = log.file},
        log.operation.empty() ? "pass --collective all_reduce, or name the file after the test, as in all_reduce_2n.log"
                              : "these can: " + words_of_operations()));
  }
  // The output of `ringwright collective` names the simulated machine.
  const bool again = log.played && !options.cluster && !options.profile;
  if (again && options.node) {
    return tl::unexpected(failure("E240",
                                  fmt::format("'{}' was simulated on '{}', which --node {} contradicts", log.file,
                                              log.played->cluster, *options.node),
                                  {.file = log.file}, "leave out --node, or name another machine with --cluster"));
  }
  if (options.cluster || again) return plan_on_cluster(log, options, *operation, again);
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
  note_channels(log, replayed);
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
