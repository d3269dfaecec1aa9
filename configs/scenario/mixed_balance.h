// Work shared by speed on a cluster of several kinds of GPUs: layers over pipeline stages, microbatches over replicas
// (Whale's hardware-aware load balance, ATC 2022).
#pragma once

#include "configs/scenario/scenario.h"
#include "core/config/config_map.h"

namespace ringwright::configs {

// Fills what `parallel.stage_layers: balanced` and `microbatch_split: balanced` leave open, by the GPUs on which ranks
// are; on a cluster of one kind of GPUs, what those keys do there.
void balance_work(ConfigMap& parallel, const Cluster& cluster, Job& job, workload::KnownLayouts* known = nullptr);

}  // namespace ringwright::configs
