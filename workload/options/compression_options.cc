// Reading of `training.compression`, and the sizes of encoded gradients.
#include "workload/options/compression_options.h"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "workload/options/training_options.h"

namespace ringwright::workload {
namespace {

using enum GradientCodec;

constexpr std::string_view kBlock = "compression";
constexpr std::string_view kBlockDoc = "a codec for the gradients that data-parallel ranks sum";
constexpr std::int64_t kScale = 4;  // bytes of an fp32 scale
constexpr std::int64_t kIndex = 4;  // bytes of an int32 index

constexpr std::array kCodecs{Option{"none", "gradients are all-reduced in grad_reduce_dtype"},
                             Option{"fp16", "two bytes for each value, all-reduced"},
                             Option{"int8", "one byte for each value and a scale for each block, all-gathered"},
                             Option{"int4", "half a byte for each value and a scale for each block, all-gathered"},
                             Option{"1bit", "signs and one scale for each bucket, all-gathered"},
                             Option{"topk", "the largest values with their indices, all-gathered"},
                             Option{"powersgd", "two thin factors of each bucket, all-reduced one after the other"}};

GradientCodec parse_codec(std::string_view name) {
  constexpr std::array kValues{kNone, kFp16, kInt8, kInt4, kOneBit, kTopK, kPowerSgd};
  const auto found = std::ranges::find(kCodecs, name, &Option::name);
  return found == kCodecs.end() ? kNone : kValues[static_cast<std::size_t>(found - kCodecs.begin())];
}

// Rows, and columns, of the smallest square matrix that holds them.
std::int64_t square_side(std::int64_t elements) {
  auto side = static_cast<std::int64_t>(std::sqrt(static_cast<double>(elements)));
  while (side * side < elements) ++side;
  return side;
}

void only_for(ConfigMap& map, std::string_view key, bool used, std::string_view codecs) {
  if (!map.has(key) || used) return;
  map.warn(key, "W131", fmt::format("{} has no effect: it is a setting of {}", map.path_of(key), codecs));
}

void check_codec(ConfigMap& map, const GradientCompression& options) {
  only_for(map, "ratio", options.codec == kTopK, "codec: topk");
  only_for(map, "rank", options.codec == kPowerSgd, "codec: powersgd");
  only_for(map, "block", options.codec == kInt8 || options.codec == kInt4, "codec: int8 and codec: int4");
  only_for(map, "error_feedback", options.on(), "a codec other than none");
}

}  // namespace

std::int64_t GradientCompression::chosen(std::int64_t elements) const {
  return std::clamp<std::int64_t>(std::llround(ratio * static_cast<double>(elements)), 1, elements);
}

Bytes GradientCompression::factor(std::int64_t elements, std::int64_t gradient_bytes) const {
  const std::int64_t side = square_side(elements);
  return Bytes(side * std::min(rank, side) * gradient_bytes);
}

Bytes GradientCompression::encoded(std::int64_t elements, std::int64_t gradient_bytes) const {
  const std::int64_t blocks = (elements + block - 1) / block;
  switch (codec) {
    case kNone: return Bytes(elements * gradient_bytes);
    case kFp16: return Bytes(elements * 2);
    case kInt8: return Bytes(elements + blocks * kScale);
    case kInt4: return Bytes((elements + 1) / 2 + blocks * kScale);
    case kOneBit: return Bytes((elements + 7) / 8 + kScale);
    case kTopK: return Bytes(chosen(elements) * (kIndex + gradient_bytes));
    case kPowerSgd: return factor(elements, gradient_bytes) * 2;
  }
  return Bytes(0);
}

GradientCompression read_compression(ConfigMap& training) {
  GradientCompression options;
  if (!training.has(kBlock) && !training.documenting()) return options;
  ConfigMap map = training.map(kBlock, kBlockDoc);
  options.codec = parse_codec(map.choice({.name = "codec", .doc = "how gradients are encoded"}, kCodecs));
  options.ratio = map.percent({.name = "ratio",
                               .doc = "share of the values that topk sends",
                               .fallback = 0.01,
                               .min = 1e-6,
                               .max = 1.0});
  options.rank = map.integer({.name = "rank",
                              .doc = "columns of powersgd's factors; up to 16, where memory bounds its GEMMs",
                              .fallback = 1,
                              .min = 1,
                              .max = 16});
  options.block = map.integer({.name = "block",
                               .doc = "values that share one fp32 scale, of int8 and int4",
                               .fallback = 2048,
                               .min = 1,
                               .max = 1'000'000'000});
  const bool loses_much = options.codec == kOneBit || options.codec == kTopK || options.codec == kPowerSgd;
  options.error_feedback = map.boolean({.name = "error_feedback",
                                        .doc = "what a codec loses is stored in fp32 and added to the next step's "
                                               "gradients; the default of 1bit, topk and powersgd",
                                        .fallback = loses_much});
  check_codec(map, options);
  if (options.on() && !training.documenting()) {
    map.assume("codec", map.text({.name = "codec", .doc = "how gradients are encoded"}),
               "convergence is not modelled: a step is as useful as an uncompressed one");
  }
  return options;
}

void check_compression(const ParallelContext& context, const ParallelOptions& options) {
  const GradientCompression& compression = context.training.compression;
  if (!compression.on()) return;
  ConfigMap map = context.training_map.map(kBlock, kBlockDoc);
  if (options.zero_stage > 0) {
    map.error("codec", "E570",
              fmt::format("{} compresses gradients that every replica sums whole, and they are sharded here (stage {})",
                          map.path_of("codec"), options.zero_stage),
              "set parallel.zero: {stage: 0}; in stage 3 there is parallel.zero.zero_quantized_gradients");
  }
  if (options.placement == Placement::kBidirectional) {
    map.error("codec", "E571",
              fmt::format("{}: the schedule {} sums gradients over mirrored stages as well, uncompressed",
                          map.path_of("codec"), options.schedule),
              "choose a schedule with one copy of each stage, as 1f1b or interleaved");
  }
  if (compression.codec == kFp16 && context.training.grad_reduce == DataType::kBf16) {
    map.warn("codec", "W570",
             fmt::format("{}: fp16 is no smaller than grad_reduce_dtype: bf16, and costs two casts",
                         map.path_of("codec")));
  }
}

}  // namespace ringwright::workload
