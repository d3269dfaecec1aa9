// Connections between thread blocks that act as ranks: a buffer of slots, credits that flow back, and the three
// mechanisms by which NCCL's kernels signal that data have arrived.
//
// Simple: plain stores, a fence, then a step counter. LL: lines of 16 bytes, 8 of data and twice 4 of flag, so that
// each line carries its own arrival flag. LL128: lines of 128 bytes, 120 of data and 8 of flag, stored by eight
// neighbouring threads at once. A sender may be as many steps ahead as there are slots. Facts: NCCL 2.19 as described
// by Hu et al., "Demystifying NCCL", arXiv 2507.04786, sections on protocols and buffers; the code is our own.
//
// Peers are counted at compile time and loops over them unrolled, so that ends and slots live in registers.
#pragma once

#include <cstddef>
#include <cstdint>

#include <cuda_runtime.h>

#include "memory_access.cuh"
#include "patience.cuh"

namespace ringwright::gpu {

enum class Protocol { kLl, kLl128, kSimple };

// One direction between two blocks, in device memory. Steps count on from launch to launch.
struct Connection {
  char* slots = nullptr;          // slot_count * slot_bytes
  std::uint64_t* tail = nullptr;  // steps written (Simple)
  std::uint64_t* head = nullptr;  // steps read: the credits
  std::uint64_t* sent = nullptr;  // where the sender's and the receiver's block continue in the next launch
  std::uint64_t* received = nullptr;
};

struct FifoShape {
  int slot_count = 8;
  std::size_t slot_bytes = 512 << 10;  // of the buffer; LL carries half of it, LL128 15 sixteenths
};

// Data that a slot carries.
__host__ __device__ constexpr std::size_t useful_bytes(Protocol protocol, std::size_t slot_bytes) {
  return protocol == Protocol::kLl      ? slot_bytes / 2
         : protocol == Protocol::kLl128 ? slot_bytes / 128 * 120
                                        : slot_bytes;
}

// Elements of a primitive: pairs of floats, so that LL's 8 bytes are one of them.
__device__ inline float2 sum(float2 a, float2 b) {
  return {a.x + b.x, a.y + b.y};
}
__device__ inline float4 sum(float4 a, float4 b) {
  return {a.x + b.x, a.y + b.y, a.z + b.z, a.w + b.w};
}
__device__ inline float2 as_pair(std::uint32_t low, std::uint32_t high) {
  return {__uint_as_float(low), __uint_as_float(high)};
}

// One primitive: receive from some, add one's own, store, send to some.
struct Primitive {
  int receive_from = 0;   // how many of the block's incoming connections
  int send_to = 0;        // how many of its outgoing ones
  bool add_own = false;   // the block's input, too; always when nothing is received
  bool store = false;     // into the block's output
  std::size_t first = 0;  // in pairs of floats; even, as is `pairs`
  std::size_t pairs = 0;

  [[nodiscard]] __device__ bool wants_own() const { return add_own || receive_from == 0; }
};

// A block's ends of its connections, with the step of each.
template <int kMost>
struct Ends {
  Connection in[kMost];
  Connection out[kMost];
  std::uint64_t in_step[kMost];
  std::uint64_t out_step[kMost];
};

// Address of this step's data, and the flag of its lines: the step's number from 1, so that none is 0.
struct Slot {
  char* at;
  std::uint32_t flag;
};
__device__ inline Slot slot_of(const Connection& connection, std::uint64_t step, const FifoShape& fifo) {
  return {connection.slots + step % static_cast<std::uint64_t>(fifo.slot_count) * fifo.slot_bytes,
          static_cast<std::uint32_t>(step + 1)};
}

template <int kMost>
struct Slots {
  Slot in[kMost];
  Slot out[kMost];
};
template <int kMost>
__device__ Slots<kMost> slots_of(const Ends<kMost>& ends, const FifoShape& fifo) {
  Slots<kMost> slots;
#pragma unroll
  for (int peer = 0; peer < kMost; ++peer) {
    slots.in[peer] = slot_of(ends.in[peer], ends.in_step[peer], fifo);
    slots.out[peer] = slot_of(ends.out[peer], ends.out_step[peer], fifo);
  }
  return slots;
}

// Waits until every receiver has a slot free, and for Simple until all data have arrived. A thread each waits.
template <Protocol kProtocol, int kMost>
__device__ void wait_for_peers(const Ends<kMost>& ends, const Primitive& p, const FifoShape& fifo) {
  const int thread = static_cast<int>(threadIdx.x);
  Patience patience;
#pragma unroll
  for (int peer = 0; peer < kMost; ++peer) {
    if (thread == peer && peer < p.send_to) {
      while (ends.out_step[peer] >= load_relaxed(ends.out[peer].head) + static_cast<std::uint64_t>(fifo.slot_count)) {
        patience.wait();
      }
    }
    if (kProtocol == Protocol::kSimple && thread == 32 + peer && peer < p.receive_from) {
      while (load_acquire(ends.in[peer].tail) <= ends.in_step[peer]) patience.wait();
    }
  }
  __syncthreads();
}

// Signals data to receivers (Simple) and credit to senders, and advances the step. The release covers the stores of
// all threads of the block before the barrier. Credit needs none, as in NCCL: data have been read, added up and stored
// before credit is given.
template <Protocol kProtocol, int kMost>
__device__ void tell_peers(Ends<kMost>& ends, const Primitive& p) {
  __syncthreads();
  const int thread = static_cast<int>(threadIdx.x);
#pragma unroll
  for (int peer = 0; peer < kMost; ++peer) {
    if (peer < p.send_to) {
      ++ends.out_step[peer];
      if (kProtocol == Protocol::kSimple && thread == peer) store_release(ends.out[peer].tail, ends.out_step[peer]);
    }
    if (peer < p.receive_from) {
      ++ends.in_step[peer];
      if (thread == 32 + peer) store_relaxed(ends.in[peer].head, ends.in_step[peer]);
    }
  }
}

__device__ inline float2 receive_ll(const Slot& slot, std::size_t pair) {
  const uint4* line = reinterpret_cast<const uint4*>(slot.at) + pair;
  uint4 v = load_volatile(line);
  for (Patience patience; v.y != slot.flag || v.w != slot.flag; patience.wait()) v = load_volatile(line);
  return as_pair(v.x, v.z);
}
__device__ inline void send_ll(const Slot& slot, std::size_t pair, float2 value) {
  store_volatile(reinterpret_cast<uint4*>(slot.at) + pair,
                 {__float_as_uint(value.x), slot.flag, __float_as_uint(value.y), slot.flag});
}

template <int kMost>
__device__ void run_ll(const Slots<kMost>& slots, const Primitive& p, const float2* input, float2* output) {
  for (std::size_t i = threadIdx.x; i < p.pairs; i += blockDim.x) {
    float2 value = p.wants_own() ? input[p.first + i] : float2{0.0F, 0.0F};
#pragma unroll
    for (int peer = 0; peer < kMost; ++peer) {
      if (peer < p.receive_from) value = sum(value, receive_ll(slots.in[peer], i));
    }
#pragma unroll
    for (int peer = 0; peer < kMost; ++peer) {
      if (peer < p.send_to) send_ll(slots.out[peer], i, value);
    }
    if (p.store) output[p.first + i] = value;
  }
}

// Waits for a line of which each of eight threads reads its share; the flag is in the last one's upper half. When the
// flag has been observed, the line is read again: the data read with its first observation may have been read before
// they were stored.
__device__ inline uint4 receive_ll128(const Slot& slot, std::size_t line, unsigned part, bool there) {
  constexpr unsigned kWarp = 0xFFFFFFFFU;
  const uint4* from = reinterpret_cast<const uint4*>(slot.at) + line * 8 + part;
  uint4 v{};
  bool missing = there;
  for (Patience patience; __any_sync(kWarp, missing); patience.wait()) {
    if (there) v = load_volatile(from);
    const std::uint32_t seen = __shfl_sync(kWarp, v.z, static_cast<int>((threadIdx.x % 32) | 7U));
    missing = there && seen != slot.flag;
  }
  if (there) v = load_volatile(from);
  return v;
}

// Eight threads hold a line: 15 pairs, the last thread one of them next to the flag.
template <int kMost>
__device__ void run_ll128(const Slots<kMost>& slots, const Primitive& p, const float2* input, float2* output) {
  constexpr std::size_t kPairsALine = 15;
  const std::size_t lines = (p.pairs + kPairsALine - 1) / kPairsALine;
  const unsigned part = threadIdx.x % 8;
  const std::size_t lines_a_round = blockDim.x / 8;
  for (std::size_t begin = 0; begin < lines; begin += lines_a_round) {
    const std::size_t line = begin + threadIdx.x / 8;
    const bool there = line < lines;
    const std::size_t pair = line * kPairsALine + 2 * part;
    const bool has_first = there && pair < p.pairs;
    const bool has_second = there && part < 7 && pair + 1 < p.pairs;
    float2 first{0.0F, 0.0F};
    float2 second{0.0F, 0.0F};
    if (p.wants_own()) {
      if (has_first) first = input[p.first + pair];
      if (has_second) second = input[p.first + pair + 1];
    }
#pragma unroll
    for (int peer = 0; peer < kMost; ++peer) {
      if (peer >= p.receive_from) continue;
      const uint4 v = receive_ll128(slots.in[peer], line, part, there);
      first = sum(first, as_pair(v.x, v.y));
      if (part < 7) second = sum(second, as_pair(v.z, v.w));
    }
    __syncwarp();  // a line is whole only when its eight threads store together
#pragma unroll
    for (int peer = 0; peer < kMost; ++peer) {
      if (peer >= p.send_to || !there) continue;
      uint4 v{__float_as_uint(first.x), __float_as_uint(first.y), __float_as_uint(second.x), __float_as_uint(second.y)};
      if (part == 7) v.z = v.w = slots.out[peer].flag;
      store_part_of_line(reinterpret_cast<uint4*>(slots.out[peer].at) + line * 8 + part, v);
    }
    if (p.store && has_first) output[p.first + pair] = first;
    if (p.store && has_second) output[p.first + pair + 1] = second;
  }
}

template <int kMost>
__device__ void run_simple(const Slots<kMost>& slots, const Primitive& p, const float2* input, float2* output) {
  const std::size_t fours = p.pairs / 2;
  for (std::size_t i = threadIdx.x; i < fours; i += blockDim.x) {
    float4 value{};
    if (p.wants_own()) value = reinterpret_cast<const float4*>(input + p.first)[i];
#pragma unroll
    for (int peer = 0; peer < kMost; ++peer) {
      if (peer < p.receive_from) {
        value = sum(value, load_others(reinterpret_cast<const float4*>(slots.in[peer].at) + i));
      }
    }
#pragma unroll
    for (int peer = 0; peer < kMost; ++peer) {
      if (peer < p.send_to) store_for_others(reinterpret_cast<float4*>(slots.out[peer].at) + i, value);
    }
    if (p.store) reinterpret_cast<float4*>(output + p.first)[i] = value;
  }
}

template <Protocol kProtocol, int kMost>
__device__ void run(Ends<kMost>& ends, const Primitive& p, const FifoShape& fifo, const float2* input, float2* output) {
  wait_for_peers<kProtocol>(ends, p, fifo);
  const Slots<kMost> slots = slots_of(ends, fifo);
  if constexpr (kProtocol == Protocol::kLl) run_ll(slots, p, input, output);
  if constexpr (kProtocol == Protocol::kLl128) run_ll128(slots, p, input, output);
  if constexpr (kProtocol == Protocol::kSimple) run_simple(slots, p, input, output);
  tell_peers<kProtocol>(ends, p);
}

}  // namespace ringwright::gpu
