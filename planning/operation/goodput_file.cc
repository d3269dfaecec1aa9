#include "planning/operation/goodput_file.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <map>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "configs/scenario/catalogue.h"
#include "configs/scenario/scenario.h"
#include "configs/scenario/shipped_file.h"
#include "core/base/sha256.h"
#include "core/config/near_file.h"
#include "planning/operation/idle_keys.h"
#include "planning/operation/operation_reader.h"
#include "planning/operation/policies/builtin_policies.h"
#include "planning/study/each_item.h"
#include "planning/study/known_keys.h"
#include "planning/study/point.h"
#include "workload/checkpoint/saved_state.h"

namespace ringwright::planning {
namespace {

constexpr std::array kOwnKeys{"name",   "preset",     "scenario", "set",        "job",       "duration",   "work",
                              "clock",  "seed",       "recovery", "detection",  "restart",   "repair",     "spares",
                              "lemons", "components", "planned",  "checkpoint", "diagnosis", "repetitions"};

// Keys of this file, and keys of the scenario.
struct SplitSettings {
  std::vector<std::string> own;
  std::vector<std::string> scenario;
};

SplitSettings split_settings(const std::vector<std::string>& settings) {
  SplitSettings split;
  for (const std::string& setting : settings) {
    const std::string first = setting.substr(0, setting.find_first_of(".="));
    // `cost` alone is a key of both: that of this file decides.
    const bool own = std::ranges::find(kOwnKeys, first) != kOwnKeys.end() || setting.starts_with("cost.usd_per_gpu");
    (own ? split.own : split.scenario).push_back(setting);
  }
  return split;
}

// Data-parallel replicas that hold all of the state themselves: a distributed optimizer (ZeRO) and FSDP divide it among
// several, and without them all of it is on no GPU that is left.
std::int64_t copies_of_state(const workload::ParallelOptions& parallel) {
  if (parallel.zero_stage == 0) return parallel.dp;
  if (!parallel.sharding.parameters) return parallel.workers;
  return std::clamp(parallel.dp * parallel.cp / parallel.sharding.shard, 1, parallel.dp);
}

class GoodputReader {
 public:
  // Reads nothing: the keys of a file.
  [[nodiscard]] static std::vector<KeyDoc> keys() {
    GoodputReader reader(ConfigDocument::for_documentation(), {});
    GoodputPlan plan;
    plan.name = reader.read_name();
    const ScenarioFacts facts = reader.read_scenario(plan);
    plan.operation = std::make_unique<Operation>(read_operation(reader.root_, facts).operation);
    reader.read_policies(plan);
    return reader.document_.log().docs();
  }

  GoodputReader(ConfigDocument document, std::vector<std::string> settings)
      : document_(std::move(document)), root_(document_.root()), settings_(std::move(settings)) {}

  [[nodiscard]] Result<GoodputPlan> read(const Workers& workers) {
    GoodputPlan plan;
    plan.name = read_name();
    const ScenarioFacts facts = read_scenario(plan);
    if (foreign_.has_errors()) return tl::unexpected(std::move(foreign_));
    if (plan.scenario.empty() && root_.has("scenario") && failed())
      return tl::unexpected(document_.log().diagnostics());
    OperationRead read = read_operation(root_, facts);
    plan.operation = std::make_unique<Operation>(std::move(read.operation));
    read_policies(plan);
    document_.check_all_read();
    if (failed()) return tl::unexpected(document_.log().diagnostics());
    if (!plan.scenario.empty()) simulate_steps(plan, read.regimes, workers);
    if (foreign_.has_errors()) return tl::unexpected(std::move(foreign_));
    for (const auto& [name, settings] : read.regimes) {
      if (!plan.scenario.empty()) break;
      root_.error("components", "E407", fmt::format("'{}' sets values of no scenario", name));
    }
    set_intervals(*plan.operation, root_);
    check_size(*plan.operation, root_);
    if (failed()) return tl::unexpected(document_.log().diagnostics());
    for (const Diagnostic& warning : document_.log().diagnostics().all()) plan.warnings.add(warning);
    std::string all = canonical_text(document_.log());
    for (const std::string& setting : settings_) all += setting + "\n";
    plan.fingerprint = sha256(all + scenario_fingerprint_);
    return plan;
  }

 private:
  [[nodiscard]] std::string read_name() {
    return root_.text({.name = "name", .doc = "of the study in reports", .fallback = std::string("goodput")});
  }
  [[nodiscard]] bool failed() const { return document_.log().diagnostics().has_errors(); }

  // Relative to this file, as a sweep's is; a name without a file is that of a shipped scenario.
  [[nodiscard]] std::string scenario_file(const std::string& named) {
    const ConfigSource* const file = document_.file();
    if (auto near = near_file(file != nullptr ? file->path : "", named)) return *near;
    const std::string shipped = configs::scenario_path(configs::load_options({}), named);
    std::error_code ignored;
    if (shipped.empty() && std::filesystem::exists(named, ignored)) return named;
    if (shipped.empty()) {
      root_.error("scenario", "E100", fmt::format("there is no file and no shipped scenario '{}'", named),
                  "`ringwright list scenarios` shows all scenarios");
    }
    return shipped;
  }

  [[nodiscard]] ScenarioFacts read_scenario(GoodputPlan& plan) {
    const KnownKeys known;
    ConfigMap set = root_.map("set", "values of the scenario");
    std::vector<std::string> fixed;
    for (const std::string& key : set.keys()) {
      if (!known.has(key)) set.error(key, "E301", known.why_unknown(key));
      fixed.push_back(key + "=" + set.setting(key));
    }
    settings_.insert(settings_.begin(), fixed.begin(), fixed.end());
    if (!wants(root_, "scenario")) {
      if (!settings_.empty()) {
        root_.error("set", "E407", fmt::format("'{}' is a value of a scenario, and the file names none", settings_[0]),
                    "scenario: llama3-405b-16k-h100, or leave it out");
      }
      return {};
    }
    const std::string named = root_.text({.name = "scenario", .doc = "that describes the job; a file, or shipped"});
    if (!root_.documenting()) plan.scenario = scenario_file(named);
    if (root_.documenting() || plan.scenario.empty()) return {};
    const auto scenario = configs::load_scenario(plan.scenario, {.overrides = settings_, .share_folders = {}});
    if (!scenario) {
      foreign_ = scenario.error();
      return {};
    }
    return facts_of(*scenario);
  }

  [[nodiscard]] ScenarioFacts facts_of(const configs::Scenario& scenario) {
    const configs::Job& job = scenario.job;
    ScenarioFacts facts;
    facts.shape = {.gpus = scenario.cluster.gpus(), .gpus_per_host = scenario.cluster.host.gpus};
    facts.saves = scenario.checkpoint.has_value();
    if (scenario.cost) facts.usd_per_gpu_hour = scenario.cost->usd_per_gpu_hour;
    scenario_fingerprint_ = fingerprint_of(scenario);
    if (job.trace && job.trace->replicas > 1) facts.shape.replicas = job.trace->replicas;
    if (!job.trains_transformer() || job.compute == nullptr) return facts;
    // Stages with meshes of their own have different numbers of replicas: no hosts hold the model once.
    if (job.parallel.meshes.empty()) {
      facts.shape.replicas = copies_of_state(job.parallel);
      facts.shape.data_parallel = job.parallel.dp;
    }
    const workload::SavedState state =
        workload::saved_state({.shape = job.model, .training = job.training, .parallel = job.parallel});
    facts.state = state.total;
    facts.rank_state = state.of_largest_rank;
    return facts;
  }

  // The healthy step and every regime once, each by one thread.
  void simulate_steps(GoodputPlan& plan, const RegimeSettings& regimes, const Workers& workers) {
    std::vector<std::vector<std::string>> variants{settings_};
    std::map<std::string, std::size_t> variant_of;
    for (const auto& [name, settings] : regimes) {
      std::vector<std::string> all = settings_;
      all.insert(all.end(), settings.begin(), settings.end());
      const auto same = std::ranges::find(variants, all);
      variant_of[name] = static_cast<std::size_t>(same - variants.begin());
      if (same == variants.end()) variants.push_back(std::move(all));
    }
    for (const auto& [slow, tier] : slow_saves(*plan.operation, regimes)) {
      std::vector<std::string> all = settings_;
      all.insert(all.end(), regimes.at(slow).begin(), regimes.at(slow).end());
      all.insert(all.end(), regimes.at(tier).begin(), regimes.at(tier).end());
      variant_of[both_of(slow, tier)] = variants.size();
      variants.push_back(std::move(all));
    }
    std::vector<Point> points(variants.size());
    PointSource source(plan.scenario);
    each_item(variants.size(), workers, [&](std::size_t i) { points[i] = source.simulate(variants[i]); });
    for (const Point& point : points) {
      if (point.was_simulated()) continue;
      foreign_.add({.code = point.code.empty() ? "E407" : point.code,
                    .place = {.file = plan.scenario},
                    .message = "the scenario has no step time: " + point.reason});
      return;
    }
    Operation& operation = *plan.operation;
    const StepFigures& healthy = points[0].figures;
    if (operation.job.step == JobTime()) {
      operation.job.step = std::max(job_time(healthy.step), JobTime(1));
      operation.job.is_simulated = true;
    }
    if (operation.job.tokens_per_step == 0) {
      operation.job.tokens_per_step = healthy.tokens_per_step;
      operation.job.processed = healthy.processed;
    }
    for (ComponentClass& part : operation.components) {
      if (const auto found = variant_of.find(part.name); found != variant_of.end()) {
        part.slowdown = std::max(1.0, ratio(points[found->second].figures.step, healthy.step));
      }
    }
    for (CheckpointTier& tier : operation.tiers) {
      const auto found = variant_of.find(regime_of(tier));
      if (found != variant_of.end()) save_as_simulated(points[found->second].figures, healthy, tier);
    }
    for (ComponentClass& part : operation.components) {
      for (std::size_t i = 0; i < operation.tiers.size(); ++i) {
        const auto both = variant_of.find(both_of(part.name, regime_of(operation.tiers[i])));
        if (both == variant_of.end()) continue;
        if (part.stalls.empty()) {
          for (const CheckpointTier& tier : operation.tiers) part.stalls.push_back(tier.stall);
        }
        const Duration alone = points[variant_of.at(part.name)].figures.step;
        part.stalls[i] = job_time(std::max(Duration(), points[both->second].figures.step - alone));
      }
    }
  }

  // Steps that are slow and save at once: the names of both regimes.
  static std::vector<std::pair<std::string, std::string>> slow_saves(const Operation& operation,
                                                                     const RegimeSettings& regimes) {
    std::vector<std::pair<std::string, std::string>> pairs;
    for (const ComponentClass& part : operation.components) {
      for (const CheckpointTier& tier : operation.tiers) {
        if (regimes.contains(part.name) && regimes.contains(regime_of(tier)))
          pairs.emplace_back(part.name, regime_of(tier));
      }
    }
    return pairs;
  }
  static std::string both_of(const std::string& slow, const std::string& tier) { return slow + " and " + tier; }

  void save_as_simulated(const StepFigures& saving, const StepFigures& healthy, CheckpointTier& tier) {
    if (!saving.checkpoint_takes) {
      foreign_.add(
          {.code = "E405",
           .place = {.file = document_.file() != nullptr ? document_.file()->path : ""},
           .message = fmt::format("no checkpoint is simulated for '{}': the scenario's network model shares no links",
                                  regime_of(tier)),
           .hint = "simulate.network: flow"});
      return;
    }
    const Duration stall = std::max(Duration(), saving.step - healthy.step);
    tier.stall = job_time(stall);
    tier.write = job_time(std::max(Duration(), *saving.checkpoint_takes - stall));
  }

  void read_policies(GoodputPlan& plan) {
    ConfigMap recovery = root_.map("recovery", "what the job does after a fault");
    std::vector<Option> options;
    for (const PolicyEntry& entry : recovery_policies()) options.push_back({entry.name, entry.help});
    const std::string chosen =
        recovery.choice({.name = "policy", .doc = "of the job", .fallback = std::string("restart")}, options);
    std::vector<std::string> names{chosen};
    for (const std::string& name :
         recovery.texts({.name = "compare", .doc = "further policies, under the same faults; or `all`"})) {
      for (const PolicyEntry& entry : recovery_policies()) {
        if ((name == "all" || name == entry.name) && std::ranges::find(names, entry.name) == names.end()) {
          names.emplace_back(entry.name);
        }
      }
      if (name != "all" && find_policy(name) == nullptr) {
        recovery.error("compare", "E403", fmt::format("there is no recovery policy '{}'", name),
                       "one of those that recovery.policy takes, or all");
      }
    }
    for (const PolicyEntry& entry : recovery_policies()) {
      // Settings of policies that are not simulated are read, so that they are checked.
      ConfigMap settings = recovery.map(entry.name, entry.help);
      auto policy = entry.make(settings, *plan.operation);
      const auto place = std::ranges::find(names, entry.name);
      if (place == names.end()) {
        if (!root_.documenting()) warn_of_idle_policy(recovery, entry.name);
        continue;
      }
      std::string refusal = entry.refusal != nullptr ? entry.refusal(*plan.operation) : std::string();
      if (place == names.begin() && !refusal.empty()) {
        recovery.error("policy", "E403", fmt::format("policy '{}' is not possible: {}", entry.name, refusal));
      }
      plan.policies.push_back({.name = *place,
                               .refusal = std::move(refusal),
                               .policy = std::move(policy),
                               .copies_for_nothing = entry.copies_state && !settings.has("bandwidth")});
    }
    const auto is_chosen = [&](const NamedPolicy& policy) { return policy.name == chosen; };
    std::ranges::stable_partition(plan.policies, is_chosen);
  }

  ConfigDocument document_;
  ConfigMap root_;
  std::vector<std::string> settings_;
  Diagnostics foreign_;
  std::string scenario_fingerprint_;
};

LoadOptions goodput_options(const std::vector<std::string>& settings) {
  LoadOptions options = configs::load_options({});
  options.overrides = settings;
  options.presets = {{.path = "", .folder = "operation"}};
  options.imports.clear();
  return options;
}

}  // namespace

std::vector<KeyDoc> goodput_keys() {
  return GoodputReader::keys();
}

Result<GoodputPlan> load_goodput(const std::string& path, const std::vector<std::string>& settings,
                                 const Workers& workers) {
  SplitSettings split = split_settings(settings);
  const auto file = configs::find_shipped({.folder = "operation", .what = "goodput file"}, path);
  if (!file) return tl::unexpected(file.error());
  auto document = ConfigDocument::load(*file, goodput_options(split.own));
  if (!document) return tl::unexpected(document.error());
  return GoodputReader(std::move(*document), std::move(split.scenario)).read(workers);
}

Result<GoodputPlan> load_goodput_text(const std::string& name, std::string_view text,
                                      const std::vector<std::string>& settings, const Workers& workers) {
  SplitSettings split = split_settings(settings);
  auto document = ConfigDocument::load_text(name, text, goodput_options(split.own));
  if (!document) return tl::unexpected(document.error());
  return GoodputReader(std::move(*document), std::move(split.scenario)).read(workers);
}

}  // namespace ringwright::planning
