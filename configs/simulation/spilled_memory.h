// Memory of a job that does not fit together with others on its GPUs, and lies in host memory.
//
// AntMan allocates what does not fit there, and TGS lets the driver move its pages (CUDA unified memory). A training
// step uses all of its memory, so that the bytes leave the GPU and come back once a step, over PCIe; kernels wait.
#pragma once

#include "core/base/units.h"
#include "core/plan/task_graph.h"

namespace ringwright::configs {

// Adds the copies of so many bytes of each rank, out and in one after the other, behind the computing of a step. The
// dimension `host`, where every rank is alone, is added where the job has none.
void spill_to_host(TaskGraph& graph, Bytes bytes);

}  // namespace ringwright::configs
