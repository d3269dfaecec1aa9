// Device memory: read, write, copy, reduction of two and of three streams, against size and against the number of SMs
// in use; and the same data again and again, which stays in the L2 cache.
#include <algorithm>
#include <string>
#include <vector>

#include "buffers.cuh"
#include "check.cuh"
#include "device.cuh"
#include "launch.cuh"
#include "suite.cuh"

namespace ringwright::gpu {

void measure_memory(const Suite& suite);

namespace {

enum class Pattern { kRead, kWrite, kCopy, kReduce2, kReduce3 };

struct PatternFacts {
  Pattern pattern;
  const char* name;
  int reads, writes;  // streams
};
constexpr PatternFacts kPatterns[] = {{Pattern::kRead, "read", 1, 0},
                                      {Pattern::kWrite, "write", 0, 1},
                                      {Pattern::kCopy, "copy", 1, 1},
                                      {Pattern::kReduce2, "reduce 2", 2, 1},
                                      {Pattern::kReduce3, "reduce 3", 3, 1}};

__device__ float4 sum(float4 a, float4 b) {
  return {a.x + b.x, a.y + b.y, a.z + b.z, a.w + b.w};
}

struct Streams {
  const float4* in[3];
  float4* out;
};

// A grid-stride loop, four accesses in flight a thread.
template <Pattern kPattern>
__global__ void __launch_bounds__(512) move(Streams at, std::size_t count) {
  constexpr int kUnroll = 4;
  const std::size_t stride = static_cast<std::size_t>(gridDim.x) * blockDim.x;
  float4 seen{};
  for (std::size_t i = static_cast<std::size_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < count;
       i += kUnroll * stride) {
    float4 value[kUnroll];
    for (int u = 0; u < kUnroll; ++u) {
      const std::size_t place = i + static_cast<std::size_t>(u) * stride;
      if (place >= count) break;
      if constexpr (kPattern == Pattern::kWrite) {
        value[u] = {1.0F, 2.0F, 3.0F, 4.0F};
      } else {
        value[u] = at.in[0][place];
        if constexpr (kPattern == Pattern::kReduce2 || kPattern == Pattern::kReduce3)
          value[u] = sum(value[u], at.in[1][place]);
        if constexpr (kPattern == Pattern::kReduce3) value[u] = sum(value[u], at.in[2][place]);
      }
    }
    for (int u = 0; u < kUnroll; ++u) {
      const std::size_t place = i + static_cast<std::size_t>(u) * stride;
      if (place >= count) break;
      if constexpr (kPattern == Pattern::kRead)
        seen = sum(seen, value[u]);
      else
        at.out[place] = value[u];
    }
  }
  // Never true for the stored values; the compiler cannot know.
  if (kPattern == Pattern::kRead && seen.x + seen.y + seen.z + seen.w == 1.2345e30F) at.out[0] = seen;
}

void launch(Pattern pattern, unsigned blocks, cudaStream_t stream, const Streams& at, std::size_t count) {
  constexpr int kThreads = 512;
  switch (pattern) {
    case Pattern::kRead: enqueue(move<Pattern::kRead>, {blocks, kThreads}, stream, at, count); return;
    case Pattern::kWrite: enqueue(move<Pattern::kWrite>, {blocks, kThreads}, stream, at, count); return;
    case Pattern::kCopy: enqueue(move<Pattern::kCopy>, {blocks, kThreads}, stream, at, count); return;
    case Pattern::kReduce2: enqueue(move<Pattern::kReduce2>, {blocks, kThreads}, stream, at, count); return;
    case Pattern::kReduce3: enqueue(move<Pattern::kReduce3>, {blocks, kThreads}, stream, at, count); return;
  }
}

enum class Where { kMemory, kL2 };

struct Case {
  PatternFacts facts;
  long long bytes;  // of each stream
  int sms;          // 0: all, four blocks on each
  Where where = Where::kMemory;
};

bool measure_case(const Suite& suite, Table& table, const Case& c) {
  if (suite.time_is_up()) return false;
  const unsigned blocks = c.sms > 0 ? static_cast<unsigned>(c.sms) : static_cast<unsigned>(4 * sm_count());
  Row row = {{"pattern", c.facts.name},
             {"level", c.where == Where::kMemory ? "memory" : "l2"},
             {"stream_bytes", text(c.bytes)},
             {"sms", text(static_cast<long long>(c.sms > 0 ? c.sms : sm_count()))},
             {"blocks", text(static_cast<long long>(blocks))}};
  if (table.has(row)) return true;
  const auto elements = static_cast<std::size_t>(c.bytes / 4);
  std::vector<RotatingBuffers> buffers;  // inputs, then outputs; a reader only seems to write
  for (int i = 0; i < c.facts.reads + std::max(c.facts.writes, 1); ++i) {
    buffers.emplace_back(i < c.facts.reads + c.facts.writes ? elements : 4, Element::kFp32, static_cast<unsigned>(i));
  }
  const Timing timing = time_launches([&](cudaStream_t stream, int turn) {
    const int which = c.where == Where::kL2 ? 0 : turn;
    Streams at{};
    for (int i = 0; i < c.facts.reads; ++i) at.in[i] = buffers[static_cast<std::size_t>(i)].at<float4>(which);
    at.out = buffers.back().at<float4>(which);
    launch(c.facts.pattern, blocks, stream, at, elements / 4);
  });
  const double moved = static_cast<double>(c.bytes) * (c.facts.reads + c.facts.writes);
  row["GB_per_s"] = text(moved / timing.median_us * 1e-3);
  add_timing(row, timing);
  table.add(row);
  suite.progress(row["level"] + " " + row["pattern"] + " " + row["stream_bytes"] + " B on " + row["sms"] +
                 " SMs: " + row["GB_per_s"] + " GB/s");
  return true;
}

}  // namespace

void measure_memory(const Suite& suite) {
  Table table = suite.table("memory", {"pattern", "level", "stream_bytes", "sms", "blocks"},
                            {"GB_per_s", "time_us", "ci_low_us", "ci_high_us"});
  const bool quick = suite.extent == Extent::kQuick;
  bool time_left = true;
  for (const PatternFacts& facts : kPatterns) {
    for (long long bytes = 64 << 10; bytes <= 1LL << 30; bytes *= quick ? 64 : 4) {
      time_left = time_left && measure_case(suite, table, {facts, bytes, 0});
    }
    // Half of the cache at most: on Hopper one half is near, and data in the other half are copied.
    const auto most = static_cast<long long>(l2_bytes()) / 2 / (facts.reads + facts.writes);
    for (long long bytes = 256 << 10; bytes <= most; bytes *= quick ? 8 : 4) {
      time_left = time_left && measure_case(suite, table, {facts, bytes, 0, Where::kL2});
    }
    for (const int sms : {1, 2, 4, 8, 16, 24, 32, 48, 64, 96, 128}) {
      if (sms > sm_count() || (quick && sms != 16)) continue;
      time_left = time_left && measure_case(suite, table, {facts, 256 << 20, sms});
    }
  }
}

}  // namespace ringwright::gpu
