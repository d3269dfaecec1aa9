// Flags of Megatron-LM that the keys of a YAML stand for, each at the place of its key.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "configs/scenario/imports/hydra/hydra_value.h"
#include "configs/scenario/imports/hydra/key_table.h"
#include "configs/scenario/imports/megatron/megatron_text.h"
#include "core/base/diagnostic.h"

namespace ringwright::configs {

class FlagList {
 public:
  FlagList(const ConfigSource& source, Diagnostics& problems) : source_(source), problems_(problems) {}

  // A later one replaces an earlier one.
  void give(std::string_view flag, const HydraKey& key);  // with the key's value; nothing where it has none
  void give(std::string_view flag, const HydraKey& key, std::string text);
  void turn_on(std::string_view flag, const HydraKey& key);
  // What the program does where nothing is given.
  void assume(std::string_view flag, std::string text);
  [[nodiscard]] bool has(std::string_view flag) const { return flags_.contains(flag); }
  void take_row(const KeyRow& row, const HydraKey& key);

  // Empty where it is null; an error where it is no such value.
  [[nodiscard]] std::optional<bool> read_switch(const HydraKey& key);
  [[nodiscard]] bool is_on(const HydraKey& key) { return read_switch(key).value_or(false); }
  [[nodiscard]] std::optional<std::int64_t> read_number(const HydraKey& key);

  // Not an interpolation that the file leaves open, which is an error.
  [[nodiscard]] bool is_known(const HydraKey& key);

  void warn(const HydraKey& key, std::string code, std::string message, std::string hint = {});
  // With the name that was probably wanted, which may be empty.
  void warn_unknown(const HydraKey& key, std::string_view near);
  void error(const HydraKey& key, std::string message, std::string hint = {});

  void name(const KeySection& section);  // how the file writes the flags of its keys
  [[nodiscard]] MegatronText take(MegatronSpelling spelling);

 private:
  void put(MegatronFlag flag, const HydraKey& key);
  const ConfigSource& source_;
  Diagnostics& problems_;
  std::map<std::string, MegatronFlag, std::less<>> flags_;
  std::map<std::string, std::string, std::less<>> names_;
};

}  // namespace ringwright::configs
