#include "validation/training/vocabulary.h"

#include <array>

#include "core/config/config_document.h"

namespace ringwright::validation {
namespace {

constexpr std::string_view kSetDoc = "what the words set, as key=value of a scenario; none: they state nothing";

struct NamedSharding {
  std::string_view name;
  ShardingKind kind;
};
constexpr std::array kShardingNames = {
    NamedSharding{"unstated", ShardingKind::kUnstated},        NamedSharding{"none", ShardingKind::kNone},
    NamedSharding{"optimizer", ShardingKind::kOptimizer},      NamedSharding{"gradients", ShardingKind::kGradients},
    NamedSharding{"parameters", ShardingKind::kParameters},    NamedSharding{"full_shard", ShardingKind::kFullShard},
    NamedSharding{"shard_grad_op", ShardingKind::kShardGradOp}};
constexpr std::array kShardingOptions = {
    Option{.name = "unstated", .doc = "the words state nothing"},
    Option{.name = "none", .doc = "every rank holds everything (ZeRO-0)"},
    Option{.name = "optimizer", .doc = "ZeRO-1"},
    Option{.name = "gradients", .doc = "ZeRO-2"},
    Option{.name = "parameters", .doc = "ZeRO-3 as DeepSpeed has it"},
    Option{.name = "full_shard", .doc = "FSDP; parameters are gathered again for the backward pass"},
    Option{.name = "shard_grad_op", .doc = "FSDP; parameters stay gathered until the backward pass"},
};

constexpr std::array kAdapterColumns = {Option{.name = "model", .doc = "the name of the model"},
                                        Option{.name = "notes", .doc = "the remarks"}};

PrecisionRule read_precision_rule(ConfigMap& map) {
  PrecisionRule rule;
  rule.words = read_rule_words(map);
  rule.framework.words = map.texts({.name = "framework", .doc = "words that the framework must contain; none: any"});
  rule.set = read_settings(map, "set", kSetDoc);
  return rule;
}

RecomputeRule read_recompute_rule(ConfigMap& map) {
  RecomputeRule rule;
  rule.words = read_rule_words(map);
  rule.set = read_settings(map, "set", kSetDoc);
  rule.layer_period =
      static_cast<int>(map.integer({.name = "layer_period",
                                    .doc = "every n-th layer is recomputed, where the cell has no number; 0: not so",
                                    .fallback = 0,
                                    .min = 0,
                                    .max = 1000}));
  return rule;
}

ShardingRule read_sharding_rule(ConfigMap& map) {
  ShardingRule rule;
  rule.words = read_rule_words(map);
  const std::string name =
      map.choice({.name = "means", .doc = "what is sharded", .fallback = std::string("unstated")}, kShardingOptions);
  const auto* const known = std::ranges::find(kShardingNames, name, &NamedSharding::name);
  if (known != kShardingNames.end()) rule.kind = known->kind;
  rule.degree = map.boolean(
      {.name = "degree", .doc = "the number after the words: ranks that share one copy", .fallback = false});
  return rule;
}

std::optional<bool> read_flag(ConfigMap& map, std::string_view name, std::string_view doc) {
  const bool value = map.boolean({.name = name, .doc = doc, .fallback = false});
  return map.has(name) ? std::optional(value) : std::nullopt;
}

OverlapRule read_overlap_rule(ConfigMap& map) {
  OverlapRule rule;
  rule.words = read_rule_words(map);
  rule.set = read_settings(map, "set", kSetDoc);
  rule.at_start = map.boolean({.name = "at_start", .doc = "the cell begins with the words", .fallback = false});
  rule.grad_reduce = read_flag(map, "grad_reduce", "gradients are reduced during the backward pass");
  rule.param_gather = read_flag(map, "param_gather", "parameters are gathered during the forward pass");
  rule.tensor = read_flag(map, "tensor", "tensor-parallel exchanges run concurrently with GEMMs");
  rule.p2p = read_flag(map, "p2p", "messages between stages run concurrently with computing");
  rule.bucket = map.boolean({.name = "bucket", .doc = "the number after the words: MB of a bucket", .fallback = false});
  return rule;
}

RecipeRule read_recipe_rule(ConfigMap& map) {
  RecipeRule rule;
  rule.words = read_rule_words(map);
  rule.set = read_settings(map, "set", kSetDoc);
  rule.number = map.text(
      {.name = "number", .doc = "key of a scenario that the number after the words sets", .fallback = std::string()});
  rule.text = map.text({.name = "text",
                        .doc = "key of a scenario that the text after the words, up to a semicolon, sets",
                        .fallback = std::string()});
  return rule;
}

ScheduleRule read_schedule_rule(ConfigMap& map) {
  return {{read_rule_words(map)},
          map.text({.name = "schedule", .doc = "our name of the schedule", .fallback = std::string()})};
}

AdapterRule read_adapter_rule(ConfigMap& map) {
  const std::string column = map.choice({.name = "column", .doc = "where the words stand"}, kAdapterColumns);
  return {{read_rule_words(map)}, column == "notes" ? AdapterColumn::kNotes : AdapterColumn::kModel};
}

CardsRule read_cards_rule(ConfigMap& map) {
  CardsRule rule;
  rule.words = read_rule_words(map);
  rule.stated = map.boolean(
      {.name = "stated", .doc = "off: the cell's numbers are not those of network cards", .fallback = true});
  rule.after =
      map.text({.name = "after", .doc = "the cards stand after these words, up to a comma", .fallback = std::string()});
  const Bandwidth card = map.bandwidth(
      {.name = "card", .doc = "rate of a card, where the cell gives the sum of a host", .fallback = Bandwidth(0.0)});
  rule.sum_gbps = card.count() * 8.0 / 1e9;
  return rule;
}

template <class Rule>
std::vector<Rule> read_rules(ConfigMap& root, std::string_view name, std::string_view doc, Rule (*read)(ConfigMap&)) {
  std::vector<Rule> rules;
  for (ConfigMap& map : root.maps(name, doc)) rules.push_back(read(map));
  return rules;
}

Result<Vocabulary> read_document(Result<ConfigDocument> document) {
  if (!document) return tl::unexpected(document.error());
  ConfigMap root = document->root();
  Vocabulary result;
  result.precision = read_rules(root, "precision", "column `precision`: the first rule that fits", read_precision_rule);
  result.recompute = read_rules(root, "recompute", "column `recompute`: the first rule that fits", read_recompute_rule);
  result.recompute_modules = root.texts(
      {.name = "recompute_modules", .doc = "modules whose names in column `recompute` mean selective recomputation"});
  result.sharding =
      read_rules(root, "dp_sharding", "column `dp_sharding`: the first rule that fits", read_sharding_rule);
  result.optimizer_offload =
      read_rules<WordRule>(root, "optimizer_offload", "words of column `dp_sharding`: the optimizer runs on the host",
                           [](ConfigMap& map) { return WordRule{read_rule_words(map)}; });
  result.overlap = read_rules(root, "overlap", "column `overlap`: every rule that fits", read_overlap_rule);
  result.recipe = read_rules(root, "recipe", "column `recipe`: every rule that fits", read_recipe_rule);
  result.schedules = read_rules(root, "schedule", "column `schedule`: the first rule that fits", read_schedule_rule);
  result.adapters = read_rules(root, "adapters", "words for training low-rank adapters only", read_adapter_rule);
  result.cards = read_rules(root, "nic", "column `nic`: the first rule that fits", read_cards_rule);
  document->check_all_read();
  if (document->log().diagnostics().has_errors()) return tl::unexpected(document->log().diagnostics());
  return result;
}

}  // namespace

bool OverlapRule::holds_in(std::string_view text) const {
  if (!fits(text)) return false;
  return !at_start || plain_words(text).starts_with(plain_words(words.front()));
}

Result<Vocabulary> read_vocabulary(const std::string& path) {
  return read_document(ConfigDocument::load(path));
}

Result<Vocabulary> parse_vocabulary(const std::string& name, std::string_view text) {
  return read_document(ConfigDocument::load_text(name, text));
}

}  // namespace ringwright::validation
