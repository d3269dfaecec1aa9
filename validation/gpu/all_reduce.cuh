// Ring and tree all-reduce among thread blocks, as primitives one after another.
#pragma once

#include "fifo.cuh"
#include "group.cuh"

namespace ringwright::gpu {

// Of a block: its registers must suffice. Only one block a multiprocessor is measured, so that no register need be
// spilled.
constexpr int kMostThreads = 512;

template <int kMost>
__device__ void load_steps(Ends<kMost>& ends, int in, int out) {
#pragma unroll
  for (int i = 0; i < kMost; ++i) {
    ends.in_step[i] = i < in ? *ends.in[i].received : 0;
    ends.out_step[i] = i < out ? *ends.out[i].sent : 0;
  }
}

// Stored for the next launch. All threads must have read the old steps before.
template <int kMost>
__device__ void store_steps(const Ends<kMost>& ends, int in, int out) {
  __syncthreads();
  if (threadIdx.x != 0) return;
#pragma unroll
  for (int i = 0; i < kMost; ++i) {
    if (i < in) *ends.in[i].received = ends.in_step[i];
    if (i < out) *ends.out[i].sent = ends.out_step[i];
  }
}

struct Work {
  std::size_t pairs = 0;        // of a rank's buffer
  std::size_t chunk_pairs = 0;  // at most that many in a slot; even, so that Simple may move 16 bytes at a time
};

__host__ __device__ inline Work work_of(Protocol protocol, const FifoShape& fifo, std::size_t bytes) {
  return {.pairs = bytes / sizeof(float2),
          .chunk_pairs = useful_bytes(protocol, fifo.slot_bytes) / sizeof(float2) / 2 * 2};
}

__device__ inline std::size_t least(std::size_t a, std::size_t b) {
  return a < b ? a : b;
}

// The range of the buffer that a channel takes: equal ones, of even length but for the last one's end.
struct Part {
  std::size_t begin = 0;
  std::size_t pairs = 0;
};
__device__ inline Part part_of(const Work& work, int channels, int channel) {
  const auto count = static_cast<std::size_t>(channels);
  const std::size_t each = ((work.pairs + count - 1) / count + 1) / 2 * 2;
  const std::size_t begin = least(each * static_cast<std::size_t>(channel), work.pairs);
  return {begin, least(each, work.pairs - begin)};
}

// Every channel iterates over its range loop by loop, n chunks a loop.
template <Protocol kProtocol>
__global__ void __launch_bounds__(kMostThreads, 1) ring_all_reduce(GroupView group, Work work) {
  const int ranks = group.shape.ranks;
  const int rank = static_cast<int>(blockIdx.x) / group.shape.channels;
  const int channel = static_cast<int>(blockIdx.x) % group.shape.channels;
  Ends<1> ends;
  ends.in[0] = group.ends[blockIdx.x].in[0];
  ends.out[0] = group.ends[blockIdx.x].out[0];
  load_steps(ends, 1, 1);
  const Part part = part_of(work, group.shape.channels, channel);
  const auto n = static_cast<std::size_t>(ranks);
  for (std::size_t done = 0; done < part.pairs;) {
    const std::size_t chunk = least(work.chunk_pairs, ((part.pairs - done + n - 1) / n + 1) / 2 * 2);
    for (int step = 0; step < 2 * ranks - 1; ++step) {
      const auto owner = static_cast<std::size_t>((rank - step + 2 * ranks) % ranks);
      Primitive p;
      p.first = least(done + chunk * owner, part.pairs);
      p.pairs = least(chunk, part.pairs - p.first);
      p.first += part.begin;
      p.receive_from = step > 0 ? 1 : 0;
      p.send_to = step < 2 * ranks - 2 ? 1 : 0;
      p.add_own = step < ranks;
      p.store = step >= ranks - 1;
      run<kProtocol>(ends, p, group.shape.fifo, group.input[rank], group.output[rank]);
    }
    done += chunk * n;
  }
  store_steps(ends, 1, 1);
}

// Up to the root and down again, one chunk after another. The data that a rank receives on the way down lag behind
// what it sends up by half of the slots for each level above it, so that chunks follow each other through the tree and
// none waits for a round trip.
template <Protocol kProtocol>
__global__ void __launch_bounds__(kMostThreads, 1) tree_all_reduce(GroupView group, Work work) {
  const int rank = static_cast<int>(blockIdx.x) / group.shape.channels;
  const int channel = static_cast<int>(blockIdx.x) % group.shape.channels;
  const BlockEnds& mine = group.ends[blockIdx.x];
  // Going up: in from the children, out to the parent; going down in reverse.
  Ends<2> up, down;
#pragma unroll
  for (int i = 0; i < 2; ++i) {
    up.in[i] = mine.in[1 + i];
    up.out[i] = mine.out[0];
    down.in[i] = mine.in[0];
    down.out[i] = mine.out[1 + i];
  }
  const int children = mine.children;
  const int parents = mine.level > 0 ? 1 : 0;
  load_steps(up, children, parents);
  load_steps(down, parents, children);
  const Part part = part_of(work, group.shape.channels, channel);
  const std::size_t chunks = (part.pairs + work.chunk_pairs - 1) / work.chunk_pairs;
  const auto lag = static_cast<std::size_t>(mine.level * ((group.shape.fifo.slot_count + 1) / 2));
  const auto chunk_of = [&](std::size_t index) {
    Primitive p;
    p.first = index * work.chunk_pairs;
    p.pairs = least(work.chunk_pairs, part.pairs - p.first);
    p.first += part.begin;
    return p;
  };
  for (std::size_t turn = 0; turn < chunks + lag; ++turn) {
    if (turn < chunks) {
      Primitive p = chunk_of(turn);
      p.receive_from = children;
      p.send_to = parents;
      p.add_own = true;
      p.store = parents == 0;
      run<kProtocol>(up, p, group.shape.fifo, group.input[rank], group.output[rank]);
    }
    if (turn < lag) continue;
    Primitive p = chunk_of(turn - lag);
    p.receive_from = parents;
    p.send_to = children;
    p.store = parents != 0;
    // The root sends what it has summed: its own output.
    const float2* from = parents == 0 ? group.output[rank] : group.input[rank];
    run<kProtocol>(down, p, group.shape.fifo, from, group.output[rank]);
  }
  store_steps(up, children, parents);
  store_steps(down, parents, children);
}

}  // namespace ringwright::gpu
