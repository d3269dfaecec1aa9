// Buffers and their random contents.
#include "buffers.cuh"

#include <algorithm>
#include <cstdint>
#include <utility>

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>

#include "check.cuh"
#include "launch.cuh"

namespace ringwright::gpu {
namespace {

__device__ std::uint32_t mixed(std::uint64_t x) {  // splitmix64
  x += 0x9E3779B97F4A7C15ULL;
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9ULL;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBULL;
  return static_cast<std::uint32_t>((x ^ (x >> 31)) >> 32);
}

template <class T>
__global__ void fill(T* out, std::size_t count, unsigned seed) {
  const std::size_t stride = static_cast<std::size_t>(gridDim.x) * blockDim.x;
  for (std::size_t i = blockIdx.x * static_cast<std::size_t>(blockDim.x) + threadIdx.x; i < count; i += stride) {
    out[i] = static_cast<T>(static_cast<float>(mixed(i ^ (std::uint64_t{seed} << 40))) * 0x1p-31F - 1.0F);
  }
}

__global__ void fill_below(std::int32_t* out, std::size_t count, unsigned seed, unsigned below) {
  const std::size_t stride = static_cast<std::size_t>(gridDim.x) * blockDim.x;
  for (std::size_t i = blockIdx.x * static_cast<std::size_t>(blockDim.x) + threadIdx.x; i < count; i += stride) {
    out[i] = static_cast<std::int32_t>(mixed(i ^ (std::uint64_t{seed} << 40)) % below);
  }
}

}  // namespace

std::size_t l2_bytes() {
  int device = 0;
  int bytes = 0;
  check(cudaGetDevice(&device), "cudaGetDevice");
  check(cudaDeviceGetAttribute(&bytes, cudaDevAttrL2CacheSize, device), "cudaDeviceGetAttribute");
  return static_cast<std::size_t>(bytes);
}

std::size_t bytes_of(Element element) {
  switch (element) {
    case Element::kFp32:
    case Element::kInt32: return 4;
    case Element::kBf16:
    case Element::kFp16: return 2;
    case Element::kFp8: return 1;
  }
  return 0;
}

Buffer::Buffer(std::size_t bytes) : bytes_(bytes) {
  check(cudaMalloc(&data_, std::max<std::size_t>(bytes, 16)), "cudaMalloc");
}
Buffer::~Buffer() {
  cudaFree(data_);
}
Buffer::Buffer(Buffer&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)), bytes_(std::exchange(other.bytes_, 0)) {}
Buffer& Buffer::operator=(Buffer&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(bytes_, other.bytes_);
  return *this;
}

void fill_random(const Buffer& buffer, Element element, unsigned seed, unsigned below) {
  const std::size_t count = buffer.bytes() / bytes_of(element);
  constexpr int kBlocks = 1024;
  constexpr int kThreads = 256;
  switch (element) {
    case Element::kFp32: enqueue(fill<float>, {kBlocks, kThreads}, nullptr, buffer.as<float>(), count, seed); break;
    case Element::kBf16:
      enqueue(fill<__nv_bfloat16>, {kBlocks, kThreads}, nullptr, buffer.as<__nv_bfloat16>(), count, seed);
      break;
    case Element::kFp16: enqueue(fill<__half>, {kBlocks, kThreads}, nullptr, buffer.as<__half>(), count, seed); break;
    case Element::kFp8:
      enqueue(fill<__nv_fp8_e4m3>, {kBlocks, kThreads}, nullptr, buffer.as<__nv_fp8_e4m3>(), count, seed);
      break;
    case Element::kInt32:
      enqueue(fill_below, {kBlocks, kThreads}, nullptr, buffer.as<std::int32_t>(), count, seed, std::max(below, 1U));
      break;
  }
  check(cudaDeviceSynchronize(), "filling a buffer");
}

RotatingBuffers::RotatingBuffers(std::size_t elements, Element element, unsigned seed, std::size_t others_bytes) {
  const std::size_t bytes = std::max<std::size_t>(elements * bytes_of(element), 16);
  const std::size_t wanted = 2 * l2_bytes() / (bytes + others_bytes) + 1;
  const std::size_t count = std::clamp<std::size_t>(wanted, 2, 64);
  for (std::size_t i = 0; i < count; ++i) {
    buffers_.emplace_back(bytes);
    fill_random(buffers_.back(), element, seed + static_cast<unsigned>(i));
  }
}

}  // namespace ringwright::gpu
