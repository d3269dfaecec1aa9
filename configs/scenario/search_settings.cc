#include "configs/scenario/search_settings.h"

#include <algorithm>
#include <array>
#include <span>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "core/base/text.h"
#include "workload/builtin.h"

namespace ringwright::configs {
namespace {

constexpr std::array kObjectives{
    Option{"step_time", "the shortest training step"}, Option{"tokens_per_s", "the most tokens per second of a GPU"},
    Option{"mfu", "the highest model FLOP utilisation"}, Option{"memory", "the least memory on the fullest GPU"}};

struct NumberAxis {
  std::string_view name;
  std::string_view doc;
};
constexpr std::array kNumbers{
    NumberAxis{"tp", "tensor-parallel sizes; without: those up to the GPUs of a host that divide heads, MLP and GPUs"},
    NumberAxis{"pp", "pipeline stages; without: divisors of the GPUs, up to the layers"},
    NumberAxis{"virtual_stages", "model chunks per stage; without: 1, and divisors of the layers up to 8"},
    NumberAxis{"cp", "context-parallel sizes; without: 1, and powers of two that leave a rank 4,096 tokens or more"},
    NumberAxis{"ep", "expert-parallel sizes; without: divisors of the experts"},
    NumberAxis{"micro_batch", "sequences of a microbatch; without: 1, 2, 4 and 8, where they divide the global batch"}};

// Words of an axis that are not names of another table.
constexpr std::array kSharding{
    Option{"none", "every data-parallel rank holds everything"},
    Option{"zero-1", "optimizer state over data-parallel ranks (Megatron's distributed optimizer)"},
    Option{"zero-2", "gradients, too"}, Option{"zero-3", "parameters, too, as DeepSpeed does it"},
    Option{"fsdp", "parameters, gradients and optimizer state, as PyTorch does it"}};
constexpr std::array kRecompute{Option{"none", ""}, Option{"selective", ""}, Option{"selective-ops", ""},
                                Option{"except-saved", ""}, Option{"full", ""}};
constexpr std::array kStageLayers{Option{"even", ""}, Option{"filled", ""}, Option{"balanced", ""},
                                  Option{"balanced-memory", ""}, Option{"trim-ends", ""}, Option{"alpa", ""}};
constexpr std::array kBooleans{Option{"true", ""}, Option{"false", ""}};

struct WordAxis {
  std::string_view name;
  std::string_view doc;
  std::span<const Option> options;  // none: checked where the space is built
};
constexpr std::array kWords{
    WordAxis{"etp", "tensor-parallel sizes of experts, numbers or `tp`; without: 1 and tp", {}},
    WordAxis{"recompute", "as training.recompute; without: none, selective, full, and the scenario's own", kRecompute},
    WordAxis{
        "sharding",
        "none, zero-1, zero-2, zero-3, fsdp; without: none, zero-1, fsdp (without pipelines), and the scenario's own",
        kSharding},
    WordAxis{"schedule",
             "as parallel.schedule, where 1f1b interleaves virtual stages; without: 1f1b, and the scenario's own",
             {}},
    WordAxis{"stage_layers",
             "as parallel.stage_layers, or alpa: layers and ranks of every stage by dynamic programming; without: even "
             "and balanced",
             kStageLayers},
    WordAxis{"sequence_parallel", "true, false or both, where tp is above 1; without: true", kBooleans}};

void refuse_word(ConfigMap& map, std::string_view key, const std::string& word, std::vector<std::string> names) {
  const std::string near = nearest_name(word, names);
  map.error(key, "E107",
            fmt::format("'{}' names '{}'{}", map.path_of(key), word,
                        near.empty() ? "" : fmt::format("; did you mean '{}'?", near)),
            "some of: " + join(names, ", "));
}

std::vector<std::string> option_names(std::span<const Option> options) {
  std::vector<std::string> names;
  for (const Option& option : options) names.emplace_back(option.name);
  return names;
}

std::vector<std::string> schedule_names() {
  std::vector<std::string> names;
  for (const workload::ScheduleEntry& entry : workload::schedules()) names.emplace_back(entry.name);
  return names;
}

bool is_size(const std::string& word) {
  return !word.empty() && word.size() < 7 && word.front() != '0' &&
         word.find_first_not_of("0123456789") == std::string::npos;
}

bool is_known(const WordAxis& axis, const std::string& word) {
  if (axis.name == "etp") return word == "tp" || is_size(word);
  const std::vector<std::string> names = axis.name == "schedule" ? schedule_names() : option_names(axis.options);
  return std::ranges::find(names, word) != names.end();
}

void check_words(ConfigMap& map, const WordAxis& axis, std::span<const std::string> words) {
  for (const std::string& word : words) {
    if (is_known(axis, word)) continue;
    refuse_word(map, axis.name, word,
                axis.name == "etp"        ? std::vector<std::string>{"tp", "1", "2", "4"}
                : axis.name == "schedule" ? schedule_names()
                                          : option_names(axis.options));
  }
}

// Duplicate values would be tried twice.
void add_axis(std::string name, std::vector<std::string> values, SearchSettings& settings) {
  std::vector<std::string> once;
  for (std::string& value : values) {
    if (std::ranges::find(once, value) == once.end()) once.push_back(std::move(value));
  }
  if (!once.empty()) settings.given.push_back({.name = std::move(name), .values = std::move(once)});
}

void read_axes(ConfigMap& map, SearchSettings& settings) {
  for (const NumberAxis& axis : kNumbers) {
    std::vector<std::string> values;
    for (const std::int64_t value : map.integers({.name = axis.name, .doc = axis.doc, .min = 1, .max = 1'000'000})) {
      values.push_back(std::to_string(value));
    }
    add_axis(std::string(axis.name), std::move(values), settings);
  }
  for (const WordAxis& axis : kWords) {
    std::vector<std::string> words = map.texts({.name = axis.name, .doc = axis.doc});
    check_words(map, axis, words);
    add_axis(std::string(axis.name), std::move(words), settings);
  }
}

void read_others(ConfigMap& map, SearchSettings& settings) {
  for (ConfigMap& other :
       map.maps("vary", "further keys of `parallel`, `training`, `compute` and `memory` that are varied")) {
    const std::string key = other.text({.name = "key", .doc = "\"parallel.overlap_p2p_comm\""});
    std::vector<std::string> values = other.texts({.name = "values", .doc = "the values to try, in order"});
    if (other.documenting()) continue;
    if (const std::string why = why_not_varied(key); !why.empty()) other.error("key", "E153", why);
    if (values.empty()) other.error("values", "E153", fmt::format("'{}' has no values", other.path()));
    add_axis(key, std::move(values), settings);
  }
}

Objective read_objective(ConfigMap& map) {
  const std::string name =
      map.choice({.name = "objective", .doc = "what the search optimizes", .fallback = "step_time"}, kObjectives);
  for (const Objective objective :
       {Objective::kTokensPerSecond, Objective::kModelFlopUtilisation, Objective::kMemory}) {
    if (name == to_string(objective)) return objective;
  }
  return Objective::kStepTime;
}

}  // namespace

std::string_view to_string(Objective objective) {
  return kObjectives[static_cast<std::size_t>(objective)].name;
}

std::string axis_of(std::string_view key) {
  std::string_view name = key;
  for (const std::string_view map : {"parallel.", "training.", "search."}) {
    if (name.starts_with(map)) name.remove_prefix(map.size());
  }
  const bool known = std::ranges::find(kNumbers, name, &NumberAxis::name) != kNumbers.end() ||
                     std::ranges::find(kWords, name, &WordAxis::name) != kWords.end();
  return known ? std::string(name) : std::string();
}

std::string why_not_varied(std::string_view key) {
  constexpr std::array kFiles{"training.deepspeed", "parallel.fsdp_config", "parallel.tp_comm_overlap_cfg",
                              "parallel.schedule_file"};
  constexpr std::array kMaps{"parallel.", "training.", "compute.", "memory."};
  if (const std::string axis = axis_of(key); !axis.empty()) {
    return fmt::format("'{}' is a separate axis: search.{}", key, axis);
  }
  if (key == "parallel.zero.stage" || key == "parallel.fsdp")
    return fmt::format("'{}' is varied as search.sharding", key);
  if (key == "parallel.dp") return "'parallel.dp' follows from the GPUs and tp, pp and cp";
  if (std::ranges::find(kFiles, key) != kFiles.end()) return fmt::format("'{}' names a file, which is read once", key);
  if (std::ranges::any_of(kMaps,
                          [key](std::string_view map) { return key.starts_with(map) && key.size() > map.size(); })) {
    return {};
  }
  std::vector<std::string> axes;
  for (const NumberAxis& axis : kNumbers) axes.emplace_back(axis.name);
  for (const WordAxis& axis : kWords) axes.emplace_back(axis.name);
  const std::string near = nearest_name(key, axes);
  if (!near.empty()) return fmt::format("there is no axis '{}'; did you mean '{}'?", key, near);
  return fmt::format(
      "'{}' is not a key of the job: only keys of parallel, training, compute and memory are varied, on one machine "
      "with one model",
      key);
}

SearchSettings read_search(ConfigMap root) {
  SearchSettings settings;
  // Without the block there is nothing to record: its defaults do not belong to a scenario that is run.
  if (!root.has("search") && !root.documenting()) return settings;
  ConfigMap map = root.map("search", "the layouts among which `ringwright search` finds the best");
  read_axes(map, settings);
  read_others(map, settings);
  settings.objective = read_objective(map);
  settings.max_memory =
      map.bytes({.name = "max_memory", .doc = "memory that a GPU may use; 0B: all it has", .fallback = Bytes(0)});
  const bool given = map.has("skip_slower");
  const bool skips =
      map.boolean({.name = "skip_slower",
                   .doc = "count layouts, and do not predict them, of which a bound shows that they are neither among "
                          "the best, nor the fastest with a choice, nor on the front of time and memory; not given: "
                          "where more than 500 fit, and no list of all of them is asked for",
                   .fallback = false});
  if (given) settings.skip_slower = skips ? SkipSlower::kAlways : SkipSlower::kNever;
  if (skips && settings.objective != Objective::kStepTime) {
    map.error("skip_slower", "E153",
              fmt::format("bounds are known of a step's time, and the objective is {}", to_string(settings.objective)),
              "objective: step_time");
  }
  settings.top = static_cast<int>(
      map.integer({.name = "top", .doc = "configurations that are shown", .fallback = 10, .min = 1, .max = 1'000'000}));
  settings.replay = static_cast<int>(map.integer({.name = "replay",
                                                  .doc = "of the best, simulated again with the scenario's own models",
                                                  .fallback = 10,
                                                  .min = 0,
                                                  .max = 1'000'000}));
  return settings;
}

}  // namespace ringwright::configs
