// Under which settings a key has an effect, as declared by tables next to the readers of the keys. A key that the user
// gave, and whose condition does not hold, is listed in the report as without effect.
//
//     KeyEffect{.keys = "comm.costs", .needs = "collectives.model=chunks | collectives.overhead=kernels",
//               .why = "only 'collectives.model: chunks' or 'overhead: kernels' simulates kernels"}
#pragma once

#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>

#include "core/config/config_log.h"

namespace ringwright {

// Begins the reason of a key that acts on a part of the run.
inline constexpr std::string_view kInPart = "in part: ";

struct KeyEffect {
  // A key and all keys below it; `*` stands for one word, and "faults[]" for any entry of a list.
  std::string_view keys;
  // Alternatives, any of which suffices: "a=x & b!=y | c>1". Several rows for one key must all hold. Empty: never.
  std::string_view needs;
  std::string_view why;  // it has no effect otherwise, for the report and `explain`
  std::string_view except = {};  // a key that the row does not cover
  bool partly = false;           // otherwise it acts on a part of the run, which `why` names
};

// Values by path: all that readers took, in base units, and derived facts that no single key sets.
class SettingValues {
 public:
  explicit SettingValues(const ConfigLog& log);
  // Facts have names that no key has: "job.dp".
  void add(std::string_view name, std::string value) { values_.insert_or_assign(std::string(name), std::move(value)); }
  [[nodiscard]] bool holds(std::string_view needs) const;

 private:
  [[nodiscard]] bool holds_term(std::string_view term) const;

  std::map<std::string, std::string, std::less<>> values_;
};

// Whether the user gave the value: in a file, in what it extends or imports, or with --set; not a shipped preset.
[[nodiscard]] bool is_given(const ValueRead& value);

// Whether a row covers the key: "comm.costs" covers "comm.costs.ll.hop", "faults[].link" covers "faults[2].link".
[[nodiscard]] bool speaks_about(const KeyEffect& effect, std::string_view path);

// Lists in the log what was given without effect: the key or map that a row names. The first row that does not hold
// gives the reason.
void list_without_effect(std::span<const KeyEffect> effects, const SettingValues& values, ConfigLog& log);

}  // namespace ringwright
