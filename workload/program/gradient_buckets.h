// Buckets of gradients, as PyTorch's DistributedDataParallel fills them in the order of the backward pass.
#pragma once

#include <utility>

#include "core/base/units.h"

namespace ringwright::workload {

class GradientBuckets {
 public:
  // The first bucket is full earlier, so that reducing begins early (dist._DEFAULT_FIRST_BUCKET_BYTES).
  GradientBuckets(Bytes full, Bytes first_full) : full_(full), limit_(first_full) {}

  // The bucket that these gradients fill, or nothing.
  [[nodiscard]] Bytes add(Bytes gradients) {
    open_ += gradients;
    return open_ >= limit_ ? close() : Bytes(0);
  }
  // What has not filled a bucket.
  [[nodiscard]] Bytes close() {
    limit_ = full_;
    return std::exchange(open_, Bytes(0));
  }

 private:
  Bytes full_;
  Bytes limit_;  // of the open one
  Bytes open_;
};

}  // namespace ringwright::workload
