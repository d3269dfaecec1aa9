// Makes kernels of a microbatch from sizes: GEMMs with FLOPs and bytes, everything else with bytes.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "workload/kernels/layer_kernels.h"
#include "workload/kernels/narrow_recipes.h"

namespace ringwright::workload {

constexpr double kDropoutMaskBytes = 1.0;  // per element of a dropout mask

struct Gemm {
  std::int64_t m = 0;
  std::int64_t n = 0;
  std::int64_t k = 0;
  std::int64_t batch = 1;
  GemmRole role = GemmRole::kForward;
};

// Of a GEMM's operand into a narrow type: by a kernel of its own, or by the kernel that writes the operand.
// Transposed: written in one layout by the kernel before, and in the other one by a kernel of its own.
enum class Cast { kApart, kWithin, kTransposed };

class KernelMaker {
 public:
  explicit KernelMaker(const KernelContext& context);

  // y = x W for W of in x out; its two gradients.
  void linear(std::string name, std::int64_t inputs, std::int64_t outputs, Cast cast = Cast::kApart);
  void dgrad(std::string name, std::int64_t inputs, std::int64_t outputs, Cast cast = Cast::kApart);
  // The same if the gradient of the output was gathered from the tensor-parallel ranks' parts of the sequence.
  void gathered_dgrad(std::string name, std::int64_t inputs, std::int64_t outputs);
  void wgrad(std::string name, std::int64_t inputs, std::int64_t outputs);
  // For several weights with the same input, gathered from the parts of the sequence: one GEMM for all of them, or one
  // for each, whose input gradients are then added.
  using Widths = std::initializer_list<std::int64_t>;
  void linears(const std::string& name, std::int64_t inputs, Widths outputs, bool has_adapter = false);
  void dgrads(const std::string& name, std::int64_t inputs, Widths outputs, Cast cast = Cast::kApart);
  void wgrads(const std::string& name, std::int64_t inputs, Widths outputs);
  // For weights that every tensor-parallel rank holds whole and uses for its part of the sequence.
  void local_linear(std::string name, std::int64_t inputs, std::int64_t outputs);
  void local_dgrad(std::string name, std::int64_t inputs, std::int64_t outputs);
  void local_wgrad(std::string name, std::int64_t inputs, std::int64_t outputs);
  void batched_gemm(std::string name, const Gemm& gemm);
  // The same if it moves other bytes than its operands and its result.
  void batched_gemm(std::string name, const Gemm& gemm, double bytes);
  // The blocks of the kernel that was made last go through so many steps one after another.
  void in_steps(std::int64_t steps) { kernels_.back().serial_steps = steps; }
  // Fused attention, forward or backward: `share` of the microbatch's scores, for queries and keys of that many tokens
  // of each sequence.
  struct Scores {
    std::int64_t queries = 0;
    std::int64_t keys = 0;
    std::int64_t heads = 0;
    std::int64_t documents = 1;  // with that many queries and keys each
    double share = 1.0;
    bool masked = true;  // by a causal mask, if the model has one
    bool casts = true;   // its inputs into fp8, if it computes in fp8; else they are cast before the ring
  };
  void attention(std::string name, KernelFamily family, const Scores& scores);
  // Casts tensors of so many columns for attention in fp8.
  void cast_for_attention(std::int64_t columns);
  // Weights of so many linear layers in both layouts, for the GEMMs of a step.
  // Of a use of weights in a pass, in the layout that its GEMM reads.
  void cast_used_weights(double elements, std::int64_t matrices);
  void transpose_weights(double elements, std::int64_t matrices);
  void cast_weights(double elements, std::int64_t matrices);
  // The narrow GEMMs of a linear layer's adapter, forward and backward.
  void adapter(std::int64_t inputs, std::int64_t outputs);
  void adapter_backward(std::int64_t inputs, std::int64_t outputs);
  // One GEMM per expert; `rows` is their total.
  struct Grouped {
    std::int64_t experts = 1;
    double rows = 0.0;
    std::int64_t inputs = 0;
    std::int64_t outputs = 0;
    GemmRole role = GemmRole::kForward;
    bool casts = true;          // its input into a narrow type, if GEMMs use one; else another kernel has
    double fused_bytes = 0.0;  // that it moves in addition, for the work of other kernels, for each row
  };
  void grouped(std::string name, const Grouped& gemms);
  // The kernel that was made last works on all experts: without grouped GEMMs it is one for each.
  void for_each_expert(std::int64_t experts);
  // A kernel that touches `values` values of the working type plus `other_bytes`, per element.
  struct Touch {
    double values = 0.0;
    double other_bytes = 0.0;
  };
  // Adds a weight's gradients to those of the step, if the GEMM has not added them.
  void add_gradient(const std::string& name, std::int64_t elements);
  void stream(KernelFamily family, std::string name, std::int64_t elements, const Touch& per_element);
  void bytes_only(KernelFamily family, std::string name, double bytes, DataType type);
  // A copy on a stream of its own, next to kernels that compute.
  void concurrent_copy(std::string name, double bytes);
  // Copies so many bytes to the host, which waits for them.
  void read_by_host(std::string name, double bytes);

  // The host issues all kernels so far after it has waited for the device.
  void pace_by_host();
  // From here on no GEMM uses fp8 or fp4.
  void keep_precision();
  // From here on kernels work on the tokens whose output is predicted.
  void keep_predicted();
  // The GEMMs of this name move so many more bytes for each value of their results; fewer, if it is negative.
  void widen_results(std::string_view gemms, double bytes);
  [[nodiscard]] std::int64_t tp() const { return context_.tp; }
  [[nodiscard]] std::int64_t cp() const { return context_.cp; }
  [[nodiscard]] DataType precision() const { return context_.training.precision; }
  [[nodiscard]] const FusedKernels& fused() const { return context_.training.fused; }
  [[nodiscard]] NarrowRecipe recipe() const { return context_.training.narrow; }
  [[nodiscard]] bool fuses_attention() const { return context_.training.attention == AttentionKernel::kFused; }
  [[nodiscard]] bool copies_gradients() const { return context_.training.gradient_sum == GradientSum::kCopied; }
  [[nodiscard]] std::vector<Kernel> take() { return std::move(kernels_); }

  // Sizes on this rank.
  const ModelShape& shape;
  std::int64_t tokens;        // of the microbatch, in this context-parallel rank's part of the sequence
  std::int64_t local_tokens;  // of them, those in this tensor-parallel rank's part
  std::int64_t heads;
  std::int64_t key_heads;
  std::int64_t query;    // columns
  std::int64_t key;      // columns
  std::int64_t value;    // columns
  std::int64_t context;  // columns of the attention core's result
  std::int64_t gate;     // columns of its output gate
  std::int64_t ffn;
  std::int64_t gated_ffn;   // columns of the up GEMM
  std::int64_t vocabulary;  // rows of the embedding
  double gradient_bytes;    // of one element of the main gradients
  Pointwise pointwise;      // how non-GEMM kernels are run
  double activation_input = 0.0;  // bytes of a value that an MLP's activation reads, as its backward pass reads it

  // Of a value of the working type, beyond one of the GEMMs' type.
  [[nodiscard]] double narrow_saving() const;
  // Of a value in the layouts that GEMMs read, with its scales.
  [[nodiscard]] double narrow_bytes() const;
  // SwiGLU's, in fp8.
  [[nodiscard]] bool casts_activation_input() const {
    return context_.training.fused.fp8_activation_input && shape.activation == Activation::kSwiGlu &&
           pointwise == Pointwise::kFused;
  }

 private:
  void add_gemm(std::string name, const Gemm& gemm, DataType type);
  void weight_gradient(std::string name, const Gemm& gemm);
  void transpose_for_dgrad(std::int64_t elements, std::int64_t matrices);
  // The widths of their GEMMs.
  [[nodiscard]] std::vector<std::int64_t> weights_of(Widths outputs) const;
  void take_operand(double elements, Cast cast);
  // Pairs of query and key in one sequence: documents do not attend to each other.
  [[nodiscard]] double asked_pairs() const;
  // Writes a tensor in fp8 or fp4, if GEMMs use that type. The inputs of a grouped GEMM are one tensor for each expert.
  void quantise(double elements, std::int64_t tensors = 1);
  // A gathered tensor of this many columns: quantised whole, or part by part before the gather.
  void quantise_gathered(std::int64_t columns);

  const KernelContext& context_;
  DataType gemm_type_;  // of linear layers
  std::vector<Kernel> kernels_;
};

}  // namespace ringwright::workload
