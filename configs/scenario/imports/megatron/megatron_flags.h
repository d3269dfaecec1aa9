// The flags of Megatron-LM that ringwright knows, and the keys they correspond to.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace ringwright::configs {

enum class FlagMeaning {
  kNumber,       // its value is the key's value
  kText,         // the same for words
  kOn,           // given without a value: the key is true
  kOff,          // the key is false
  kRule,         // several flags together make keys; megatron_import.cc
  kNoEffect,     // neither time nor memory of a training step depends on it
  kNotModelled,  // its effect is not modelled: reported in a warning
};

struct FlagEntry {
  std::string_view name;  // without dashes; a '*' at the end stands for all flags with this prefix
  FlagMeaning meaning = FlagMeaning::kNoEffect;
  std::string_view key = {};  // "parallel.tp", of kRule the nearest one; of kNotModelled: what is modelled instead
};

[[nodiscard]] std::span<const FlagEntry> megatron_flags();
// Exact names before those with a '*'; nullptr when there is none.
[[nodiscard]] const FlagEntry* find_megatron_flag(std::string_view name);
[[nodiscard]] std::vector<std::string> megatron_flag_names();

}  // namespace ringwright::configs
