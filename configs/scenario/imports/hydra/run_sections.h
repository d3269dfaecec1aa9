// The sections of a configuration by name, each of one or more maps of the file.
#pragma once

#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "configs/scenario/imports/hydra/flag_list.h"
#include "configs/scenario/imports/hydra/hydra_value.h"

namespace ringwright::configs {

class RunSections {
 public:
  explicit RunSections(FlagList& flags) : flags_(flags) {}

  void add(std::string_view section, const ConfigNode& map, std::string path);
  // Of the last map that has it; without a node where none does.
  [[nodiscard]] HydraKey key(std::string_view section, std::string_view name) const;
  // The keys of a section's maps that key() was never asked for: no rule knows them.
  [[nodiscard]] std::vector<HydraKey> unread(std::string_view section) const;
  [[nodiscard]] bool has(std::string_view section) const { return sections_.contains(section); }
  // Its last map, without a node where there is none.
  [[nodiscard]] HydraKey section(std::string_view name) const;
  // Whether the file states the shape, so that what it does not state is the program's default.
  [[nodiscard]] bool is_whole() const { return is_given(key("model", "hidden_size")); }
  [[nodiscard]] FlagList& flags() { return flags_; }

 private:
  FlagList& flags_;
  std::map<std::string, std::vector<HydraKey>, std::less<>> sections_;
  mutable std::set<std::string> asked_;  // paths of keys
};

// A key of a map at a path of the file; without a node where it is not given.
[[nodiscard]] HydraKey key_below(const ConfigNode& map, std::string_view name, const std::string& path);

}  // namespace ringwright::configs
