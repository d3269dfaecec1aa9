// Compression of the gradients that data-parallel ranks sum.
#pragma once

#include <cstdint>

#include "core/base/units.h"
#include "core/config/config_map.h"

namespace ringwright::workload {

// fp16: two bytes (PyTorch's fp16_compress_hook). int8, int4: integers with one fp32 scale for each block
// (arXiv 2110.02861). 1bit: signs and one scale for each bucket (Seide et al., Interspeech 2014; EF-SignSGD,
// arXiv 1901.09847). Top-k: the largest values with their indices (arXiv 1704.05021). PowerSGD (arXiv 1905.13727), as
// PyTorch's batched_powerSGD_hook: a bucket as a square matrix, approximated by the product of two thin ones.
enum class GradientCodec { kNone, kFp16, kInt8, kInt4, kOneBit, kTopK, kPowerSgd };

struct GradientCompression {
  GradientCodec codec = GradientCodec::kNone;
  double ratio = 0.01;        // of the values, of top-k
  std::int64_t rank = 1;      // of PowerSGD's factors
  std::int64_t block = 2048;  // values with one scale, of int8 and int4
  bool error_feedback = false;

  [[nodiscard]] bool on() const { return codec != GradientCodec::kNone; }
  // The sum of encoded gradients encodes their sum: they can be all-reduced. Others are gathered from all ranks.
  [[nodiscard]] bool linear() const { return codec == GradientCodec::kFp16 || codec == GradientCodec::kPowerSgd; }

  // The values that top-k sends of so many.
  [[nodiscard]] std::int64_t chosen(std::int64_t elements) const;
  // The bytes of one of PowerSGD's two factors.
  [[nodiscard]] Bytes factor(std::int64_t elements, std::int64_t gradient_bytes) const;
  // The bytes of one rank's encoded gradients, where an uncompressed one has `gradient_bytes`.
  [[nodiscard]] Bytes encoded(std::int64_t elements, std::int64_t gradient_bytes) const;

  friend bool operator==(const GradientCompression&, const GradientCompression&) = default;
};

struct ParallelContext;
struct ParallelOptions;

// Reads `training.compression`. Mistakes are recorded in the map.
[[nodiscard]] GradientCompression read_compression(ConfigMap& training);
// An error where the gradients are not all-reduced over replicas.
void check_compression(const ParallelContext& context, const ParallelOptions& options);

}  // namespace ringwright::workload
