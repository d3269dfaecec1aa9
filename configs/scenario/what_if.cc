#include "configs/scenario/what_if.h"

#include <algorithm>

#include <fmt/format.h>

namespace ringwright::configs {
namespace {

constexpr std::string_view kCode = "E330";

void read_settings_of(ConfigMap& map, WhatIf& what_if) {
  ConfigMap settings = map.map("set", "keys with their other values, as --set takes them: cluster.nodes: 64");
  for (const std::string& key : settings.keys()) {
    if (key == "what_if" || key.starts_with("what_if.")) {
      settings.error(key, std::string(kCode), fmt::format("'{}' changes the list that it stands in", key));
      continue;
    }
    what_if.settings.push_back(key + "=" + settings.setting(key));
  }
  if (map.documenting()) {
    constexpr std::string_view kDoc = "links and hosts that fail or degrade, as in the scenario's `faults`";
    for (const ConfigMap& fault : map.maps("faults", kDoc)) static_cast<void>(fault.keys());
  } else if (map.has("faults")) {
    if (settings.has("faults")) {
      settings.error("faults", std::string(kCode), fmt::format("'{}' gives its faults twice", map.path()),
                     "leave them out of `set`");
    }
    what_if.settings.push_back("faults=" + map.setting("faults"));
  }
}

}  // namespace

std::vector<WhatIf> read_what_ifs(ConfigMap root) {
  std::vector<WhatIf> what_ifs;
  for (ConfigMap& map : root.maps("what_if", "changes that `ringwright what-if` compares with the scenario as it is")) {
    WhatIf what_if;
    // Only documented, or reported as missing, as a value of the scenario.
    const bool given = !map.documenting() && map.has("name");
    what_if.name = given ? map.remark("name") : map.text({.name = "name", .doc = "what is changed, in words"});
    read_settings_of(map, what_if);
    if (map.documenting()) continue;
    if (what_if.settings.empty()) {
      map.error("", std::string(kCode), fmt::format("'{}' changes nothing", map.path()),
                "give it `set: {KEY: VALUE}` or `faults: [...]`");
    }
    if (std::ranges::find(what_ifs, what_if.name, &WhatIf::name) != what_ifs.end()) {
      map.error("name", std::string(kCode), fmt::format("'{}' has a name that an earlier one has", map.path()));
    }
    what_ifs.push_back(std::move(what_if));
  }
  if (!what_ifs.empty()) root.ignore("what_if", "`ringwright what-if` simulates them, each against this scenario");
  return what_ifs;
}

}  // namespace ringwright::configs
