// Memory and drives of the hosts: what all ranks of a host keep there, against what it has.
#pragma once

#include <vector>

#include "configs/scenario/scenario.h"
#include "core/report/facts.h"

namespace ringwright::configs {

// The fullest host's memory, and its drives; nothing when nothing is offloaded.
[[nodiscard]] std::vector<HostRow> host_rows(const Scenario& scenario);

}  // namespace ringwright::configs
