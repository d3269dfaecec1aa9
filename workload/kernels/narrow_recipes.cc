#include "workload/kernels/narrow_recipes.h"

namespace ringwright::workload {

double scale_bytes(NarrowRecipe recipe) {
  switch (recipe) {
    case NarrowRecipe::kNone:
    case NarrowRecipe::kDelayed:
    case NarrowRecipe::kTensorwise:
    case NarrowRecipe::kRowwise: return 0.0;
    case NarrowRecipe::kBlockwise: return 4.0 / 128.0;
    case NarrowRecipe::kMxfp8:
    case NarrowRecipe::kMxfp4: return 1.0 / 32.0;
    case NarrowRecipe::kNvfp4: return 1.0 / 16.0;
  }
  return 0.0;
}

std::int64_t cast_kernels(NarrowRecipe recipe) {
  switch (recipe) {
    case NarrowRecipe::kNone:
    case NarrowRecipe::kDelayed:
    case NarrowRecipe::kBlockwise: return 1;
    case NarrowRecipe::kMxfp8:
    case NarrowRecipe::kMxfp4: return 2;
    case NarrowRecipe::kTensorwise:
    case NarrowRecipe::kRowwise:
    case NarrowRecipe::kNvfp4: return 3;
  }
  return 1;
}

}  // namespace ringwright::workload
