#include "configs/simulation/idle_tiers.h"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

#include "core/config/key_effect.h"

namespace ringwright::configs {
namespace {

struct TierSetting {
  std::string_view key;
  std::string_view below;  // a key with the value that needs no mention, or that value itself
  std::string_view above;  // switches at the upper end of the tier's links, as in LinkTier::name
  std::string_view why;
};

constexpr std::string_view kNoSpines = "no traffic of this step crosses spine switches, only leaf switches";
constexpr std::string_view kNoCores = "no traffic of this step crosses core switches";
constexpr std::array kTierSettings = {
    TierSetting{"cluster.fabric.leaf.oversubscription", "1", "spine", kNoSpines},
    TierSetting{"cluster.fabric.spine.speed", "cluster.fabric.leaf.speed", "spine", kNoSpines},
    TierSetting{"cluster.fabric.core.oversubscription", "1", "core", kNoCores},
    TierSetting{"cluster.fabric.core.speed", "cluster.fabric.spine.speed", "core", kNoCores},
};

const ValueRead* value_of(const ConfigLog& log, std::string_view key) {
  const auto found = std::ranges::find(log.values(), key, &ValueRead::path);
  return found == log.values().end() ? nullptr : &*found;
}

}  // namespace

std::vector<IgnoredKnob> idle_tier_settings(const ConfigLog& log, const std::vector<LinkTier>& tiers) {
  const auto carries = [&tiers](std::string_view node) {
    return std::ranges::any_of(tiers, [&](const LinkTier& tier) { return tier.name.find(node) != std::string::npos; });
  };
  std::vector<IgnoredKnob> idle;
  if (!carries("leaf")) return idle;
  for (const TierSetting& setting : kTierSettings) {
    const ValueRead* const value = value_of(log, setting.key);
    if (value == nullptr || !is_given(*value) || carries(setting.above)) continue;
    const ValueRead* const other = value_of(log, setting.below);
    if (value->canonical == (other != nullptr ? other->canonical : setting.below)) continue;
    const auto listed = [&](const IgnoredKey& key) { return key.path == setting.key; };
    if (std::ranges::any_of(log.ignored(), listed)) continue;
    idle.push_back({.path = std::string(setting.key), .why = std::string(setting.why)});
  }
  return idle;
}

}  // namespace ringwright::configs
