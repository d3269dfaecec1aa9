// Cells that hold words, as the vocabulary of training tables understands them.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "validation/training/vocabulary.h"

namespace ringwright::validation {

struct CardWords {
  int count = 0;
  double gbps = 0.0;     // of one card
  bool divided = false;  // only the sum of a host was given
};
// COUNTxRATE with words between them: "8x200Gbps", "4 x ConnectX-7 400 Gb/s". With ports, "4x ConnectX-8 4x200 Gb/s"
// are four cards of 800 Gb/s. Empty where there is no count or rate.
[[nodiscard]] std::optional<CardWords> read_cards(const Vocabulary& vocabulary, std::string_view text);

// What a type sets in a scenario, in a table of this framework; empty: the cell is unknown, or states nothing.
[[nodiscard]] std::vector<Setting> read_precision(const Vocabulary& vocabulary, std::string_view text,
                                                  std::string_view framework);

struct Recomputation {
  bool known = false;                // the cell is in the vocabulary
  std::vector<Setting> set;          // of the scenario
  std::vector<std::string> modules;  // what is recomputed of each layer; none: as `set` states
  int layer_period = 0;              // every n-th layer is recomputed; 0: not by layers
};
[[nodiscard]] Recomputation read_recomputation(const Vocabulary& vocabulary, std::string_view text);

struct Sharding {
  bool known = false;
  ShardingKind kind = ShardingKind::kUnstated;
  bool offloads_optimizer = false;  // to host memory
  std::optional<int> degree;        // ranks that share one copy
  [[nodiscard]] bool fsdp() const { return kind == ShardingKind::kFullShard || kind == ShardingKind::kShardGradOp; }
};
[[nodiscard]] Sharding read_sharding(const Vocabulary& vocabulary, std::string_view text);

// What the settings of a recipe set in a scenario.
[[nodiscard]] std::vector<Setting> read_recipe(const Vocabulary& vocabulary, std::string_view text);

struct Overlap {
  bool known = false;
  std::optional<bool> grad_reduce, param_gather, tensor, p2p;
  std::optional<double> bucket_mb;
  std::vector<Setting> set;
};
[[nodiscard]] Overlap read_overlap(const Vocabulary& vocabulary, std::string_view text);

}  // namespace ringwright::validation
