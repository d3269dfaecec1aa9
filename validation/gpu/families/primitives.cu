// Building blocks of collectives: ring and tree all-reduce among thread blocks of one GPU that stand for ranks, by LL,
// LL128 and Simple through device memory, against size, channels, threads, chunk size and slots. One slot's worth is a
// primitive; a ring's time for tiny sizes over 2 (n - 1) is the latency of a step.
//
// Results are compared with sums made on the host, once for every protocol and graph; a wrong sum ends the run.
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "check.cuh"
#include "device.cuh"
#include "group.cuh"
#include "suite.cuh"

namespace ringwright::gpu {

void measure_primitives(const Suite& suite);

namespace {

__device__ void load_steps(Ends& ends, int in, int out) {
  for (int i = 0; i < in; ++i) ends.in_step[i] = *ends.in[i].received;
  for (int i = 0; i < out; ++i) ends.out_step[i] = *ends.out[i].sent;
}

// Kept for the next launch. All threads must have read the old steps before.
__device__ void store_steps(const Ends& ends, int in, int out) {
  __syncthreads();
  if (threadIdx.x != 0) return;
  for (int i = 0; i < in; ++i) *ends.in[i].received = ends.in_step[i];
  for (int i = 0; i < out; ++i) *ends.out[i].sent = ends.out_step[i];
}

struct Work {
  std::size_t pairs = 0;        // of a rank's buffer
  std::size_t chunk_pairs = 0;  // at most that many in a slot
};

__device__ std::size_t least(std::size_t a, std::size_t b) { return a < b ? a : b; }

// Every channel takes an equal part of the buffer and goes through it loop by loop, n chunks a loop.
template <Protocol kProtocol>
__global__ void ring_all_reduce(GroupView group, Work work) {
  const int ranks = group.shape.ranks;
  const int channels = group.shape.channels;
  const int rank = static_cast<int>(blockIdx.x) / channels;
  const int channel = static_cast<int>(blockIdx.x) % channels;
  Ends ends;
  ends.in[0] = group.ends[blockIdx.x].in[0];
  ends.out[0] = group.ends[blockIdx.x].out[0];
  load_steps(ends, 1, 1);
  const std::size_t part = work.pairs / static_cast<std::size_t>(channels);
  const std::size_t begin = part * static_cast<std::size_t>(channel);
  const auto n = static_cast<std::size_t>(ranks);
  for (std::size_t done = 0; done < part;) {
    // An even number of pairs, so that Simple may move 16 bytes at a time.
    const std::size_t chunk = least(work.chunk_pairs, ((part - done + n - 1) / n + 1) / 2 * 2);
    const auto piece = [&](int owner) {
      Primitive p;
      p.first = least(done + chunk * static_cast<std::size_t>((owner + 2 * ranks) % ranks), part);
      p.pairs = least(chunk, part - p.first);
      p.first += begin;
      return p;
    };
    for (int step = 0; step < 2 * ranks - 1; ++step) {
      Primitive p = piece(rank - step);
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

// Up to the root and down again, one chunk after another; chunks follow each other through the tree.
template <Protocol kProtocol>
__global__ void tree_all_reduce(GroupView group, Work work) {
  const int channels = group.shape.channels;
  const int rank = static_cast<int>(blockIdx.x) / channels;
  const int channel = static_cast<int>(blockIdx.x) % channels;
  const BlockEnds mine = group.ends[blockIdx.x];
  // Going up: in from the children, out to the parent; going down the other way round.
  Ends up, down;
  for (int i = 0; i < mine.children; ++i) {
    up.in[i] = mine.in[1 + i];
    down.out[i] = mine.out[1 + i];
  }
  up.out[0] = mine.out[0];
  down.in[0] = mine.in[0];
  const int parents = mine.has_parent ? 1 : 0;
  load_steps(up, mine.children, parents);
  load_steps(down, parents, mine.children);
  const std::size_t part = work.pairs / static_cast<std::size_t>(channels);
  const std::size_t begin = part * static_cast<std::size_t>(channel);
  const std::size_t chunks = (part + work.chunk_pairs - 1) / work.chunk_pairs;
  // Up runs ahead of down by as many chunks as fit into the slots, as NCCL's two halves of a block do.
  const auto ahead = static_cast<std::size_t>(group.shape.fifo.slot_count / 2);
  for (std::size_t turn = 0; turn < chunks + ahead; ++turn) {
    if (turn < chunks) {
      Primitive p{.receive_from = mine.children, .send_to = parents, .add_own = true, .store = parents == 0};
      p.first = turn * work.chunk_pairs;
      p.pairs = least(work.chunk_pairs, part - p.first);
      p.first += begin;
      run<kProtocol>(up, p, group.shape.fifo, group.input[rank], group.output[rank]);
    }
    if (turn < ahead) continue;
    Primitive p{.receive_from = parents, .send_to = mine.children, .store = parents != 0};
    p.first = (turn - ahead) * work.chunk_pairs;
    p.pairs = least(work.chunk_pairs, part - p.first);
    p.first += begin;
    // The root sends what it has summed: its own output.
    const float2* from = parents == 0 ? group.output[rank] : group.input[rank];
    run<kProtocol>(down, p, group.shape.fifo, from, group.output[rank]);
  }
  store_steps(up, mine.children, parents);
  store_steps(down, parents, mine.children);
}

const void* kernel_of(Graph graph, Protocol protocol) {
  const bool ring = graph == Graph::kRing;
  switch (protocol) {
    case Protocol::kLl:
      return ring ? reinterpret_cast<const void*>(ring_all_reduce<Protocol::kLl>)
                  : reinterpret_cast<const void*>(tree_all_reduce<Protocol::kLl>);
    case Protocol::kLl128:
      return ring ? reinterpret_cast<const void*>(ring_all_reduce<Protocol::kLl128>)
                  : reinterpret_cast<const void*>(tree_all_reduce<Protocol::kLl128>);
    case Protocol::kSimple:
      return ring ? reinterpret_cast<const void*>(ring_all_reduce<Protocol::kSimple>)
                  : reinterpret_cast<const void*>(tree_all_reduce<Protocol::kSimple>);
  }
  return nullptr;
}

struct ProtocolName {
  Protocol protocol;
  const char* name;
};
constexpr ProtocolName kProtocols[] = {{Protocol::kLl, "LL"}, {Protocol::kLl128, "LL128"}, {Protocol::kSimple, "Simple"}};

struct Case {
  ProtocolName protocol;
  GroupShape shape;
  std::size_t bytes = 0;
};

void launch(const Case& c, const GroupView& view, cudaStream_t stream) {
  GroupView group = view;
  const std::size_t useful = useful_bytes(c.protocol.protocol, c.shape.fifo.slot_bytes) / sizeof(float2);
  Work work{.pairs = c.bytes / sizeof(float2), .chunk_pairs = useful / 2 * 2};
  void* arguments[] = {&group, &work};
  check(cudaLaunchCooperativeKernel(kernel_of(c.shape.graph, c.protocol.protocol),
                                    dim3(static_cast<unsigned>(c.shape.ranks * c.shape.channels)),
                                    dim3(static_cast<unsigned>(c.shape.threads)), arguments, 0, stream),
        "cudaLaunchCooperativeKernel");
}

std::vector<float> values_of(const Buffer& buffer, std::size_t count) {
  std::vector<float> values(count);
  check(cudaMemcpy(values.data(), buffer.data(), 4 * count, cudaMemcpyDeviceToHost), "cudaMemcpy");
  return values;
}

// Plays it twice, so that the second run goes on from the first one's steps.
void check_sums(const Case& c) {
  const Group group(c.shape, c.bytes);
  for (int turn = 0; turn < 2; ++turn) launch(c, group.view(), nullptr);
  check(cudaDeviceSynchronize(), "a collective among blocks");
  const std::size_t count = c.bytes / 4;
  std::vector<double> sums(count);
  for (int rank = 0; rank < c.shape.ranks; ++rank) {
    const std::vector<float> values = values_of(group.input(rank), count);
    for (std::size_t i = 0; i < count; ++i) sums[i] += static_cast<double>(values[i]);
  }
  for (int rank = 0; rank < c.shape.ranks; ++rank) {
    const std::vector<float> found = values_of(group.output(rank), count);
    for (std::size_t i = 0; i < count; ++i) {
      if (std::abs(static_cast<double>(found[i]) - sums[i]) <= 1e-4) continue;
      std::fprintf(stderr, "error: %s %s: rank %d has %g instead of %g at %zu\n", c.protocol.name,
                   c.shape.graph == Graph::kRing ? "ring" : "tree", rank, static_cast<double>(found[i]), sums[i], i);
      std::exit(1);
    }
  }
}

bool measure_case(const Suite& suite, Table& table, const Case& c) {
  if (suite.time_is_up()) return false;
  if (c.shape.ranks * c.shape.channels > sm_count()) return true;  // a block each SM, as NCCL has them
  Row row = {{"graph", c.shape.graph == Graph::kRing ? "ring" : "tree"},
             {"protocol", c.protocol.name},
             {"ranks", text(static_cast<long long>(c.shape.ranks))},
             {"channels", text(static_cast<long long>(c.shape.channels))},
             {"threads", text(static_cast<long long>(c.shape.threads))},
             {"slots", text(static_cast<long long>(c.shape.fifo.slot_count))},
             {"slot_bytes", text(static_cast<long long>(c.shape.fifo.slot_bytes))},
             {"bytes", text(static_cast<long long>(c.bytes))}};
  if (table.has(row)) return true;
  const Group group(c.shape, c.bytes);
  TimingRules rules;
  rules.mode = LaunchMode::kEager;
  rules.most_launches = 32;
  const Timing timing = time_launches([&](cudaStream_t stream, int) { launch(c, group.view(), stream); }, rules);
  add_timing(row, timing);
  table.add(row);
  suite.progress("all-reduce " + row["graph"] + " " + row["protocol"] + " " + row["channels"] + " channels " + row["bytes"] +
                 " B: " + text(timing.median_us) + " us");
  return true;
}

constexpr std::size_t slot_of_protocol(Protocol protocol) {
  // NCCL's defaults: 64 KiB, 600 KiB, 512 KiB a slot. LL128 is rounded to whole lines.
  return protocol == Protocol::kLl ? 64 << 10 : protocol == Protocol::kLl128 ? 600 << 10 : 512 << 10;
}

bool sweep_sizes(const Suite& suite, Table& table, const Case& base) {
  const std::size_t factor = suite.extent == Extent::kQuick ? 64 : 4;
  bool time_left = true;
  for (std::size_t bytes = 4 << 10; bytes <= 64UL << 20U && time_left; bytes *= factor) {
    Case c = base;
    c.bytes = bytes;
    time_left = measure_case(suite, table, c);
  }
  return time_left;
}

}  // namespace

void measure_primitives(const Suite& suite) {
  Table table = suite.table("primitives", {"graph", "protocol", "ranks", "channels", "threads", "slots", "slot_bytes", "bytes"},
                            {"time_us", "ci_low_us", "ci_high_us"});
  bool time_left = true;
  for (const Graph graph : {Graph::kRing, Graph::kTree}) {
    for (const ProtocolName& protocol : kProtocols) {
      Case base{.protocol = protocol, .shape = {}, .bytes = 0};
      base.shape.graph = graph;
      base.shape.fifo.slot_bytes = slot_of_protocol(protocol.protocol);
      Case check_case = base;
      check_case.shape.channels = 2;
      check_case.bytes = 3 << 20;
      check_sums(check_case);
      for (const int channels : {1, 2, 4, 8, 16}) {
        if (suite.extent == Extent::kQuick && channels != 4) continue;
        Case c = base;
        c.shape.channels = channels;
        time_left = time_left && sweep_sizes(suite, table, c);
      }
      if (suite.extent == Extent::kQuick) continue;
      for (const int ranks : {2, 4, 16}) {
        Case c = base;
        c.shape.ranks = ranks;
        time_left = time_left && sweep_sizes(suite, table, c);
      }
      Case c = base;
      c.shape.channels = 4;
      c.bytes = 16 << 20;
      for (const int threads : {64, 128, 256}) {
        Case other = c;
        other.shape.threads = threads;
        time_left = time_left && measure_case(suite, table, other);
      }
      for (const int slots : {2, 4}) {  // with one, every rank of a ring would wait for its neighbour's credit
        Case other = c;
        other.shape.fifo.slot_count = slots;
        time_left = time_left && measure_case(suite, table, other);
      }
      for (const std::size_t slot : {7680UL, 30720UL, 122880UL, 491520UL}) {  // multiples of 128 and of 15 lines
        Case other = c;
        other.shape.fifo.slot_bytes = slot;
        time_left = time_left && measure_case(suite, table, other);
      }
    }
  }
}

}  // namespace ringwright::gpu
