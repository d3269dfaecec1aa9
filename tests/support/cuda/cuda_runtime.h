// Stands in for CUDA's header of this name where the GPU suite is compiled by g++ for tests.
#pragma once

#include "emulation.cuh"
#include "runtime_api.cuh"
