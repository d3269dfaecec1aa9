// The vocabulary of training tables: what words in the columns for precision, recomputation, sharding, overlap,
// schedule and network cards mean. Read from words.yaml.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/diagnostic.h"
#include "validation/training/word_rule.h"

namespace ringwright::validation {

struct SettingsRule : WordRule {
  std::vector<Setting> set;  // none: the words state nothing
};

// What the words mean in tables of one framework, or of all.
struct PrecisionRule : SettingsRule {
  WordRule framework;  // no words: all
};

struct RecomputeRule : SettingsRule {
  int layer_period = 0;  // every n-th layer is recomputed; the cell may give another number; 0: not by layers
};

enum class ShardingKind { kUnstated, kNone, kOptimizer, kGradients, kParameters, kFullShard, kShardGradOp };

struct ShardingRule : WordRule {
  ShardingKind kind = ShardingKind::kUnstated;
  bool degree = false;  // the number after the words is that of ranks that share one copy
};

struct OverlapRule : SettingsRule {
  bool at_start = false;  // the cell begins with the first of the words
  std::optional<bool> grad_reduce, param_gather, tensor, p2p;
  bool bucket = false;  // the number after the words is the bucket's size in MB

  [[nodiscard]] bool holds_in(std::string_view text) const;
};

struct RecipeRule : SettingsRule {
  std::string number;  // the key of a scenario that the number after the words sets; empty: none
  std::string text;    // the same of the text after the words, up to a semicolon
};

struct ScheduleRule : WordRule {
  std::string schedule;  // empty: the words state none
};

enum class AdapterColumn { kModel, kNotes };

// Where only low-rank adapters are trained.
struct AdapterRule : WordRule {
  AdapterColumn column = AdapterColumn::kModel;
};

struct CardsRule : WordRule {
  bool stated = true;     // false: the numbers of such a cell are not those of network cards
  std::string after;      // the cards stand after the last of these words, up to a comma
  double sum_gbps = 0.0;  // of one card, where the cell gives the sum of a host
};

struct Vocabulary {
  std::vector<PrecisionRule> precision;
  std::vector<RecomputeRule> recompute;
  std::vector<std::string> recompute_modules;
  std::vector<ShardingRule> sharding;
  std::vector<WordRule> optimizer_offload;
  std::vector<OverlapRule> overlap;
  std::vector<RecipeRule> recipe;
  std::vector<ScheduleRule> schedules;
  std::vector<AdapterRule> adapters;
  std::vector<CardsRule> cards;
};

[[nodiscard]] Result<Vocabulary> read_vocabulary(const std::string& path);
// The same for a text in memory; `name` is used in messages.
[[nodiscard]] Result<Vocabulary> parse_vocabulary(const std::string& name, std::string_view text);

}  // namespace ringwright::validation
