// Gradients that Horovod fuses: HOROVOD_FUSION_THRESHOLD is the bucket of the job's gradients.
#pragma once

#include "collectives/libraries/profile.h"
#include "configs/scenario/scenario.h"
#include "core/config/config_map.h"

namespace ringwright::configs {

// Horovod reduces whatever is ready at the end of a cycle, up to the threshold; here buckets are filled up to it. A
// bucket that the job itself sets stays, and the variable is listed as without effect.
void fuse_tensors(ConfigMap root, const collectives::LibrarySettings& library, Job& job);

}  // namespace ringwright::configs
