// Stands in for cuBLAS' header of this name.
#pragma once

#include "cublas_api.cuh"
