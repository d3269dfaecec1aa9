// Connections between thread blocks that stand for ranks: a buffer of slots, credits that flow back, and the three ways in
// which NCCL's kernels say that data has come.
//
// Simple: plain stores, a fence, then a step counter. LL: lines of 16 bytes, 8 of data and twice 4 of flag, so that each
// line says for itself that it is there. LL128: lines of 128 bytes, 120 of data and 8 of flag, stored by eight neighbouring
// threads at once. A sender may be as many steps ahead as there are slots. Facts: NCCL 2.19 as described by Hu et al.,
// "Demystifying NCCL", arXiv 2507.04786, sections on protocols and buffers; the code is our own.
#pragma once

#include <cstddef>
#include <cstdint>

#include <cuda_runtime.h>

namespace ringwright::gpu {

enum class Protocol { kLl, kLl128, kSimple };

// One direction between two blocks, in device memory. Steps count on from launch to launch.
struct Connection {
  char* slots = nullptr;          // slot_count * slot_bytes
  std::uint64_t* tail = nullptr;  // steps written (Simple)
  std::uint64_t* head = nullptr;  // steps read: the credits
  std::uint64_t* sent = nullptr;  // where the sender's and the receiver's block go on in the next launch
  std::uint64_t* received = nullptr;
};

struct FifoShape {
  int slot_count = 8;
  std::size_t slot_bytes = 512 << 10;  // of the buffer; LL carries half of it, LL128 15 of 16 parts
};

// Data that a slot carries.
__host__ __device__ constexpr std::size_t useful_bytes(Protocol protocol, std::size_t slot_bytes) {
  return protocol == Protocol::kLl ? slot_bytes / 2 : protocol == Protocol::kLl128 ? slot_bytes / 128 * 120 : slot_bytes;
}

__device__ inline std::uint64_t load_acquire(const std::uint64_t* from) {
  std::uint64_t value;
  asm volatile("ld.acquire.gpu.global.u64 %0, [%1];" : "=l"(value) : "l"(from) : "memory");
  return value;
}
__device__ inline void store_release(std::uint64_t* to, std::uint64_t value) {
  asm volatile("st.release.gpu.global.u64 [%0], %1;" ::"l"(to), "l"(value) : "memory");
}
__device__ inline uint4 load_volatile(const uint4* from) {
  uint4 v;
  asm volatile("ld.volatile.global.v4.u32 {%0,%1,%2,%3}, [%4];"
               : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w) : "l"(from) : "memory");
  return v;
}
__device__ inline void store_volatile(uint4* to, uint4 v) {
  asm volatile("st.volatile.global.v4.u32 [%0], {%1,%2,%3,%4};" ::"l"(to), "r"(v.x), "r"(v.y), "r"(v.z), "r"(v.w) : "memory");
}

// Ends a kernel that waits for what never comes: about half a minute.
class Patience {
 public:
  __device__ void wait() {
    if (++turns_ > (1U << 26U)) __trap();
  }

 private:
  unsigned turns_ = 0;
};

// What a primitive works on: pairs of floats, so that LL's 8 bytes are one of them.
__device__ inline float2 sum(float2 a, float2 b) { return {a.x + b.x, a.y + b.y}; }
__device__ inline float2 as_pair(std::uint32_t low, std::uint32_t high) { return {__uint_as_float(low), __uint_as_float(high)}; }

constexpr int kMostPeers = 3;

// One primitive: receive from some, add one's own, store, send to some.
struct Primitive {
  int receive_from = 0;   // how many of the block's incoming connections
  int send_to = 0;        // how many of its outgoing ones
  bool add_own = false;   // the block's input, too; always when nothing is received
  bool store = false;     // into the block's output
  std::size_t first = 0;  // in pairs of floats
  std::size_t pairs = 0;
};

// A block's ends of its connections, with the step at which each stands.
struct Ends {
  Connection in[kMostPeers];
  Connection out[kMostPeers];
  std::uint64_t in_step[kMostPeers];
  std::uint64_t out_step[kMostPeers];
};

__device__ inline char* slot_of(const Connection& connection, std::uint64_t step, const FifoShape& fifo) {
  return connection.slots + step % static_cast<std::uint64_t>(fifo.slot_count) * fifo.slot_bytes;
}

// Waits until every receiver has a slot free, and for Simple until all data has come.
template <Protocol kProtocol>
__device__ void wait_for_peers(const Ends& ends, const Primitive& p, const FifoShape& fifo) {
  const int thread = static_cast<int>(threadIdx.x);
  Patience patience;
  if (thread < p.send_to) {
    while (ends.out_step[thread] >= load_acquire(ends.out[thread].head) + static_cast<std::uint64_t>(fifo.slot_count)) {
      patience.wait();
    }
  }
  if (kProtocol == Protocol::kSimple && thread >= 32 && thread < 32 + p.receive_from) {
    while (load_acquire(ends.in[thread - 32].tail) <= ends.in_step[thread - 32]) patience.wait();
  }
  __syncthreads();
}

// Tells receivers of data (Simple) and senders of credit, and steps on.
template <Protocol kProtocol>
__device__ void tell_peers(Ends& ends, const Primitive& p) {
  __syncthreads();
  const int thread = static_cast<int>(threadIdx.x);
  if (thread == 0) __threadfence();
  __syncthreads();
  if (kProtocol == Protocol::kSimple && thread < p.send_to) store_release(ends.out[thread].tail, ends.out_step[thread] + 1);
  if (thread >= 32 && thread < 32 + p.receive_from) {
    store_release(ends.in[thread - 32].head, ends.in_step[thread - 32] + 1);
  }
  for (int i = 0; i < p.send_to; ++i) ++ends.out_step[i];
  for (int i = 0; i < p.receive_from; ++i) ++ends.in_step[i];
}

__device__ inline float2 receive_ll(const char* slot, std::size_t pair, std::uint32_t flag) {
  const uint4* line = reinterpret_cast<const uint4*>(slot) + pair;
  uint4 v = load_volatile(line);
  for (Patience patience; v.y != flag || v.w != flag; patience.wait()) v = load_volatile(line);
  return as_pair(v.x, v.z);
}
__device__ inline void send_ll(char* slot, std::size_t pair, std::uint32_t flag, float2 value) {
  store_volatile(reinterpret_cast<uint4*>(slot) + pair,
                 {__float_as_uint(value.x), flag, __float_as_uint(value.y), flag});
}

__device__ inline void run_ll(const Ends& ends, const Primitive& p, const FifoShape& fifo, const float2* input, float2* output) {
  for (std::size_t i = threadIdx.x; i < p.pairs; i += blockDim.x) {
    float2 value = p.add_own || p.receive_from == 0 ? input[p.first + i] : float2{0.0F, 0.0F};
    for (int peer = 0; peer < p.receive_from; ++peer) {
      value = sum(value, receive_ll(slot_of(ends.in[peer], ends.in_step[peer], fifo), i,
                                    static_cast<std::uint32_t>(ends.in_step[peer] + 1)));
    }
    for (int peer = 0; peer < p.send_to; ++peer) {
      send_ll(slot_of(ends.out[peer], ends.out_step[peer], fifo), i, static_cast<std::uint32_t>(ends.out_step[peer] + 1), value);
    }
    if (p.store) output[p.first + i] = value;
  }
}

// Eight threads hold a line: 15 pairs, the last thread one of them beside the flag.
__device__ inline void run_ll128(const Ends& ends, const Primitive& p, const FifoShape& fifo, const float2* input,
                                 float2* output) {
  constexpr std::size_t kPairsALine = 15;
  const std::size_t lines = (p.pairs + kPairsALine - 1) / kPairsALine;
  const unsigned part = threadIdx.x % 8;
  const std::size_t rounds = (lines + blockDim.x / 8 - 1) / (blockDim.x / 8);
  for (std::size_t round = 0; round < rounds; ++round) {
    const std::size_t line = round * (blockDim.x / 8) + threadIdx.x / 8;
    const bool there = line < lines;
    const std::size_t pair = line * kPairsALine + 2 * part;
    const bool has_first = there && pair < p.pairs;
    const bool has_second = there && part < 7 && pair + 1 < p.pairs;
    float2 first{0.0F, 0.0F};
    float2 second{0.0F, 0.0F};
    if (p.add_own || p.receive_from == 0) {
      if (has_first) first = input[p.first + pair];
      if (has_second) second = input[p.first + pair + 1];
    }
    for (int peer = 0; peer < p.receive_from; ++peer) {
      const auto flag = static_cast<std::uint32_t>(ends.in_step[peer] + 1);
      const uint4* from = reinterpret_cast<const uint4*>(slot_of(ends.in[peer], ends.in_step[peer], fifo)) + line * 8 + part;
      uint4 v{};
      bool missing = there;
      for (Patience patience; __any_sync(0xFFFFFFFFU, missing); patience.wait()) {
        if (there) v = load_volatile(from);
        // The flag stands in the last thread's upper half; its line is complete when it is there.
        const std::uint32_t seen = __shfl_sync(0xFFFFFFFFU, v.z, static_cast<int>((threadIdx.x % 32) | 7U));
        missing = there && seen != flag;
      }
      first = sum(first, as_pair(v.x, v.y));
      if (part < 7) second = sum(second, as_pair(v.z, v.w));
    }
    for (int peer = 0; peer < p.send_to && there; ++peer) {
      const auto flag = static_cast<std::uint32_t>(ends.out_step[peer] + 1);
      uint4 v{__float_as_uint(first.x), __float_as_uint(first.y), __float_as_uint(second.x), __float_as_uint(second.y)};
      if (part == 7) v.z = v.w = flag;
      store_volatile(reinterpret_cast<uint4*>(slot_of(ends.out[peer], ends.out_step[peer], fifo)) + line * 8 + part, v);
    }
    if (p.store && has_first) output[p.first + pair] = first;
    if (p.store && has_second) output[p.first + pair + 1] = second;
  }
}

__device__ inline void run_simple(const Ends& ends, const Primitive& p, const FifoShape& fifo, const float2* input,
                                  float2* output) {
  const float2* from[kMostPeers];
  float2* to[kMostPeers];
  for (int peer = 0; peer < p.receive_from; ++peer) {
    from[peer] = reinterpret_cast<const float2*>(slot_of(ends.in[peer], ends.in_step[peer], fifo));
  }
  for (int peer = 0; peer < p.send_to; ++peer) {
    to[peer] = reinterpret_cast<float2*>(slot_of(ends.out[peer], ends.out_step[peer], fifo));
  }
  const std::size_t fours = p.pairs / 2;
  for (std::size_t i = threadIdx.x; i < fours; i += blockDim.x) {
    float4 value{};
    if (p.add_own || p.receive_from == 0) value = reinterpret_cast<const float4*>(input + p.first)[i];
    for (int peer = 0; peer < p.receive_from; ++peer) {
      const float4 other = __ldcv(reinterpret_cast<const float4*>(from[peer]) + i);
      value = {value.x + other.x, value.y + other.y, value.z + other.z, value.w + other.w};
    }
    for (int peer = 0; peer < p.send_to; ++peer) reinterpret_cast<float4*>(to[peer])[i] = value;
    if (p.store) reinterpret_cast<float4*>(output + p.first)[i] = value;
  }
}

template <Protocol kProtocol>
__device__ void run(Ends& ends, const Primitive& p, const FifoShape& fifo, const float2* input, float2* output) {
  wait_for_peers<kProtocol>(ends, p, fifo);
  if constexpr (kProtocol == Protocol::kLl) run_ll(ends, p, fifo, input, output);
  if constexpr (kProtocol == Protocol::kLl128) run_ll128(ends, p, fifo, input, output);
  if constexpr (kProtocol == Protocol::kSimple) run_simple(ends, p, fifo, input, output);
  tell_peers<kProtocol>(ends, p);
}

}  // namespace ringwright::gpu
