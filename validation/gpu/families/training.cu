// Kernels at the ends of a training step: fused softmax and cross-entropy with its gradient, embedding gather and
// scatter-add, fused Adam over many tensors with fp32 master weights.
#include <cstdint>
#include <string>
#include <vector>

#include "buffers.cuh"
#include "check.cuh"
#include "launch.cuh"
#include "suite.cuh"
#include "vector_types.cuh"

namespace ringwright::gpu {

void measure_training_kernels(const Suite& suite);

namespace {

// A token each block: reads its logits twice, and writes the gradient over them.
__global__ void cross_entropy(Eight* logits, const std::int32_t* targets, float* loss, int eights) {
  __shared__ float scratch[32];
  Eight* row = logits + static_cast<std::size_t>(blockIdx.x) * static_cast<std::size_t>(eights);
  float most = -3e38F;
  for (int i = static_cast<int>(threadIdx.x); i < eights; i += static_cast<int>(blockDim.x)) {
    for (int j = 0; j < 8; ++j) most = fmaxf(most, __bfloat162float(row[i].value[j]));
  }
  most = block_max(most, scratch);
  float sum = 0.0F;
  for (int i = static_cast<int>(threadIdx.x); i < eights; i += static_cast<int>(blockDim.x)) {
    const Eight x = row[i];
    for (int j = 0; j < 8; ++j) sum += __expf(__bfloat162float(x.value[j]) - most);
  }
  sum = block_sum(sum, scratch);
  const int target = targets[blockIdx.x];
  for (int i = static_cast<int>(threadIdx.x); i < eights; i += static_cast<int>(blockDim.x)) {
    const Eight x = row[i];
    Eight gradient;
    for (int j = 0; j < 8; ++j) {
      const float value = __bfloat162float(x.value[j]);
      const bool hit = 8 * i + j == target;
      if (hit) loss[blockIdx.x] = __logf(sum) + most - value;
      gradient.value[j] = __float2bfloat16(__expf(value - most) / sum - (hit ? 1.0F : 0.0F));
    }
    row[i] = gradient;
  }
}

__global__ void gather(const Eight* table, const std::int32_t* tokens, Eight* out, int eights) {
  const Eight* row = table + static_cast<std::size_t>(tokens[blockIdx.x]) * static_cast<std::size_t>(eights);
  Eight* result = out + static_cast<std::size_t>(blockIdx.x) * static_cast<std::size_t>(eights);
  for (int i = static_cast<int>(threadIdx.x); i < eights; i += static_cast<int>(blockDim.x)) result[i] = row[i];
}

// Into fp32 main gradients, with atomic additions: a token may occur twice.
__global__ void scatter_add(const Eight* gradient, const std::int32_t* tokens, float* table, int eights) {
  const Eight* row = gradient + static_cast<std::size_t>(blockIdx.x) * static_cast<std::size_t>(eights);
  float* result = table + static_cast<std::size_t>(tokens[blockIdx.x]) * static_cast<std::size_t>(8 * eights);
  for (int i = static_cast<int>(threadIdx.x); i < eights; i += static_cast<int>(blockDim.x)) {
    const Eight x = row[i];
    for (int j = 0; j < 8; ++j) atomicAdd(result + 8 * i + j, __bfloat162float(x.value[j]));
  }
}

constexpr int kTensorsALaunch = 24;
struct AdamTensors {
  const float4* gradient[kTensorsALaunch];
  float4* master[kTensorsALaunch];
  float4* first[kTensorsALaunch];
  float4* second[kTensorsALaunch];
  uint2* weight[kTensorsALaunch];  // four bf16
  std::size_t fours[kTensorsALaunch];
};

// 4 (gradient) + 2 x 12 (master and moments, read and written) + 2 (weight) = 30 bytes a parameter.
__global__ void adam(AdamTensors at, int blocks_each, float step_size) {
  const int tensor = static_cast<int>(blockIdx.x) / blocks_each;
  const std::size_t stride = static_cast<std::size_t>(blocks_each) * blockDim.x;
  const std::size_t start =
      static_cast<std::size_t>(static_cast<int>(blockIdx.x) % blocks_each) * blockDim.x + threadIdx.x;
  for (std::size_t i = start; i < at.fours[tensor]; i += stride) {
    const float4 g = at.gradient[tensor][i];
    float4 p = at.master[tensor][i];
    float4 m = at.first[tensor][i];
    float4 v = at.second[tensor][i];
    alignas(8) __nv_bfloat16 weight[4];
    const float* gradient = &g.x;
    for (int j = 0; j < 4; ++j) {
      float& first = (&m.x)[j];
      float& second = (&v.x)[j];
      float& master = (&p.x)[j];
      first = 0.9F * first + 0.1F * gradient[j];
      second = 0.95F * second + 0.05F * gradient[j] * gradient[j];
      master = 0.9999F * master - step_size * first * rsqrtf(fabsf(second) + 1e-8F);
      weight[j] = __float2bfloat16(master);
    }
    at.master[tensor][i] = p;
    at.first[tensor][i] = m;
    at.second[tensor][i] = v;
    at.weight[tensor][i] = *reinterpret_cast<const uint2*>(weight);
  }
}

constexpr int kThreads = 256;

bool measure_loss(const Suite& suite, Table& table, long long tokens, long long vocabulary) {
  const double logits = static_cast<double>(tokens * vocabulary);
  const KernelRow row{.family = "softmax", .op = "cross-entropy with gradient", .bytes = 2.0 * 3.0 * logits};
  if (!is_missing(table, row)) return true;
  const RotatingBuffers values(static_cast<std::size_t>(tokens * vocabulary), Element::kBf16, 1);
  const Buffer targets(4 * static_cast<std::size_t>(tokens));
  fill_random(targets, Element::kInt32, 2, static_cast<unsigned>(vocabulary));
  const Buffer loss(4 * static_cast<std::size_t>(tokens));
  return measure_kernel(suite, table, row, [&](cudaStream_t s, int turn) {
    enqueue(cross_entropy, {static_cast<unsigned>(tokens), 1024}, s, values.at<Eight>(turn), targets.as<std::int32_t>(),
            loss.as<float>(), static_cast<int>(vocabulary / 8));
  });
}

bool measure_embedding(const Suite& suite, Table& table, long long tokens, long long hidden) {
  constexpr long long kVocabulary = 32000;
  const double values = static_cast<double>(tokens * hidden);
  const KernelRow look_up{.family = "embedding", .op = "gather", .bytes = 4.0 * values};
  const KernelRow add{.family = "embedding", .op = "scatter-add fp32", .bytes = 10.0 * values};
  const RotatingBuffers activations(static_cast<std::size_t>(tokens * hidden), Element::kBf16, 1);
  const Buffer words(2 * static_cast<std::size_t>(kVocabulary * hidden));
  fill_random(words, Element::kBf16, 3);
  const Buffer gradients(4 * static_cast<std::size_t>(kVocabulary * hidden));
  fill_random(gradients, Element::kFp32, 4);
  std::vector<Buffer> chosen;  // other words each launch: the rows of the last ones are in the L2 cache
  for (unsigned i = 0; i < 16; ++i) {
    chosen.emplace_back(4 * static_cast<std::size_t>(tokens));
    fill_random(chosen.back(), Element::kInt32, 6 + i, kVocabulary);
  }
  const auto words_of = [&](int turn) {
    return chosen[static_cast<std::size_t>(turn) % chosen.size()].as<std::int32_t>();
  };
  const auto blocks = static_cast<unsigned>(tokens);
  const int eights = static_cast<int>(hidden / 8);
  return measure_kernel(suite, table, look_up,
                        [&](cudaStream_t s, int turn) {
                          enqueue(gather, {blocks, kThreads}, s, words.as<Eight>(), words_of(turn),
                                  activations.at<Eight>(turn), eights);
                        }) &&
         measure_kernel(suite, table, add, [&](cudaStream_t s, int turn) {
           enqueue(scatter_add, {blocks, kThreads}, s, activations.at<Eight>(turn), words_of(turn),
                   gradients.as<float>(), eights);
         });
}

bool measure_adam(const Suite& suite, Table& table, long long parameters, int tensors) {
  const KernelRow row{.family = "optimizer",
                      .op = "adam with tensors in a launch: " + std::to_string(tensors),
                      .dtype = "fp32",
                      .bytes = 30.0 * static_cast<double>(parameters)};
  if (!is_missing(table, row)) return true;
  // Four fp32 arrays and the bf16 weights, each for all tensors, one set after another: a step finds nothing in the
  // cache.
  const auto each = static_cast<std::size_t>(parameters / tensors / 4 * 4);
  const std::size_t all = each * static_cast<std::size_t>(tensors);
  const std::size_t others = 14 * all;  // in addition to one fp32 array
  const RotatingBuffers gradients(all, Element::kFp32, 1, others), masters(all, Element::kFp32, 2, others);
  const RotatingBuffers first(all, Element::kFp32, 3, others), second(all, Element::kFp32, 4, others);
  const RotatingBuffers weights(all, Element::kBf16, 5, 16 * all);
  const int blocks_each = 2048 / tensors;
  return measure_kernel(suite, table, row, [&](cudaStream_t s, int turn) {
    AdamTensors at{};
    for (int i = 0; i < tensors; ++i) {
      const std::size_t fours = each / 4;
      const std::size_t begin = fours * static_cast<std::size_t>(i);
      at.gradient[i] = gradients.at<float4>(turn) + begin;
      at.master[i] = masters.at<float4>(turn) + begin;
      at.first[i] = first.at<float4>(turn) + begin;
      at.second[i] = second.at<float4>(turn) + begin;
      at.weight[i] = weights.at<uint2>(turn) + begin;
      at.fours[i] = fours;
    }
    enqueue(adam, {static_cast<unsigned>(blocks_each * tensors), kThreads}, s, at, blocks_each, 1e-4F);
  });
}

}  // namespace

void measure_training_kernels(const Suite& suite) {
  Table table = suite.kernel_table("training");
  const bool quick = suite.extent == Extent::kQuick;
  bool time_left = true;
  for (const long long tokens : {512, 2048, 4096, 8192}) {
    if (quick && tokens != 2048) continue;
    for (const long long vocabulary : {32000, 50304, 128256}) {
      time_left = time_left && measure_loss(suite, table, tokens, vocabulary);
    }
    for (const long long hidden : {2048, 4096, 8192}) {
      time_left = time_left && measure_embedding(suite, table, tokens, hidden);
    }
  }
  for (const long long parameters : {100'000, 1'000'000, 10'000'000, 50'000'000, 200'000'000, 800'000'000}) {
    for (const int tensors : {1, 8, kTensorsALaunch}) {
      if (quick && tensors != 8) continue;
      time_left = time_left && measure_adam(suite, table, parameters, tensors);
    }
  }
}

}  // namespace ringwright::gpu
