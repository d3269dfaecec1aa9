// A value of a YAML that Hydra reads or writes, as Megatron's command line has it: dtypes and enums out of their dumps.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "configs/scenario/imports/megatron/megatron_text.h"
#include "core/config/config_node.h"

namespace ringwright::configs {

// A key of the file: "model.num_layers". Without a node it is not given.
struct HydraKey {
  std::string path;
  const ConfigNode* node = nullptr;
};

enum class HydraKind { kNothing, kWord, kList, kMap };

struct HydraValue {
  HydraKind kind = HydraKind::kNothing;  // nothing: not given, null, None or an empty list or map
  MegatronWord word = {};                // a scalar; of a list all of it: "[0, 1, 1]"; of other maps their _target_
  std::vector<MegatronWord> items = {};
};

// {_target_: torch.bfloat16, _call_: false} is bf16; {_target_: ...AttnBackend, _args_: [1]} is flash.
[[nodiscard]] HydraValue value_of(const HydraKey& key);
// It has a value, not null.
[[nodiscard]] bool is_given(const HydraKey& key);
// The key itself, for messages and for switches.
[[nodiscard]] MegatronWord word_of_key(const HydraKey& key);
// true and false as YAML 1.1 and Python write them, 1 and 0 as variables of shells have them.
[[nodiscard]] std::optional<bool> switch_of(std::string_view text);
// The interpolation has no value in this file, or the value is ???.
[[nodiscard]] bool is_unresolved(std::string_view text);

// The map below a key; nullptr where there is none.
[[nodiscard]] const ConfigNode* map_below(const ConfigNode& map, std::string_view key);

}  // namespace ringwright::configs
