// The calls of CUDA's runtime that the GPU suite makes, on a device that is not there: its clock is made up, its memory
// is real (and never touched where nothing reads it), and every launch is checked against the limits of an H100.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <tuple>
#include <vector>

enum cudaError_t {
  cudaSuccess = 0,
  cudaErrorInvalidValue = 1,
  cudaErrorMemoryAllocation = 2,
  cudaErrorInvalidConfiguration = 9,
  cudaErrorInvalidResourceHandle = 400,
  cudaErrorNotReady = 600,
  cudaErrorLaunchFailure = 719,
  cudaErrorCooperativeLaunchTooLarge = 720,
};
enum cudaMemcpyKind { cudaMemcpyHostToDevice, cudaMemcpyDeviceToHost, cudaMemcpyDeviceToDevice };
enum cudaStreamCaptureMode { cudaStreamCaptureModeThreadLocal };
enum cudaDeviceAttr { cudaDevAttrMultiProcessorCount, cudaDevAttrL2CacheSize, cudaDevAttrMaxSharedMemoryPerBlockOptin };
enum cudaFuncAttribute { cudaFuncAttributeMaxDynamicSharedMemorySize };
constexpr unsigned cudaStreamNonBlocking = 1, cudaEventDisableTiming = 2, cudaHostAllocMapped = 2;

struct dim3 {
  unsigned x, y = 1, z = 1;
  explicit dim3(unsigned size) : x(size) {}
};
struct cudaDeviceProp {
  char name[256];
  int multiProcessorCount, l2CacheSize, major, minor;
  std::size_t totalGlobalMem;
};

namespace emulation {

struct Stream;
struct Event;
struct Graph;

struct Launch {
  const void* function = nullptr;  // of a library: null
  unsigned blocks = 1;
  unsigned threads = 1;
  std::size_t shared_bytes = 0;
  bool cooperative = false;
};

// What a test may set, and look at afterwards.
struct Device {
  std::string name = "NVIDIA H100 80GB HBM3";
  std::size_t memory_bytes = 80UL << 30U;
  int multiprocessors = 132;
  double launch_us = 10.0;  // of a kernel on the device
  double copy_GBps = 50.0;  // of a copy to or from the host
  int fail_launch = -1;     // the number of the launch that the device refuses
  // How a launch is treated besides: its first and last block are run (of a kernel's first two launches), all of it, it
  // runs concurrently with the host, or nothing.
  enum class Treatment { kEnds, kWhole, kBackground, kNone };
  std::function<Treatment(const Launch&)> treatment;

  int launches = 0;
  std::size_t used_bytes = 0;
  std::size_t most_used_bytes = 0;
  std::vector<std::string> complaints;  // about what a real device would have done badly with
};
// The device as it is before anything was done with it, for the next test.
Device& fresh_device();
Device& device();

cudaError_t launch(const Launch& launch, cudaError_t status, Stream* stream, std::function<void()> kernel);
cudaError_t check_launch(const Launch& launch);
// Whether so many bytes lie in one allocation of the device.
bool covers(const void* from, std::size_t bytes);
void complain(const std::string& what);
// What has been made and not given back: allocations, streams, events, graphs; nothing: empty.
std::string left_behind();
cudaError_t set_most_shared(const void* function, int bytes);

template <class... Parameters>
cudaError_t launch_typed(void (*kernel)(Parameters...), Launch facts, void** arguments, Stream* stream) {
  facts.function = reinterpret_cast<const void*>(kernel);
  const auto values = [&]<std::size_t... I>(std::index_sequence<I...>) {
    return std::tuple<Parameters...>(*static_cast<Parameters*>(arguments[I])...);
  }
  (std::index_sequence_for<Parameters...>{});
  return launch(facts, check_launch(facts), stream, [kernel, values] { std::apply(kernel, values); });
}

}  // namespace emulation

using cudaStream_t = emulation::Stream*;
using cudaEvent_t = emulation::Event*;
using cudaGraph_t = emulation::Graph*;
using cudaGraphExec_t = emulation::Graph*;

template <class... Parameters>
cudaError_t cudaLaunchKernel(void (*kernel)(Parameters...), dim3 blocks, dim3 threads, void** arguments,
                             std::size_t shared, cudaStream_t stream) {
  return emulation::launch_typed(kernel, {nullptr, blocks.x, threads.x, shared, false}, arguments, stream);
}
template <class... Parameters>
cudaError_t cudaLaunchCooperativeKernel(void (*kernel)(Parameters...), dim3 blocks, dim3 threads, void** arguments,
                                        std::size_t shared, cudaStream_t stream) {
  return emulation::launch_typed(kernel, {nullptr, blocks.x, threads.x, shared, true}, arguments, stream);
}
cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int device);
// Of every kernel: the emulation does not know what its blocks share statically, and counts these bytes for it.
struct cudaFuncAttributes {
  std::size_t sharedSizeBytes = 16;
};
inline cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* own, const void*) {
  *own = {};
  return cudaSuccess;
}
template <class... Parameters>
cudaError_t cudaFuncSetAttribute(void (*kernel)(Parameters...), cudaFuncAttribute, int value) {
  int most = 0;
  cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerBlockOptin, 0);
  const auto own = static_cast<int>(cudaFuncAttributes{}.sharedSizeBytes);
  if (value + own > most) return cudaErrorInvalidValue;
  return emulation::set_most_shared(reinterpret_cast<const void*>(kernel), value);
}

const char* cudaGetErrorString(cudaError_t error);
cudaError_t cudaGetLastError();
cudaError_t cudaGetDevice(int* device);
cudaError_t cudaGetDeviceCount(int* count);
cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int device);
cudaError_t cudaDeviceGetPCIBusId(char* text, int length, int device);
cudaError_t cudaDriverGetVersion(int* version);
cudaError_t cudaRuntimeGetVersion(int* version);
cudaError_t cudaDeviceSynchronize();
cudaError_t cudaMalloc(void** data, std::size_t bytes);
cudaError_t cudaFree(void* data);
cudaError_t cudaMallocHost(void** data, std::size_t bytes);
template <class T>
cudaError_t cudaMallocHost(T** data, std::size_t bytes) {
  return cudaMallocHost(reinterpret_cast<void**>(data), bytes);
}
template <class T>
cudaError_t cudaHostAlloc(T** data, std::size_t bytes, unsigned) {
  return cudaMallocHost(reinterpret_cast<void**>(data), bytes);
}
cudaError_t cudaFreeHost(void* data);
cudaError_t cudaMemset(void* data, int value, std::size_t bytes);
cudaError_t cudaMemcpy(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind);
cudaError_t cudaMemcpyAsync(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind, cudaStream_t stream);
cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned flags);
cudaError_t cudaStreamDestroy(cudaStream_t stream);
cudaError_t cudaStreamSynchronize(cudaStream_t stream);
cudaError_t cudaStreamQuery(cudaStream_t stream);
cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event);
cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode mode);
cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t* graph);
cudaError_t cudaGraphInstantiate(cudaGraphExec_t* executable, cudaGraph_t graph, unsigned long long flags);
cudaError_t cudaGraphUpload(cudaGraphExec_t executable, cudaStream_t stream);
cudaError_t cudaGraphLaunch(cudaGraphExec_t executable, cudaStream_t stream);
cudaError_t cudaGraphDestroy(cudaGraph_t graph);
cudaError_t cudaGraphExecDestroy(cudaGraphExec_t executable);
cudaError_t cudaEventCreate(cudaEvent_t* event);
cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned flags);
cudaError_t cudaEventDestroy(cudaEvent_t event);
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream);
cudaError_t cudaEventSynchronize(cudaEvent_t event);
cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t begin, cudaEvent_t end);
