#include "workload/parallel/buckets.h"

#include <algorithm>
#include <limits>

namespace ringwright::workload {
namespace {

constexpr std::int64_t kAlignment = 64;

void close(Bucket& bucket, std::int64_t multiple, std::vector<Bucket>& buckets) {
  bucket.padded = (bucket.elements + multiple - 1) / multiple * multiple;
  buckets.push_back(bucket);
  bucket = {};
}

}  // namespace

int copies(const ParallelOptions& parallel, Holding holding) {
  return holding == Holding::kExpert ? parallel.expert_replicas() : parallel.replicas();
}

BucketRule bucket_rule(const TrainingOptions& training, const ParallelOptions& parallel, int chunk, Holding holding) {
  const int count = copies(parallel, holding);
  BucketRule rule{
      .close_at = std::numeric_limits<std::int64_t>::max(), .multiple = count * kAlignment, .holding = holding};
  const bool in_passes =
      parallel.overlap_grad_reduce || parallel.gradient_reduction != GradientReduction::kLastMicrobatch;
  if (!in_passes || chunk > 0) return rule;
  rule.close_at = std::max<std::int64_t>(40'000'000, std::int64_t{1'000'000} * count);
  if (parallel.bucket > Bytes(0)) {
    const auto bytes = static_cast<std::int64_t>(bytes_per_element(training.grad_reduce));
    rule.close_at = std::max<std::int64_t>(1, parallel.bucket.count() / bytes);
  }
  return rule;
}

std::vector<Bucket> fill_buckets(const ModelChunk& part, const BucketRule& rule) {
  std::vector<Bucket> buckets;
  Bucket bucket;
  for (std::size_t point = part.tensors.size(); point-- > 0;) {
    const std::vector<ParameterTensor>& tensors = part.tensors[point];
    for (auto tensor = tensors.rbegin(); tensor != tensors.rend(); ++tensor) {
      if (tensor->frozen || tensor->expert != (rule.holding == Holding::kExpert)) continue;
      if (bucket.elements == 0) bucket.last_point = point;
      bucket.first_point = point;
      bucket.elements += tensor->elements;
      if (bucket.elements >= rule.close_at) close(bucket, rule.multiple, buckets);
    }
  }
  if (bucket.elements > 0) close(bucket, rule.multiple, buckets);
  return buckets;
}

std::int64_t owned_elements(const std::vector<Bucket>& buckets, const ParallelOptions& parallel, Holding holding) {
  std::int64_t owned = 0;
  const int count = copies(parallel, holding);
  const bool sharded = parallel.zero_stage >= 1 && count > 1;
  for (const Bucket& bucket : buckets) owned += sharded ? bucket.padded / count : bucket.elements;
  return owned;
}

}  // namespace ringwright::workload
