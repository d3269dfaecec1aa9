// Every key of the schema: in every model it changes a result, or is listed as without effect, or is refused; a key
// that is listed changes no result. A key without a row in key_trials.txt fails.
#include "configs/scenario/key_effects.h"

#include <algorithm>
#include <fstream>
#include <map>
#include <optional>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "configs/scenario/known_files.h"
#include "configs/simulation/simulate.h"
#include "core/base/text.h"
#include "tests/configs/key_trials.h"
#include "tests/configs/played.h"

namespace ringwright::configs::key_effects_test {
namespace {

using testing::IsEmpty;

bool is_map(const KeyDoc& doc) { return doc.type == KeyType::kMap || doc.type == KeyType::kMaps; }

// The report of a run, without its configuration and this machine.
struct Said {
  std::string result;
  std::string numbers;        // the result without warnings
  std::string configuration;  // its hash
  std::vector<std::string> ignored;
  std::set<std::string> in_part;  // those of them that act on a part of the run
};

enum class Warnings { kShown, kLeftOut };

std::string result_of(Report report, Warnings warnings) {
  StepFacts& facts = report.facts;
  facts.config.clear();
  facts.config_sha256.clear();
  facts.ignored.clear();
  if (warnings == Warnings::kLeftOut) facts.warnings.clear();
  std::erase_if(facts.warnings, [](const ReportWarning& warning) { return warning.code == "W131"; });
  for (ReportWarning& warning : facts.warnings) warning.where.clear();
  facts.assumptions.clear();
  facts.evidence.resize(std::min<std::size_t>(facts.evidence.size(), 1));  // others include the position
  facts.seed = 0;
  facts.engine.wall_seconds = 0.0;
  facts.engine.peak_memory = Bytes(0);
  return render_json(report);
}

std::optional<Said> run(const std::string& base, const Settings& settings, KnownFiles& files) {
  const auto scenario =
      load_scenario_text("test.yaml", base, {.overrides = settings, .share_folders = {}, .known = &files});
  if (!scenario) return std::nullopt;
  auto outcome = simulate(*scenario, FoldMode::kFold);
  if (!outcome) return std::nullopt;
  if (!outcome->report) {
    const std::string stall = "stalled: " + render(outcome->stall);
    return Said{.result = stall, .numbers = stall, .configuration = {}, .ignored = {}, .in_part = {}};
  }
  Said said;
  for (const IgnoredKnob& ignored : outcome->report->facts.ignored) {
    said.ignored.push_back(ignored.path);
    if (ignored.why.starts_with(kInPart)) said.in_part.insert(ignored.path);
  }
  said.configuration = outcome->report->facts.config_sha256;
  said.numbers = result_of(*outcome->report, Warnings::kLeftOut);
  said.result = result_of(std::move(*outcome->report), Warnings::kShown);
  return said;
}

// "faults[].at" is listed as "faults[0].at", or within a list of a whole map.
bool holds_key(const auto& paths, std::string key) {
  if (const std::size_t at = key.find("[]"); at != std::string::npos) key.insert(at + 1, "0");
  return std::ranges::any_of(paths, [&](const std::string& path) {
    return path == key || path.starts_with(key + "[") || key.starts_with(path + ".");
  });
}

bool lists(const Said& said, const std::string& key) { return holds_key(said.ignored, key); }
bool in_part(const Said& said, const std::string& key) { return holds_key(said.in_part, key); }

struct Situation {
  const char* name;
  const char* settings;
};
constexpr std::array kRungs = {
    Situation{"defaults", ""},
    Situation{"alpha_beta", "simulate.network=alpha_beta"},
    Situation{"astra_unaware", "simulate.network=astra_unaware"},
    Situation{"closed_form", "collectives.model=closed_form"},
    Situation{"steps alone", "collectives.model=steps;collectives.overhead=none"},
    Situation{"chunks", "collectives.model=chunks"},
    Situation{"roofline", "compute.model=roofline"},
    Situation{"interference", "interference.model=share"},
    Situation{"NCCL's tuner", "collectives.tuner=nccl"},
};
constexpr std::array kFabrics = {
    Situation{"fat_tree", "cluster.fabric.type=fat_tree"},
    Situation{"rail_only", "cluster.fabric.type=rail_only"},
    Situation{"torus", "cluster.fabric.type=torus;cluster.fabric.dims=[4]"},
    Situation{"dragonfly", "cluster.fabric.type=dragonfly;cluster.fabric.switches=1;cluster.fabric.nodes_per_switch=2"},
    Situation{"one host", "cluster.nodes=1;cluster.node.gpus=8;cluster.fabric.type=single_node"},
    Situation{"nothing offloaded",
              "parallel.zero.offload_optimizer.device=none;parallel.zero.offload_param.device=none"},
};
constexpr std::array kLayouts = {
    Situation{"pp 1", "parallel.pp=1"},
    Situation{"tp 1", "parallel.tp=1"},
    Situation{"dp 1", "cluster.nodes=2"},
    Situation{"ZeRO 1", "parallel.zero.stage=1"},
    Situation{"ZeRO 3", "parallel.zero.stage=3;parallel.pp=1"},
    Situation{"FSDP",
              "parallel.pp=1;parallel.tp=1;training.global_batch=16;parallel.fsdp.sharding_strategy=full_shard"},
    Situation{"nothing offloaded",
              "parallel.zero.offload_optimizer.device=none;parallel.zero.offload_param.device=none"},
    Situation{"experts", "parallel.sequence_parallel=true;parallel.ep=2;model.num_experts=4;model.moe_router_topk=2"},
};

// Of one GPU and its model: models of the network make no difference to them.
constexpr std::array kComputing = {
    Situation{"defaults", ""},
    Situation{"chunks", "collectives.model=chunks"},
    Situation{"roofline", "compute.model=roofline"},
};

std::vector<Situation> situations_of(const std::string& key) {
  const auto is_below = [&key](std::string_view part) { return key.starts_with(part); };
  if (is_below("cluster.node.gpu.") || is_below("model")) return {kComputing.begin(), kComputing.end()};
  const bool layout = is_below("parallel") || is_below("training");
  std::vector<Situation> all(kRungs.begin(), kRungs.end());
  if (layout) all.assign(kComputing.begin(), kComputing.end());
  if (is_below("cluster")) all.insert(all.end(), kFabrics.begin(), kFabrics.end());
  if (layout) all.insert(all.end(), kLayouts.begin(), kLayouts.end());
  return all;
}

class Section : public testing::TestWithParam<const char*> {
 protected:
  // Empty: in order, or refused.
  std::string silent(const KeyTrial& trial, const Situation& situation) {
    Settings settings = trial.with;
    for (const std::string& setting : split_settings(situation.settings)) settings.push_back(setting);
    Settings changed = settings;
    settings.insert(settings.end(), trial.before.begin(), trial.before.end());
    const bool other = trial.value.find("=[{") != std::string::npos;
    for (const std::string& setting : split_settings(other ? trial.value : trial.key + "=" + trial.value)) {
      changed.push_back(setting);
    }
    const std::string base = trial_base(trial.key);
    const std::optional<Said>& before = known(base, settings);
    if (!before) return {};
    const std::optional<Said> after = run(base, changed, files_);
    if (after && after->configuration == before->configuration && !lists(*after, trial.key)) return {};
    ++tried_;
    const bool listed = after && lists(*after, trial.key);
    if (listed && !in_part(*after, trial.key) && after->numbers != before->numbers) {
      return fmt::format("{} = {} changes a result and is listed as without effect ({}): --set {}", trial.key,
                         trial.value, situation.name, fmt::join(changed, " --set "));
    }
    if (!after || after->result != before->result || listed) return {};
    return fmt::format("{} = {} changes nothing and is not listed ({}): --set {}", trial.key, trial.value,
                       situation.name, fmt::join(changed, " --set "));
  }
  [[nodiscard]] int tried() const { return tried_; }

 private:
  const std::optional<Said>& known(const std::string& base, const Settings& settings) {
    const auto [entry, is_new] = known_.try_emplace({base, settings});
    if (is_new) entry->second = run(base, settings, files_);
    return entry->second;
  }

  KnownFiles files_;
  std::map<std::pair<std::string, Settings>, std::optional<Said>> known_;
  int tried_ = 0;
};

TEST_P(Section, EveryKeyEitherChangesAResultOrIsListedOnEveryRung) {
  const std::string section = GetParam();
  std::vector<std::string> silent_ones;
  for (const KeyTrial& trial : read_key_trials()) {
    if (trial.key.substr(0, trial.key.find_first_of(".[")) != section) continue;
    if (trial.value.starts_with("UNTRIED")) continue;
    const int tried_before = tried();
    for (const Situation& situation : situations_of(trial.key)) {
      const std::string problem = silent(trial, situation);
      if (!problem.empty()) silent_ones.push_back(problem);
    }
    if (tried() == tried_before) silent_ones.push_back(trial.key + ": no situation takes what its row is tried with");
  }
  EXPECT_THAT(silent_ones, IsEmpty()) << fmt::format("{}", fmt::join(silent_ones, "\n"));
}

INSTANTIATE_TEST_SUITE_P(Keys, Section,
                         testing::Values("cluster", "interference", "model", "training", "parallel", "compute",
                                         "memory", "collectives", "comm", "simulate", "faults", "background",
                                         "report", "published", "search", "version", "megatron", "name", "layer_table",
                                         "recommendation", "workload", "data_pipeline"));

// One collective alone, as the command `collective` runs it, has no job.
TEST(KeyEffects, OfAMachineAreListedLikeThoseOfAJob) {
  const std::string text = "version: 1\ncluster: {nodes: 2, node: {preset: dgx-h100}}\n";
  const auto listed = [&](const Settings& settings) {
    const auto machine = load_machine_text("machine", text, {.overrides = settings, .share_folders = {}});
    std::map<std::string, std::string> reasons;
    if (!machine) return reasons;
    for (const IgnoredKey& key : machine->document.log().ignored()) reasons[key.path] = key.why;
    return reasons;
  };
  const std::string ring = "comm.env.NCCL_ALGO=ring";
  EXPECT_THAT(listed({ring}), IsEmpty());
  EXPECT_THAT(listed({ring, "collectives.model=steps", "collectives.tuner=simple"})["comm.env.NCCL_ALGO"],
              testing::StartsWith(kInPart));
  EXPECT_THAT(listed({ring, "collectives.model=steps", "collectives.tuner=simple", "collectives.overhead=none"})
                  ["comm.env.NCCL_ALGO"],
              testing::StartsWith("NCCL is not used"));
  EXPECT_THAT(listed({"comm.costs.host.call=9us"}), IsEmpty()) << "back-to-back calls wait for their thread";
}

TEST(KeyEffects, TransposesThatNoGpuStoresAreListed) {
  const auto reason = [](const std::string& node) {
    const auto scenario = load_scenario_text(
        "fp8", "version: 1\nmodel: llama3-8b\ncluster: {nodes: 1, node: " + node +
                   "}\nparallel: {tp: 8}\ntraining: {global_batch: 8, fp8_recipe: delayed, fp8_param_gather: true, "
                   "disable_parameter_transpose_cache: true}\n",
        {.overrides = {}, .share_folders = {}});
    std::map<std::string, std::string> reasons;
    if (!scenario) return render(scenario.error());
    for (const IgnoredKey& key : scenario->document.log().ignored()) reasons[key.path] = key.why;
    return reasons["training.disable_parameter_transpose_cache"];
  };
  EXPECT_THAT(reason("dgx-h100"), IsEmpty());
  EXPECT_THAT(reason("dgx-b200"), testing::HasSubstr("the GPU's fp8 GEMMs read either layout"));
}

TEST(KeyTrials, ThereIsOneForEveryKey) {
  std::set<std::string> tried, known;
  for (const KeyTrial& trial : read_key_trials()) tried.insert(trial.key);
  for (const KeyDoc& doc : scenario_keys()) {
    if (!is_map(doc)) known.insert(doc.path);
  }
  // The node of a group is read by the readers of cluster.node, whose keys are tried there.
  constexpr std::string_view kOfGroup = "cluster.groups[].node.";
  std::erase_if(known, [&](const std::string& key) {
    return key.starts_with(kOfGroup) && tried.contains("cluster.node." + key.substr(kOfGroup.size()));
  });
  std::vector<std::string> missing, unknown;
  std::ranges::set_difference(known, tried, std::back_inserter(missing));
  std::ranges::set_difference(tried, known, std::back_inserter(unknown));
  EXPECT_THAT(missing, IsEmpty()) << "give them a row in tests/configs/key_trials.txt";
  EXPECT_THAT(unknown, IsEmpty());
}

}  // namespace
}  // namespace ringwright::configs::key_effects_test
