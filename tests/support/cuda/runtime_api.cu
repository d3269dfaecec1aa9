// A device of streams with a clock each, and of allocations with a closed page behind each.
#include "cuda_runtime.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstdio>
#include <map>
#include <memory>
#include <set>
#include <utility>

namespace emulation {

struct Stream {
  double ready_us = 0.0;  // when all that was issued has ended
  Graph* capture = nullptr;
  std::unique_ptr<Background, void (*)(Background*)> background{nullptr, end};
};
struct Event {
  double at_us = 0.0;
  bool recorded = false;
  bool timed = true;
};
struct Graph {
  double us = 0.0;
  int uses = 1;  // the graph, and what was made of it
};

namespace {

struct State {
  Device device;
  double host_us = 0.0;
  cudaError_t last_error = cudaSuccess;
  std::map<const char*, std::size_t> allocations;       // of the device
  std::map<const char*, std::size_t> host_allocations;  // pinned
  std::map<const void*, int> played;                    // how often a kernel's ends were run
  std::map<const void*, int> most_shared;
  std::set<Stream*> streams;
  Stream legacy;  // the default stream
  int events = 0, graphs = 0;
};

State& state() {
  static State state;
  return state;
}

Stream& stream_of(Stream* stream) {
  return stream == nullptr ? state().legacy : *stream;
}

cudaError_t failed(cudaError_t error) {
  state().last_error = error;
  return error;
}

constexpr std::size_t kPage = 4096;
std::size_t pages(std::size_t bytes) {
  return (bytes + kPage - 1) / kPage * kPage;
}

// Ends at a closed page, so that accesses behind it are noticed at once.
void* reserve(std::size_t bytes) {
  const std::size_t size = pages(bytes);
  void* const at = mmap(nullptr, size + kPage, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (at == MAP_FAILED || mprotect(at, size, PROT_READ | PROT_WRITE) != 0) return nullptr;
  return static_cast<char*>(at) + (size - bytes) / 256 * 256;  // as aligned as CUDA's
}
void give_back(void* data, std::size_t bytes) {
  char* const begin = static_cast<char*>(data) - (pages(bytes) - bytes) / 256 * 256;
  munmap(begin, pages(bytes) + kPage);
}

bool lies_in(const std::map<const char*, std::size_t>& allocations, const void* from, std::size_t bytes) {
  auto found = allocations.upper_bound(static_cast<const char*>(from));
  if (found == allocations.begin()) return false;
  --found;
  return static_cast<const char*>(from) + bytes <= found->first + found->second;
}

void take(Stream& stream, double us) {
  if (stream.capture != nullptr)
    stream.capture->us += us;
  else
    stream.ready_us = std::max(stream.ready_us, state().host_us) + us;
}

// Everything concurrent with the host gets a few turns whenever the host checks.
void go_on_beside() {
  for (Stream* stream : state().streams) {
    if (stream->background && !go_on(*stream->background, 3)) stream->background.reset();
  }
}

}  // namespace

std::string left_behind() {
  const State& s = state();
  const auto part = [](const char* what, std::size_t count) {
    return count == 0 ? std::string() : std::to_string(count) + " " + what + " ";
  };
  return part("allocations", s.allocations.size()) + part("pinned allocations", s.host_allocations.size()) +
         part("streams", s.streams.size()) + part("events", static_cast<std::size_t>(s.events)) +
         part("graphs", static_cast<std::size_t>(s.graphs));
}

Device& fresh_device() {
  state() = State{};
  return state().device;
}
Device& device() {
  return state().device;
}
void complain(const std::string& what) {
  state().device.complaints.push_back(what);
}
bool covers(const void* from, std::size_t bytes) {
  return lies_in(state().allocations, from, bytes);
}

cudaError_t set_most_shared(const void* function, int bytes) {
  state().most_shared[function] = bytes;
  return bytes <= 227 << 10 ? cudaSuccess : failed(cudaErrorInvalidValue);
}

cudaError_t check_launch(const Launch& launch) {
  Device& d = device();
  if (d.launches == d.fail_launch) return cudaErrorInvalidConfiguration;
  const auto shared = static_cast<std::size_t>(std::max(state().most_shared[launch.function], 48 << 10));
  if (launch.blocks == 0 || launch.threads == 0 || launch.threads > 1024 || launch.blocks > 0x7FFFFFFF ||
      launch.shared_bytes > shared) {
    return cudaErrorInvalidConfiguration;
  }
  // One block on each multiprocessor always fits, which is what the suite asks for.
  if (launch.cooperative && launch.blocks > static_cast<unsigned>(d.multiprocessors))
    return cudaErrorCooperativeLaunchTooLarge;
  return cudaSuccess;
}

cudaError_t launch(const Launch& facts, cudaError_t status, Stream* on, std::function<void()> kernel) {
  Device& d = device();
  ++d.launches;
  if (status != cudaSuccess) return failed(status);
  state().host_us += 2.0;
  Stream& stream = stream_of(on);
  const Device::Treatment treatment = d.treatment ? d.treatment(facts) : Device::Treatment::kNone;
  if (treatment == Device::Treatment::kBackground) {
    stream.background.reset(begin({.blocks = facts.blocks, .threads = facts.threads, .only = {}}, kernel));
    return cudaSuccess;
  }
  const bool whole = treatment == Device::Treatment::kWhole;
  if ((whole || treatment == Device::Treatment::kEnds) && kernel && (whole || ++state().played[facts.function] <= 2)) {
    std::vector<unsigned> blocks = {0};
    if (facts.blocks > 1) blocks.push_back(facts.blocks - 1);
    for (unsigned block = 1; whole && block + 1 < facts.blocks; ++block) blocks.push_back(block);
    for (const unsigned block : blocks) {
      const Outcome outcome = play({.blocks = facts.blocks, .threads = facts.threads, .only = {block}}, kernel);
      if (!outcome.ended()) complain("a kernel did not end");
    }
  }
  take(stream, d.launch_us);
  return cudaSuccess;
}

}  // namespace emulation

using emulation::device;
using emulation::failed;
using emulation::state;
using emulation::stream_of;

const char* cudaGetErrorString(cudaError_t error) {
  switch (error) {
    case cudaSuccess: return "no error";
    case cudaErrorInvalidValue: return "invalid argument";
    case cudaErrorMemoryAllocation: return "out of memory";
    case cudaErrorInvalidConfiguration: return "invalid configuration argument";
    case cudaErrorInvalidResourceHandle: return "invalid resource handle";
    case cudaErrorNotReady: return "device not ready";
    case cudaErrorLaunchFailure: return "unspecified launch failure";
    case cudaErrorCooperativeLaunchTooLarge: return "too many blocks in cooperative launch";
  }
  return "unknown error";
}
cudaError_t cudaGetLastError() {
  return std::exchange(state().last_error, cudaSuccess);
}
cudaError_t cudaGetDevice(int* number) {
  *number = 0;
  return cudaSuccess;
}
cudaError_t cudaGetDeviceCount(int* count) {
  *count = 1;
  return cudaSuccess;
}
cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int) {
  *properties = {};
  std::snprintf(properties->name, sizeof properties->name, "%s", device().name.c_str());
  properties->multiProcessorCount = device().multiprocessors;
  properties->l2CacheSize = 50 << 20;
  properties->major = 9;
  properties->totalGlobalMem = device().memory_bytes;
  return cudaSuccess;
}
cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int) {
  switch (attribute) {
    case cudaDevAttrMultiProcessorCount: *value = device().multiprocessors; break;
    case cudaDevAttrL2CacheSize: *value = 50 << 20; break;
    case cudaDevAttrMaxSharedMemoryPerBlockOptin: *value = 227 << 10; break;
  }
  return cudaSuccess;
}
cudaError_t cudaDeviceGetPCIBusId(char* text, int length, int) {
  std::snprintf(text, static_cast<std::size_t>(length), "0000:01:00.0");
  return cudaSuccess;
}
cudaError_t cudaDriverGetVersion(int* version) {
  *version = 13000;
  return cudaSuccess;
}
cudaError_t cudaRuntimeGetVersion(int* version) {
  return cudaDriverGetVersion(version);
}

cudaError_t cudaMalloc(void** data, std::size_t bytes) {
  auto& d = device();
  if (bytes == 0) emulation::complain("an allocation of nothing");
  if (d.used_bytes + bytes > d.memory_bytes) return failed(cudaErrorMemoryAllocation);
  *data = emulation::reserve(bytes);
  if (*data == nullptr) return failed(cudaErrorMemoryAllocation);
  state().allocations[static_cast<const char*>(*data)] = bytes;
  d.used_bytes += bytes;
  d.most_used_bytes = std::max(d.most_used_bytes, d.used_bytes);
  return cudaSuccess;
}
cudaError_t cudaFree(void* data) {
  if (data == nullptr) return cudaSuccess;
  const auto found = state().allocations.find(static_cast<const char*>(data));
  if (found == state().allocations.end()) return failed(cudaErrorInvalidValue);
  emulation::give_back(data, found->second);
  device().used_bytes -= found->second;
  state().allocations.erase(found);
  return cudaSuccess;
}
cudaError_t cudaMallocHost(void** data, std::size_t bytes) {
  *data = emulation::reserve(bytes);
  state().host_allocations[static_cast<const char*>(*data)] = bytes;
  return *data == nullptr ? failed(cudaErrorMemoryAllocation) : cudaSuccess;
}
cudaError_t cudaFreeHost(void* data) {
  const auto found = state().host_allocations.find(static_cast<const char*>(data));
  if (found == state().host_allocations.end()) return failed(cudaErrorInvalidValue);
  emulation::give_back(data, found->second);
  state().host_allocations.erase(found);
  return cudaSuccess;
}
cudaError_t cudaMemset(void* data, int value, std::size_t bytes) {
  if (!emulation::covers(data, bytes)) return failed(cudaErrorInvalidValue);
  if (value != 0) std::memset(data, value, bytes);  // fresh memory is zero, and stays untouched
  return cudaSuccess;
}
cudaError_t cudaMemcpy(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind) {
  if (cudaDeviceSynchronize() != cudaSuccess) return cudaErrorLaunchFailure;
  if (!emulation::covers(kind == cudaMemcpyDeviceToHost ? from : to, bytes)) return failed(cudaErrorInvalidValue);
  std::memcpy(to, from, bytes);
  return cudaSuccess;
}
cudaError_t cudaMemcpyAsync(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind, cudaStream_t stream) {
  const bool is_right = (kind == cudaMemcpyHostToDevice || emulation::covers(from, bytes)) &&
                        (kind == cudaMemcpyDeviceToHost || emulation::covers(to, bytes));
  if (!is_right) return failed(cudaErrorInvalidValue);
  state().host_us += 2.0;
  emulation::take(stream_of(stream), static_cast<double>(bytes) / device().copy_GBps * 1e-3);
  return cudaSuccess;
}

cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned) {
  *stream = new emulation::Stream;
  state().streams.insert(*stream);
  return cudaSuccess;
}
cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  if (stream->background) emulation::complain("a stream was destroyed while its kernel ran");
  if (state().streams.erase(stream) == 0) return failed(cudaErrorInvalidResourceHandle);
  delete stream;
  return cudaSuccess;
}
cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
  auto& s = stream_of(stream);
  for (int turns = 0; s.background; ++turns) {
    emulation::go_on_beside();
    if (turns < 100'000) continue;
    emulation::complain("the host waits for a kernel that never ends");
    s.background.reset();
  }
  state().host_us = std::max(state().host_us, s.ready_us);
  return cudaSuccess;
}
cudaError_t cudaDeviceSynchronize() {
  for (cudaStream_t stream : state().streams) cudaStreamSynchronize(stream);
  return cudaStreamSynchronize(nullptr);
}
cudaError_t cudaStreamQuery(cudaStream_t stream) {
  emulation::go_on_beside();
  const auto& s = stream_of(stream);
  return s.background || s.ready_us > state().host_us ? cudaErrorNotReady : cudaSuccess;
}
cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event) {
  auto& s = stream_of(stream);
  if (s.capture == nullptr) s.ready_us = std::max(s.ready_us, event->at_us);
  return cudaSuccess;
}
cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode) {
  stream->capture = new emulation::Graph;
  ++state().graphs;
  return cudaSuccess;
}
cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t* graph) {
  *graph = std::exchange(stream->capture, nullptr);
  return *graph == nullptr ? failed(cudaErrorInvalidValue) : cudaSuccess;
}
cudaError_t cudaGraphInstantiate(cudaGraphExec_t* executable, cudaGraph_t graph, unsigned long long) {
  ++graph->uses;
  *executable = graph;
  return cudaSuccess;
}
cudaError_t cudaGraphUpload(cudaGraphExec_t, cudaStream_t) {
  return cudaSuccess;
}
cudaError_t cudaGraphLaunch(cudaGraphExec_t executable, cudaStream_t stream) {
  emulation::take(stream_of(stream), executable->us);
  return cudaSuccess;
}
cudaError_t cudaGraphDestroy(cudaGraph_t graph) {
  if (--graph->uses > 0) return cudaSuccess;
  --state().graphs;
  delete graph;
  return cudaSuccess;
}
cudaError_t cudaGraphExecDestroy(cudaGraphExec_t executable) {
  return cudaGraphDestroy(executable);
}

cudaError_t cudaEventCreate(cudaEvent_t* event) {
  return cudaEventCreateWithFlags(event, 0);
}
cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned flags) {
  *event = new emulation::Event{.timed = (flags & cudaEventDisableTiming) == 0};
  ++state().events;
  return cudaSuccess;
}
cudaError_t cudaEventDestroy(cudaEvent_t event) {
  --state().events;
  delete event;
  return cudaSuccess;
}
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
  auto& s = stream_of(stream);
  event->recorded = true;
  event->at_us = std::max(s.ready_us, state().host_us);
  return cudaSuccess;
}
cudaError_t cudaEventSynchronize(cudaEvent_t event) {
  emulation::go_on_beside();
  state().host_us = std::max(state().host_us, event->at_us);
  return cudaSuccess;
}
cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t begin, cudaEvent_t end) {
  if (!begin->recorded || !end->recorded || !begin->timed || !end->timed) return failed(cudaErrorInvalidResourceHandle);
  *milliseconds = static_cast<float>((end->at_us - begin->at_us) * 1e-3);
  return cudaSuccess;
}
