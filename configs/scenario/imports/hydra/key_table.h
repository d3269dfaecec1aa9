// Tables of the keys of a YAML: the flag of Megatron-LM that each corresponds to, or why it has none.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace ringwright::configs {

enum class KeyMeaning {
  kValue,       // its value is the flag's
  kSwitch,      // true: the flag is given
  kUnless,      // false: the flag is given
  kTogether,    // several keys together make flags
  kUnmodelled,  // its effect is not modelled: reported, unless it is off
  kIdle,        // neither time nor memory of a training step depends on it
};

struct KeyRow {
  std::string_view name;
  KeyMeaning meaning = KeyMeaning::kValue;
  std::string_view flag = {};  // without dashes; empty: the name. Of kUnmodelled: what is modelled instead
  std::string_view off = {};   // of kUnmodelled: what it is when it has no effect, besides null and false
};

// A section of the file: "model".
struct KeySection {
  std::string_view name;
  std::span<const KeyRow> rows = {};
  std::span<const std::string_view> idle = {};  // further rows of kIdle
  bool all_idle = false;                        // nothing else in it has an effect, either
  const KeySection* base = nullptr;             // keys that are not here may be of this section
};

[[nodiscard]] std::string flag_of(const KeyRow& row);
// nullptr: unknown.
[[nodiscard]] const KeyRow* find_row(const KeySection& section, std::string_view name);
[[nodiscard]] const KeySection* find_section(std::span<const KeySection> sections, std::string_view name);

}  // namespace ringwright::configs
