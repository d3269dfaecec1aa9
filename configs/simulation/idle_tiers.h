// Which settings of a Clos network's upper tiers had no effect in a run, since no byte crossed those tiers.
#pragma once

#include <vector>

#include "core/config/config_log.h"
#include "core/report/facts.h"

namespace ringwright::configs {

// Ratios other than 1:1, and speeds other than the default, that were given for links above the leaf switches or above
// the spines. `tiers` are those that carried something, of a run in which all messages load links.
[[nodiscard]] std::vector<IgnoredKnob> idle_tier_settings(const ConfigLog& log, const std::vector<LinkTier>& tiers);

}  // namespace ringwright::configs
