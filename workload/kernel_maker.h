// Makes kernels of a microbatch from sizes: products with FLOPs and bytes, everything else with bytes.
#pragma once

#include <string>
#include <vector>

#include "workload/layer_kernels.h"

namespace ringwright::workload {

struct Product {
  std::int64_t m = 0;
  std::int64_t n = 0;
  std::int64_t k = 0;
  std::int64_t batch = 1;
  ProductRole role = ProductRole::kForward;
};

class KernelMaker {
 public:
  explicit KernelMaker(const KernelContext& context);

  // y = x W for W of in x out; its two gradients.
  void linear(std::string name, std::int64_t inputs, std::int64_t outputs);
  void dgrad(std::string name, std::int64_t inputs, std::int64_t outputs);
  void wgrad(std::string name, std::int64_t inputs, std::int64_t outputs);
  void batched_product(std::string name, const Product& product);
  // Fused attention, forward or backward.
  void attention(std::string name, KernelFamily family);
  // A kernel that touches `values` values of the working type and `other_bytes` beside them, per element.
  struct Touch {
    double values = 0.0;
    double other_bytes = 0.0;
  };
  void stream(KernelFamily family, std::string name, std::int64_t elements, const Touch& per_element);
  void bytes_only(KernelFamily family, std::string name, double bytes, DataType type);

  [[nodiscard]] std::vector<Kernel> take() { return std::move(kernels_); }

  // Sizes on this rank.
  const ModelShape& shape;
  std::int64_t tokens;        // of the microbatch
  std::int64_t local_tokens;  // of this rank's part of the sequence
  std::int64_t heads;
  std::int64_t query;      // columns
  std::int64_t key_value;  // columns of keys, and as many of values
  std::int64_t ffn;
  std::int64_t gated_ffn;   // columns of the up product
  std::int64_t vocabulary;  // rows of the embedding
  double gradient_bytes;    // of one element of the main gradients

 private:
  const KernelContext& context_;
  std::vector<Kernel> kernels_;
};

}  // namespace ringwright::workload
