// The sections of a Megatron-Bridge configuration, and the rules by which several of its keys make flags.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "configs/scenario/imports/hydra/flag_list.h"
#include "configs/scenario/imports/hydra/hydra_value.h"

namespace ringwright::configs {

class BridgeRun {
 public:
  explicit BridgeRun(FlagList& flags) : flags_(flags) {}

  void add(std::string_view section, const ConfigNode& map, std::string path);
  // The last of several sections of one name; without a node where it is not given.
  [[nodiscard]] HydraKey key(std::string_view section, std::string_view name) const;
  [[nodiscard]] bool has(std::string_view section) const { return sections_.contains(section); }
  [[nodiscard]] HydraKey section(std::string_view name) const;
  // Whether the file states the shape, so that what it does not state is Megatron-Bridge's default.
  [[nodiscard]] bool is_whole() const { return key("model", "hidden_size").node != nullptr; }
  [[nodiscard]] FlagList& flags() { return flags_; }

 private:
  struct Section {
    const ConfigNode* map = nullptr;
    std::string path;
  };
  FlagList& flags_;
  std::map<std::string, Section, std::less<>> sections_;
};

void apply_bridge_model(BridgeRun& run);
void apply_bridge_layout(BridgeRun& run);
void apply_bridge_precision(BridgeRun& run, const HydraKey& mixed_precision);
void apply_bridge_overlap(BridgeRun& run);

}  // namespace ringwright::configs
