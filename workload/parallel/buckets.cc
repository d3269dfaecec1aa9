#include "workload/parallel/buckets.h"

#include <algorithm>

#include "workload/parallel/layer_fusion.h"

namespace ringwright::workload {
namespace {

constexpr std::int64_t kAlignment = 64;

void close(Bucket& bucket, std::int64_t multiple, std::vector<Bucket>& buckets) {
  bucket.padded = (bucket.elements + multiple - 1) / multiple * multiple;
  buckets.push_back(bucket);
  bucket = {};
}

struct OneGradient {
  std::size_t point = 0;
  std::int64_t elements = 0;
  bool matrix = false;  // of a layer
};

// In the order of the backward pass.
std::vector<OneGradient> gradients_of(const ModelChunk& part, Holding holding) {
  std::vector<OneGradient> gradients;
  for (std::size_t point = part.tensors.size(); point-- > 0;) {
    const PointTensors::List& tensors = part.tensors[point];
    for (std::size_t i = tensors.size(); i-- > 0;) {
      if (tensors[i].frozen || tensors[i].expert != (holding == Holding::kExpert)) continue;
      gradients.push_back(
          {.point = point, .elements = tensors[i].elements, .matrix = part.tensors.is_matrix(point, i)});
    }
  }
  return gradients;
}

// A bucket is reduced after the pass through its lowest point: until then all tensors of the point are ready.
std::vector<std::size_t> fused_ends(const std::vector<OneGradient>& gradients, const BucketRule& rule) {
  double all = 0.0;
  for (const OneGradient& one : gradients) all += static_cast<double>(one.elements);
  const double pace = to_seconds(rule.fusion.backward) / std::max(all, 1.0);
  std::vector<ReadyGradient> ready(gradients.size());
  double done = 0.0;
  for (std::size_t first = 0; first < gradients.size();) {
    std::size_t last = first;
    for (; last < gradients.size() && gradients[last].point == gradients[first].point; ++last) {
      done += static_cast<double>(gradients[last].elements);
    }
    for (; first < last; ++first) ready[first] = {.elements = gradients[first].elements, .ready = done * pace};
  }
  return fused_groups(ready, {.overhead = to_seconds(rule.fusion.overhead),
                              .per_element = static_cast<double>(rule.element_bytes) / rule.fusion.rate.count()});
}

}  // namespace

int copies(const ParallelOptions& parallel, Holding holding) {
  return holding == Holding::kExpert ? parallel.expert_replicas() : parallel.replicas();
}

int state_shards(const ParallelOptions& parallel, Holding holding) {
  return holding == Holding::kExpert ? parallel.expert_replicas() : parallel.state_sharers();
}

BucketPlace place_of(const std::vector<ModelChunk>& parts, std::size_t chunk) {
  return {.chunk = static_cast<int>(chunk), .part = parts[chunk].number};
}

namespace {

// Megatron cuts the first chunk of the first stage: reductions of others are not on the critical path
// (distributed_data_parallel.py). Others cut the first chunk of every stage.
bool is_cut(const ParallelOptions& parallel, const BucketPlace& place) {
  const bool everywhere = parallel.buckets_on_all_stages || parallel.allreduce_buckets || parallel.layer_fusion.on() ||
                          parallel.gradient_reduction != GradientReduction::kLastMicrobatch;
  return place.chunk == 0 && (everywhere || place.part == 0);
}

}  // namespace

BucketRule bucket_rule(const TrainingOptions& training, const ParallelOptions& parallel, const BucketPlace& place,
                       Holding holding) {
  const int count = copies(parallel, holding);
  BucketRule rule{
      .close_at = BucketRule::kNever, .multiple = state_shards(parallel, holding) * kAlignment, .holding = holding};
  const bool in_passes =
      parallel.overlap_grad_reduce || parallel.gradient_reduction != GradientReduction::kLastMicrobatch;
  if (!in_passes || !is_cut(parallel, place)) return rule;
  rule.fusion = parallel.layer_fusion;
  rule.element_bytes = static_cast<std::int64_t>(bytes_per_element(training.grad_reduce));
  rule.close_at = std::max<std::int64_t>(40'000'000, std::int64_t{1'000'000} * count);
  if (parallel.bucket > Bytes(0)) {
    const auto bytes = static_cast<std::int64_t>(bytes_per_element(training.grad_reduce));
    rule.close_at = std::max<std::int64_t>(1, parallel.bucket.count() / bytes);
  }
  return rule;
}

namespace {

// All gradients in one bucket.
std::vector<Bucket> whole_bucket(const ModelChunk& part, const BucketRule& rule) {
  Bucket bucket;
  for (std::size_t point = part.tensors.size(); point-- > 0;) {
    const PointTensors::Trained& trained = part.tensors.trained(point, rule.holding);
    if (trained.tensors == 0) continue;
    if (bucket.elements == 0) bucket.last_point = point;
    bucket.first_point = point;
    bucket.elements += trained.elements;
    bucket.matrices += trained.matrices;
  }
  std::vector<Bucket> buckets;
  if (bucket.elements > 0) close(bucket, rule.multiple, buckets);
  return buckets;
}

}  // namespace

std::vector<Bucket> fill_buckets(const ModelChunk& part, const BucketRule& rule) {
  if (rule.close_at == BucketRule::kNever && !rule.fusion.on()) return whole_bucket(part, rule);
  const std::vector<OneGradient> gradients = gradients_of(part, rule.holding);
  std::vector<bool> closes(gradients.size(), false);
  if (rule.fusion.on()) {
    for (const std::size_t end : fused_ends(gradients, rule)) closes[end - 1] = true;
  }
  std::vector<Bucket> buckets;
  Bucket bucket;
  for (std::size_t i = 0; i < gradients.size(); ++i) {
    if (bucket.elements == 0) bucket.last_point = gradients[i].point;
    bucket.first_point = gradients[i].point;
    bucket.elements += gradients[i].elements;
    bucket.matrices += gradients[i].matrix ? gradients[i].elements : 0;
    const bool full = rule.fusion.on() ? closes[i] : bucket.elements >= rule.close_at;
    if (full) close(bucket, rule.multiple, buckets);
  }
  if (bucket.elements > 0) close(bucket, rule.multiple, buckets);
  return buckets;
}

std::int64_t owned_elements(const std::vector<Bucket>& buckets, const ParallelOptions& parallel, Holding holding) {
  std::int64_t owned = 0;
  const int count = state_shards(parallel, holding);
  const bool sharded = parallel.zero_stage >= 1 && count > 1;
  for (const Bucket& bucket : buckets) owned += sharded ? bucket.padded / count : bucket.elements;
  return owned;
}

}  // namespace ringwright::workload
