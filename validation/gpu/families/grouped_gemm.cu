// GEMMs of experts: E GEMMs of one shape in one launch (cuBLAS grouped gemm), as a GPU with E local experts runs them.
#include <cstdint>
#include <string>
#include <vector>

#include <cublas_v2.h>

#include "buffers.cuh"
#include "check.cuh"
#include "suite.cuh"

namespace ringwright::gpu {

void measure_grouped_gemm(const Suite& suite);

namespace {

struct Shape {
  long long experts, tokens, outputs, inputs;  // tokens of each expert
};

// The experts' operands, and the tables of pointers that cuBLAS wants on the device.
class Experts {
 public:
  explicit Experts(const Shape& shape)
      : weights_(elements(shape.experts * shape.outputs * shape.inputs), Element::kBf16, 1),
        inputs_(elements(shape.experts * shape.tokens * shape.inputs), Element::kBf16, 50),
        results_(elements(shape.experts * shape.tokens * shape.outputs), Element::kBf16, 90) {
    for (int turn = 0; turn < kTurns; ++turn) {
      pointers_.push_back(table(weights_.at<char>(turn), shape.experts, 2 * shape.outputs * shape.inputs));
      pointers_.push_back(table(inputs_.at<char>(turn), shape.experts, 2 * shape.tokens * shape.inputs));
      pointers_.push_back(table(results_.at<char>(turn), shape.experts, 2 * shape.tokens * shape.outputs));
    }
  }
  [[nodiscard]] const void* const* weights(int turn) const { return pointer(turn, 0); }
  [[nodiscard]] const void* const* inputs(int turn) const { return pointer(turn, 1); }
  [[nodiscard]] void* const* results(int turn) const { return pointers_[index(turn, 2)].as<void*>(); }

 private:
  static constexpr int kTurns = 4;
  static std::size_t elements(long long count) { return static_cast<std::size_t>(count); }
  static std::size_t index(int turn, int operand) { return static_cast<std::size_t>(turn % kTurns * 3 + operand); }
  [[nodiscard]] const void* const* pointer(int turn, int operand) const {
    return pointers_[index(turn, operand)].as<const void*>();
  }
  static Buffer table(char* first, long long count, long long stride_bytes) {
    std::vector<void*> host;
    for (long long i = 0; i < count; ++i) host.push_back(first + i * stride_bytes);
    Buffer device(host.size() * sizeof(void*));
    check(cudaMemcpy(device.data(), host.data(), device.bytes(), cudaMemcpyHostToDevice), "cudaMemcpy");
    return device;
  }

  RotatingBuffers weights_, inputs_, results_;
  std::vector<Buffer> pointers_;
};

bool measure_shape(const Suite& suite, Table& table, cublasHandle_t handle, const Shape& shape) {
  const auto experts = static_cast<double>(shape.experts);
  const auto m = static_cast<double>(shape.tokens);
  const auto n = static_cast<double>(shape.outputs);
  const auto k = static_cast<double>(shape.inputs);
  const KernelRow row{.family = "grouped gemm",
                      .op = "cublasGemmGroupedBatchedEx",
                      .layout = "TN",
                      .m = shape.tokens,
                      .n = shape.outputs,
                      .k = shape.inputs,
                      .batch = shape.experts,
                      .flops = 2.0 * m * n * k * experts,
                      .bytes = 2.0 * experts * (m * k + n * k + m * n)};
  TimingRules rules;
  rules.mode = LaunchMode::kEager;  // the call prepares its problem on the host
  if (!is_missing(table, row, rules)) return true;
  const Experts operands(shape);
  const cublasOperation_t turned = CUBLAS_OP_T;
  const cublasOperation_t straight = CUBLAS_OP_N;
  const int rows = static_cast<int>(shape.outputs);
  const int columns = static_cast<int>(shape.tokens);
  const int depth = static_cast<int>(shape.inputs);
  const int group = static_cast<int>(shape.experts);
  const float alpha = 1.0F;
  const float beta = 0.0F;
  return measure_kernel(
      suite, table, row,
      [&](cudaStream_t stream, int turn) {
        check(cublasSetStream(handle, stream), "cublasSetStream");
        check(cublasGemmGroupedBatchedEx(handle, &turned, &straight, &rows, &columns, &depth, &alpha,
                                         operands.weights(turn), CUDA_R_16BF, &depth, operands.inputs(turn),
                                         CUDA_R_16BF, &depth, &beta, operands.results(turn), CUDA_R_16BF, &rows, 1,
                                         &group, CUBLAS_COMPUTE_32F),
              "cublasGemmGroupedBatchedEx");
      },
      rules);
}

}  // namespace

void measure_grouped_gemm(const Suite& suite) {
  Table table = suite.kernel_table("grouped_gemm");
  cublasHandle_t handle{};
  check(cublasCreate(&handle), "cublasCreate");
  // Mixtral 8x7B, Qwen3-30B-A3B, DeepSeek-V3: the up (with gate) and down GEMMs of their experts.
  struct Model {
    long long hidden, ffn;
  };
  const std::vector<Model> models = {{4096, 14336}, {2048, 768}, {7168, 2048}};
  bool time_left = true;
  for (const Model& model : models) {
    for (const long long experts : {1, 2, 4, 8, 16, 32}) {
      if (suite.extent == Extent::kQuick && experts != 8) continue;
      for (const long long tokens : {64, 256, 512, 1024, 2048}) {
        if (suite.extent != Extent::kFull && experts * tokens > 16384) continue;
        for (const Shape& shape :
             {Shape{experts, tokens, 2 * model.ffn, model.hidden}, Shape{experts, tokens, model.hidden, model.ffn}}) {
          time_left = time_left && measure_shape(suite, table, handle, shape);
        }
      }
    }
  }
  check(cublasDestroy(handle), "cublasDestroy");
}

}  // namespace ringwright::gpu
