// Memory and drives of the hosts: what all ranks of a host store there, compared with the capacity.
#pragma once

#include <vector>

#include "configs/scenario/scenario.h"
#include "core/report/facts.h"

namespace ringwright::configs {

// The memory of the fullest host, and its drives; empty when neither is in use: the job offloads nothing, and has no
// cache of embedding tables.
[[nodiscard]] std::vector<HostRow> host_rows(const Cluster& cluster, const Job& job);
[[nodiscard]] std::vector<HostRow> host_rows(const Scenario& scenario);

}  // namespace ringwright::configs
