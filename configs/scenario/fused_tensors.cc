#include "configs/scenario/fused_tensors.h"

#include <algorithm>

namespace ringwright::configs {
namespace {

constexpr std::string_view kThreshold = "HOROVOD_FUSION_THRESHOLD";

// Whether the job sets the bucket, or has none.
std::string_view reason_against(ConfigMap root, const Job& job) {
  if (job.layered) {
    ConfigMap layered = root.map("layer_table", "");
    return layered.has("bucket") ? "the job's own bucket is given" : "";
  }
  if (job.trace || job.recommendation) return "this job's gradients are not fused here";
  ConfigMap zero = root.map("parallel", "").map("zero", "");
  if (zero.has("bucket") || zero.has("reduce_bucket_size")) return "'parallel.zero' gives a bucket";
  if (!job.parallel.overlap_grad_reduce) return "without overlap_grad_reduce all gradients are one bucket";
  return "";
}

}  // namespace

void fuse_tensors(ConfigMap root, const collectives::LibrarySettings& library, Job& job) {
  if (!library.is("horovod") || root.documenting()) return;
  const std::string_view why = reason_against(root, job);
  if (!why.empty()) {
    ConfigMap env = root.map("comm", "the library that runs collectives").map("env", "");
    if (env.has(kThreshold)) env.ignore(kThreshold, why);
    return;
  }
  // A threshold of 0 turns fusion off: every tensor fills a bucket.
  const Bytes threshold = std::max(library.horovod.fusion_threshold, Bytes(1));
  if (!job.layered) job.parallel.bucket = threshold;
  if (job.layered) job.layered->model.bucket = job.layered->model.first_bucket = threshold;
}

}  // namespace ringwright::configs
