#include "planning/sweep/sweep_file.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>

#include <fmt/format.h>

#include "configs/scenario/result_name.h"
#include "configs/scenario/shipped_file.h"
#include "core/config/config_document.h"
#include "core/config/near_file.h"
#include "planning/study/known_keys.h"

namespace ringwright::planning {
namespace {

constexpr std::array kSweepObjectives{Option{"step_time", "the shortest training step"},
                                      Option{"tokens_per_s", "the most tokens per second of the whole job"},
                                      Option{"tokens_per_s_per_gpu", "the most tokens per second of a GPU"},
                                      Option{"mfu", "the highest model FLOP utilisation"},
                                      Option{"memory", "the least memory on the fullest GPU"},
                                      Option{"cost", "the least money per token; the scenario has a 'cost'"}};
constexpr std::array kScales{Option{"linear", "equal steps"}, Option{"log", "equal ratios"}};
constexpr std::string_view kSampleCode = "E303";

class SweepReader {
 public:
  explicit SweepReader(ConfigMap root) : root_(root) {}

  [[nodiscard]] SweepPlan read() {
    SweepPlan plan;
    static_cast<void>(root_.integer({.name = "version", .doc = "of this format", .fallback = 1, .min = 1, .max = 1}));
    plan.name = root_.text({.name = "name", .doc = "name of the sweep in reports", .fallback = std::string("sweep")});
    configs::check_result_name(root_, plan.name);
    plan.scenario = root_.text({.name = "scenario", .doc = "the scenario that is varied: a file, or a shipped one"});
    plan.seed = static_cast<std::uint64_t>(
        root_.integer({.name = "seed", .doc = "of random samples", .fallback = 1, .min = 0}));
    plan.objective = objective_named(root_.choice(
        {.name = "objective", .doc = "what ranks the points", .fallback = std::string("step_time")}, kSweepObjectives));
    ConfigMap fixed = root_.map("set", "values of all points");
    for (const std::string& key : fixed.keys()) {
      if (is_new_key(fixed, key)) plan.settings.push_back(key + "=" + fixed.setting(key));
    }
    read_grid(plan);
    read_list(plan);
    read_samples("random", Sampling::kRandom, plan);
    read_samples("latin_hypercube", Sampling::kLatinHypercube, plan);
    constexpr std::array kBlocks{"grid", "list", "random", "latin_hypercube"};
    if (plan.blocks.empty() && std::ranges::none_of(kBlocks, [&](const char* name) { return root_.has(name); })) {
      root_.error("", "E300", "the sweep varies nothing",
                  "give it a grid, a list, random or latin_hypercube, as: grid: { parallel.tp: [4, 8] }");
    }
    read_conditions(plan);
    return plan;
  }

 private:
  // Records a key that no scenario has, or that the sweep sets twice.
  bool is_new_key(ConfigMap& map, const std::string& key) {
    if (!known_.has(key)) {
      map.error(key, "E301", known_.why_unknown(key), "`ringwright explain KEY` describes the keys of scenarios");
      static_cast<void>(map.setting(key));
      return false;
    }
    for (const std::string& other : used_) {
      const bool within = key.size() > other.size() ? key.starts_with(other + ".") : other.starts_with(key + ".");
      if (key != other && !within) continue;
      map.error(key, "E300",
                key == other ? fmt::format("'{}' is given twice: each key stands in one of set, grid, list, random and "
                                           "latin_hypercube",
                                           key)
                             : fmt::format("'{}' is given, and '{}' as well, which holds the same value", key, other),
                "leave it in one place");
      static_cast<void>(map.setting(key));
      return false;
    }
    used_.push_back(key);
    return true;
  }

  void read_grid(SweepPlan& plan) {
    ConfigMap grid = root_.map("grid", "keys with their values; all combinations are points");
    for (const std::string& key : grid.keys()) {
      if (!is_new_key(grid, key)) continue;
      SweepBlock block{.keys = {key}, .entries = {}};
      std::set<std::string> seen;
      for (std::string& value : grid.settings(key)) {
        if (seen.insert(value).second) block.entries.push_back({std::move(value)});
      }
      if (block.entries.empty()) grid.error(key, "E300", fmt::format("'{}' has no values", key));
      plan.blocks.push_back(std::move(block));
    }
  }

  void read_list(SweepPlan& plan) {
    std::vector<ConfigMap> maps = root_.maps("list", "points one by one, each a map of keys and values");
    if (maps.empty()) {
      if (root_.has("list") && root_.setting("list") == "[]") root_.error("list", "E300", "'list' has no points");
      return;
    }
    SweepBlock block;
    for (ConfigMap& map : maps) {
      for (const std::string& key : map.keys()) {
        if (std::ranges::find(block.keys, key) == block.keys.end() && is_new_key(map, key)) block.keys.push_back(key);
      }
    }
    std::set<std::vector<std::string>> seen;
    for (ConfigMap& map : maps) {
      std::vector<std::string> entry;
      for (const std::string& key : block.keys) entry.push_back(map.setting(key));
      if (seen.insert(entry).second) block.entries.push_back(std::move(entry));
    }
    plan.blocks.push_back(std::move(block));
  }

  void read_samples(std::string_view name, Sampling sampling, SweepPlan& plan) {
    if (!root_.has(name) && !root_.documenting()) return;
    ConfigMap map = root_.map(name, "values drawn for several keys at once");
    SampleBlock samples{.sampling = sampling, .samples = 0, .keys = {}};
    samples.samples = static_cast<std::size_t>(map.integer(
        {.name = "samples", .doc = "how many", .min = 1, .max = static_cast<std::int64_t>(kMostSweepPoints)}));
    ConfigMap keys = map.map("keys", "for each key a list, or {from: 100Gbps, to: 800Gbps, scale: log}");
    for (const std::string& key : keys.keys()) {
      if (!is_new_key(keys, key)) continue;
      if (auto sampled = read_sampled(keys, key)) samples.keys.push_back(std::move(*sampled));
    }
    if (samples.keys.empty()) {
      map.error("keys", std::string(kSampleCode), fmt::format("'{}' draws values of no key", map.path()));
      return;
    }
    SweepBlock block{.keys = {}, .entries = draw(samples, plan.seed)};
    for (const SampledKey& key : samples.keys) block.keys.push_back(key.key);
    plan.blocks.push_back(std::move(block));
  }

  // A range is a map with `from`; anything else is a list.
  std::optional<SampledKey> read_sampled(ConfigMap& keys, const std::string& key) {
    if (!keys.setting(key).starts_with('{')) {
      SampledKey sampled{.key = key, .range = {}, .choices = keys.settings(key)};
      if (!sampled.choices.empty()) return sampled;
      keys.error(key, std::string(kSampleCode), fmt::format("'{}' has no values", key));
      return std::nullopt;
    }
    ConfigMap map = keys.map(key, "a range");
    const std::string from = map.text({.name = "from", .doc = "the lowest value, with its unit"});
    const std::string to = map.text({.name = "to", .doc = "the highest value, with its unit"});
    const std::string scale =
        map.choice({.name = "scale", .doc = "how values spread", .fallback = std::string("linear")}, kScales);
    auto range = make_range(from, to, scale == "log" ? Scale::kLogarithmic : Scale::kLinear);
    if (range) return SampledKey{.key = key, .range = std::move(*range), .choices = {}};
    if (!from.empty() && !to.empty()) map.error("from", std::string(kSampleCode), key + ": " + range.error());
    return std::nullopt;
  }

  void read_conditions(SweepPlan& plan) {
    for (const std::string& text : root_.texts({.name = "where", .doc = "conditions that every point meets"})) {
      auto condition = Condition::parse(text);
      if (!condition) {
        root_.error("where", "E302", fmt::format("'{}': {}", text, condition.error()),
                    "as: parallel.tp * parallel.pp <= 64");
        continue;
      }
      for (const std::string& key : condition->keys()) {
        if (known_.has(key)) continue;
        root_.error("where", "E301", fmt::format("'{}': {}", text, known_.why_unknown(key)));
      }
      plan.conditions.push_back(std::move(*condition));
    }
  }

  ConfigMap root_;
  KnownKeys known_;
  std::vector<std::string> used_;
};

Result<SweepPlan> read_sweep(ConfigDocument document) {
  SweepPlan plan = SweepReader(document.root()).read();
  document.check_all_read();
  if (!document.log().diagnostics().has_errors() && plan.size() > kMostSweepCombinations) {
    document.root().error(
        "", "E304",
        fmt::format("there are {} combinations, and at most {} are looked at", plan.size(), kMostSweepCombinations),
        "leave out values, or draw fewer samples");
  }
  if (document.log().diagnostics().has_errors()) return tl::unexpected(document.log().diagnostics());
  // Relative to the sweep file, as `extends` is; a name without a file is that of a shipped scenario.
  const ConfigSource* const file = document.file();
  plan.scenario = near_file(file != nullptr ? file->path : "", plan.scenario).value_or(plan.scenario);
  return plan;
}

}  // namespace

std::string_view to_string(SweepObjective objective) {
  return kSweepObjectives[static_cast<std::size_t>(objective)].name;
}

std::vector<std::string> sweep_objective_names() {
  std::vector<std::string> names;
  for (const Option& option : kSweepObjectives) names.emplace_back(option.name);
  return names;
}

SweepObjective objective_named(std::string_view name) {
  const auto found = std::ranges::find(kSweepObjectives, name, &Option::name);
  const auto index = found == kSweepObjectives.end() ? 0 : found - kSweepObjectives.begin();
  return static_cast<SweepObjective>(index);
}

std::vector<std::string> SweepPlan::keys() const {
  std::vector<std::string> all;
  for (const SweepBlock& block : blocks) all.insert(all.end(), block.keys.begin(), block.keys.end());
  return all;
}

std::size_t SweepPlan::size() const {
  std::size_t product = blocks.empty() ? 0 : 1;
  for (const SweepBlock& block : blocks) {
    if (block.entries.empty()) return 0;
    if (product > 100 * kMostSweepCombinations) return product;  // more would not fit
    product *= block.entries.size();
  }
  return product;
}

std::vector<KeyValue> SweepPlan::values(std::size_t index) const {
  std::vector<std::size_t> entry(blocks.size());
  for (std::size_t b = blocks.size(); b-- > 0;) {
    entry[b] = index % blocks[b].entries.size();
    index /= blocks[b].entries.size();
  }
  std::vector<KeyValue> values;
  for (std::size_t b = 0; b < blocks.size(); ++b) {
    for (std::size_t k = 0; k < blocks[b].keys.size(); ++k) {
      const std::string& value = blocks[b].entries[entry[b]][k];
      if (!value.empty()) values.push_back({.key = blocks[b].keys[k], .value = value});
    }
  }
  return values;
}

Result<SweepPlan> load_sweep(const std::string& path) {
  if (const auto found = configs::find_study("sweep file", path); !found) return tl::unexpected(found.error());
  auto document = ConfigDocument::load(path);
  if (!document) return tl::unexpected(document.error());
  return read_sweep(std::move(*document));
}

Result<SweepPlan> load_sweep_text(const std::string& name, std::string_view text) {
  auto document = ConfigDocument::load_text(name, text);
  if (!document) return tl::unexpected(document.error());
  return read_sweep(std::move(*document));
}

}  // namespace ringwright::planning
