// Stands in for cuBLASLt' header of this name.
#pragma once

#include "cublas_api.cuh"
