// Memory-bound kernels between the GEMMs: RMSNorm and LayerNorm forward and backward, SwiGLU and GELU with their
// gradients, residual addition, dropout with its mask, cast and quantisation to fp8. Fused and vectorised as
// frameworks run them; the relevant quantity is the bytes that each must move.
#include <cstdint>
#include <string>
#include <vector>

#include <cuda_fp8.h>

#include "buffers.cuh"
#include "check.cuh"
#include "launch.cuh"
#include "suite.cuh"
#include "vector_types.cuh"

namespace ringwright::gpu {

void measure_elementwise(const Suite& suite);

namespace {

// A row each block; `kMean`: LayerNorm.
template <bool kMean>
__global__ void norm_forward(const Eight* in, const Eight* weight, Eight* out, float* statistics, int eights) {
  __shared__ float scratch[32];
  const Eight* row = in + static_cast<std::size_t>(blockIdx.x) * static_cast<std::size_t>(eights);
  float sum = 0.0F;
  float squares = 0.0F;
  for (int i = static_cast<int>(threadIdx.x); i < eights; i += static_cast<int>(blockDim.x)) {
    const Eight values = row[i];
    for (int j = 0; j < 4; ++j) {
      const float2 v = pair_of(values, j);
      sum += v.x + v.y;
      squares += v.x * v.x + v.y * v.y;
    }
  }
  const float count = 8.0F * static_cast<float>(eights);
  const float mean = kMean ? block_sum(sum, scratch) / count : 0.0F;
  const float scale = rsqrtf(block_sum(squares, scratch) / count - mean * mean + 1e-5F);
  if (threadIdx.x == 0) statistics[blockIdx.x] = scale;
  Eight* result = out + static_cast<std::size_t>(blockIdx.x) * static_cast<std::size_t>(eights);
  for (int i = static_cast<int>(threadIdx.x); i < eights; i += static_cast<int>(blockDim.x)) {
    const Eight values = row[i];  // from L1 or L2: it was just read
    const Eight factors = weight[i];
    Eight scaled;
    for (int j = 0; j < 4; ++j) {
      const float2 v = pair_of(values, j);
      const float2 w = pair_of(factors, j);
      set_pair(scaled, j, {(v.x - mean) * scale * w.x, (v.y - mean) * scale * w.y});
    }
    result[i] = scaled;
  }
}

// The gradient of the input: reads x, dy and the statistics, writes dx (weight gradients are summed elsewhere).
__global__ void norm_backward(const Eight* in, const Eight* gradient, const Eight* weight, const float* statistics,
                              Eight* out, int eights) {
  __shared__ float scratch[32];
  const std::size_t first = static_cast<std::size_t>(blockIdx.x) * static_cast<std::size_t>(eights);
  const float scale = statistics[blockIdx.x];
  float dot = 0.0F;
  for (int i = static_cast<int>(threadIdx.x); i < eights; i += static_cast<int>(blockDim.x)) {
    const Eight x = in[first + static_cast<std::size_t>(i)];
    const Eight dy = gradient[first + static_cast<std::size_t>(i)];
    const Eight factors = weight[i];
    for (int j = 0; j < 4; ++j) {
      const float2 a = pair_of(x, j);
      const float2 b = pair_of(dy, j);
      const float2 w = pair_of(factors, j);
      dot += a.x * b.x * w.x + a.y * b.y * w.y;
    }
  }
  const float common = block_sum(dot, scratch) * scale * scale * scale / (8.0F * static_cast<float>(eights));
  for (int i = static_cast<int>(threadIdx.x); i < eights; i += static_cast<int>(blockDim.x)) {
    const Eight x = in[first + static_cast<std::size_t>(i)];
    const Eight dy = gradient[first + static_cast<std::size_t>(i)];
    const Eight factors = weight[i];
    Eight dx;
    for (int j = 0; j < 4; ++j) {
      const float2 a = pair_of(x, j);
      const float2 b = pair_of(dy, j);
      const float2 w = pair_of(factors, j);
      set_pair(dx, j, {scale * b.x * w.x - common * a.x, scale * b.y * w.y - common * a.y});
    }
    out[first + static_cast<std::size_t>(i)] = dx;
  }
}

__device__ float sigmoid(float x) {
  return 1.0F / (1.0F + __expf(-x));
}
// The tanh approximation.
__device__ float gelu(float x) {
  return 0.5F * x * (1.0F + tanhf(0.7978846F * (x + 0.044715F * x * x * x)));
}
__device__ float gelu_slope(float x) {
  const float t = tanhf(0.7978846F * (x + 0.044715F * x * x * x));
  return 0.5F * (1.0F + t) + 0.5F * x * (1.0F - t * t) * 0.7978846F * (1.0F + 3.0F * 0.044715F * x * x);
}

struct SwiGlu {  // out = silu(a) b
  static constexpr int kInputs = 2, kOutputs = 1;
  __device__ static void apply(const float* in, float* out) { out[0] = in[0] * sigmoid(in[0]) * in[1]; }
};
struct SwiGluBackward {  // a, b, dy -> da, db
  static constexpr int kInputs = 3, kOutputs = 2;
  __device__ static void apply(const float* in, float* out) {
    const float s = sigmoid(in[0]);
    out[0] = in[2] * in[1] * s * (1.0F + in[0] * (1.0F - s));
    out[1] = in[2] * in[0] * s;
  }
};
struct Gelu {
  static constexpr int kInputs = 1, kOutputs = 1;
  __device__ static void apply(const float* in, float* out) { out[0] = gelu(in[0]); }
};
struct GeluBackward {
  static constexpr int kInputs = 2, kOutputs = 1;
  __device__ static void apply(const float* in, float* out) { out[0] = in[1] * gelu_slope(in[0]); }
};
struct Residual {
  static constexpr int kInputs = 2, kOutputs = 1;
  __device__ static void apply(const float* in, float* out) { out[0] = in[0] + in[1]; }
};

struct Pointers {
  const Eight* in[3];
  Eight* out[2];
};

template <class Operation>
__global__ void map_elements(Pointers at, std::size_t eights) {
  const std::size_t i = static_cast<std::size_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i >= eights) return;
  Eight in[Operation::kInputs];
  for (int p = 0; p < Operation::kInputs; ++p) in[p] = at.in[p][i];
  Eight out[Operation::kOutputs];
  for (int j = 0; j < 8; ++j) {
    float arguments[Operation::kInputs];
    float results[Operation::kOutputs];
    for (int p = 0; p < Operation::kInputs; ++p) arguments[p] = __bfloat162float(in[p].value[j]);
    Operation::apply(arguments, results);
    for (int p = 0; p < Operation::kOutputs; ++p) out[p].value[j] = __float2bfloat16(results[p]);
  }
  for (int p = 0; p < Operation::kOutputs; ++p) at.out[p][i] = out[p];
}

// Residual plus dropped-out values, and the mask of one byte an element.
__global__ void dropout(const Eight* in, const Eight* residual, Eight* out, uint2* mask, std::size_t eights,
                        unsigned seed) {
  const std::size_t i = static_cast<std::size_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i >= eights) return;
  std::uint64_t state = (i + 1) * 0x9E3779B97F4A7C15ULL ^ seed;
  const Eight x = in[i];
  const Eight r = residual[i];
  Eight sum;
  alignas(8) std::uint8_t kept[8];
  for (int j = 0; j < 8; ++j) {
    state = (state ^ (state >> 27)) * 0x94D049BB133111EBULL;
    kept[j] = (state >> 60) != 0 ? 1 : 0;  // 1/16 is dropped
    sum.value[j] =
        __float2bfloat16(__bfloat162float(r.value[j]) + (kept[j] ? __bfloat162float(x.value[j]) * 1.0667F : 0.0F));
  }
  out[i] = sum;
  mask[i] = *reinterpret_cast<const uint2*>(kept);
}

// Cast with a given scale, noting the largest magnitude for the next one (delayed scaling).
__global__ void quantise(const Eight* in, uint2* out, float* largest, std::size_t eights) {
  __shared__ float scratch[32];
  const std::size_t i = static_cast<std::size_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  float most = 0.0F;
  if (i < eights) {
    const Eight x = in[i];
    alignas(8) __nv_fp8_e4m3 small[8];
    for (int j = 0; j < 8; ++j) {
      const float value = __bfloat162float(x.value[j]);
      most = fmaxf(most, fabsf(value));
      small[j] = __nv_fp8_e4m3(value * 16.0F);
    }
    out[i] = *reinterpret_cast<const uint2*>(small);
  }
  most = block_max(most, scratch);
  if (threadIdx.x == 0) atomicMax(reinterpret_cast<int*>(largest), __float_as_int(most));
}

__global__ void widen(const Eight* in, float4* out, std::size_t eights) {
  const std::size_t i = static_cast<std::size_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i >= eights) return;
  const Eight x = in[i];
  for (int half = 0; half < 2; ++half) {
    const float2 a = pair_of(x, 2 * half);
    const float2 b = pair_of(x, 2 * half + 1);
    out[2 * i + static_cast<std::size_t>(half)] = {a.x, a.y, b.x, b.y};
  }
}

constexpr int kThreads = 256;
unsigned blocks_for(std::size_t items) {
  return static_cast<unsigned>((items + kThreads - 1) / kThreads);
}

struct Size {
  long long tokens, width;
  [[nodiscard]] std::size_t elements() const { return static_cast<std::size_t>(tokens * width); }
};

// Buffers of one size, shared by the kernels that are measured at it.
struct Operands {
  RotatingBuffers a, b, c, out, second_out;
  Buffer weight, statistics;
  explicit Operands(const Size& size)
      : a(size.elements(), Element::kBf16, 1),
        b(size.elements(), Element::kBf16, 2),
        c(size.elements(), Element::kBf16, 3),
        out(size.elements(), Element::kFp32, 4),
        second_out(size.elements(), Element::kBf16, 5),
        weight(2 * static_cast<std::size_t>(size.width)),
        statistics(4 * static_cast<std::size_t>(size.tokens)) {
    fill_random(weight, Element::kBf16, 6);
    fill_random(statistics, Element::kFp32, 7);
  }
};

class SizeMeasurer {
 public:
  SizeMeasurer(const Suite& suite, Table& table, const Size& size)
      : suite_(suite), table_(table), size_(size), operands_(size), eights_(size.elements() / 8) {}

  bool all() {
    const Operands& o = operands_;
    const auto rows = static_cast<unsigned>(size_.tokens);
    const int row_eights = static_cast<int>(size_.width / 8);
    const bool norms = one("norm", "rmsnorm", 4.0,
                           [&](cudaStream_t s, int t) {
                             enqueue(norm_forward<false>, {rows, kThreads}, s, o.a.at<Eight>(t), o.weight.as<Eight>(),
                                     o.out.at<Eight>(t), o.statistics.as<float>(), row_eights);
                           }) &&
                       one("norm", "layernorm", 4.0,
                           [&](cudaStream_t s, int t) {
                             enqueue(norm_forward<true>, {rows, kThreads}, s, o.a.at<Eight>(t), o.weight.as<Eight>(),
                                     o.out.at<Eight>(t), o.statistics.as<float>(), row_eights);
                           }) &&
                       one("norm", "norm backward", 6.0, [&](cudaStream_t s, int t) {
                         enqueue(norm_backward, {rows, kThreads}, s, o.a.at<Eight>(t), o.b.at<Eight>(t),
                                 o.weight.as<Eight>(), o.statistics.as<float>(), o.out.at<Eight>(t), row_eights);
                       });
    return norms && map<SwiGlu>("swiglu") && map<SwiGluBackward>("swiglu backward") && map<Gelu>("gelu") &&
           map<GeluBackward>("gelu backward") && map<Residual>("residual") &&
           one("elementwise", "dropout residual", 7.0,
               [&](cudaStream_t s, int t) {
                 enqueue(dropout, {blocks_for(eights_), kThreads}, s, o.a.at<Eight>(t), o.b.at<Eight>(t),
                         o.out.at<Eight>(t), o.second_out.at<uint2>(t), eights_, static_cast<unsigned>(t));
               }) &&
           one("cast", "bf16 to fp8", 3.0,
               [&](cudaStream_t s, int t) {
                 enqueue(quantise, {blocks_for(eights_), kThreads}, s, o.a.at<Eight>(t), o.out.at<uint2>(t),
                         o.statistics.as<float>(), eights_);
               }) &&
           one("cast", "bf16 to fp32", 6.0, [&](cudaStream_t s, int t) {
             enqueue(widen, {blocks_for(eights_), kThreads}, s, o.a.at<Eight>(t), o.out.at<float4>(t), eights_);
           });
  }

 private:
  bool one(const char* family, const char* op, double bytes_per_element, const Launch& launch) {
    const KernelRow row{.family = family, .op = op, .bytes = bytes_per_element * static_cast<double>(size_.elements())};
    return measure_kernel(suite_, table_, row, launch);
  }

  template <class Operation>
  bool map(const char* op) {
    const Operands& o = operands_;
    return one("elementwise", op, 2.0 * (Operation::kInputs + Operation::kOutputs), [&](cudaStream_t s, int t) {
      const Pointers at{{o.a.at<Eight>(t), o.b.at<Eight>(t), o.c.at<Eight>(t)},
                        {o.out.at<Eight>(t), o.second_out.at<Eight>(t)}};
      enqueue(map_elements<Operation>, {blocks_for(eights_), kThreads}, s, at, eights_);
    });
  }

  const Suite& suite_;
  Table& table_;
  Size size_;
  Operands operands_;
  std::size_t eights_;
};

}  // namespace

void measure_elementwise(const Suite& suite) {
  Table table = suite.kernel_table("elementwise");
  bool time_left = true;
  for (const long long tokens : {64, 512, 2048, 4096, 8192}) {
    for (const long long width : {1024, 2048, 4096, 8192, 14336}) {
      if (suite.extent == Extent::kQuick && (tokens != 4096 || width != 4096)) continue;
      time_left = time_left && SizeMeasurer(suite, table, {tokens, width}).all();
    }
  }
}

}  // namespace ringwright::gpu
