// Building blocks of collectives: ring and tree all-reduce among thread blocks of one GPU that act as ranks, by LL,
// LL128 and Simple through device memory, against size, channels, threads, chunk size and slots. One slot's data is a
// primitive; a ring's time for tiny sizes over 2 (n - 1) is the latency of a step.
//
// Results are compared with sums made on the host; a row of wrong sums is not written, and the run exits with 1.
#include <cmath>
#include <string>
#include <vector>

#include "all_reduce.cuh"
#include "check.cuh"
#include "device.cuh"
#include "group.cuh"
#include "launch.cuh"
#include "suite.cuh"

namespace ringwright::gpu {

void measure_primitives(const Suite& suite);

namespace {

using Kernel = void (*)(GroupView, Work);
Kernel kernel_of(Graph graph, Protocol protocol) {
  const bool ring = graph == Graph::kRing;
  switch (protocol) {
    case Protocol::kLl: return ring ? ring_all_reduce<Protocol::kLl> : tree_all_reduce<Protocol::kLl>;
    case Protocol::kLl128: return ring ? ring_all_reduce<Protocol::kLl128> : tree_all_reduce<Protocol::kLl128>;
    case Protocol::kSimple: return ring ? ring_all_reduce<Protocol::kSimple> : tree_all_reduce<Protocol::kSimple>;
  }
  return nullptr;
}

struct ProtocolName {
  Protocol protocol;
  const char* name;
};
constexpr ProtocolName kProtocols[] = {
    {Protocol::kLl, "LL"}, {Protocol::kLl128, "LL128"}, {Protocol::kSimple, "Simple"}};

struct Case {
  ProtocolName protocol;
  GroupShape shape;
  std::size_t bytes = 0;
};

void launch(const Case& c, const GroupView& group, cudaStream_t stream) {
  enqueue(kernel_of(c.shape.graph, c.protocol.protocol),
          {.blocks = static_cast<unsigned>(c.shape.ranks * c.shape.channels),
           .threads = static_cast<unsigned>(c.shape.threads),
           .cooperative = true},
          stream, group, work_of(c.protocol.protocol, c.shape.fifo, c.bytes));
}

std::vector<float> values_of(const Buffer& buffer, std::size_t count) {
  std::vector<float> values(count);
  check(cudaMemcpy(values.data(), buffer.data(), 4 * count, cudaMemcpyDeviceToHost), "cudaMemcpy");
  return values;
}

// The result that a launch should have left in every rank's output: the first mismatch, or nothing.
std::string wrong_sum(const Case& c, const Group& group) {
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
      return "rank " + std::to_string(rank) + " has " + text(static_cast<double>(found[i])) + " instead of " +
             text(sums[i]) + " at " + std::to_string(i);
    }
  }
  return "";
}

std::string name_of(const Case& c) {
  return std::string(c.shape.graph == Graph::kRing ? "ring" : "tree") + " " + c.protocol.name + ", " +
         std::to_string(c.shape.ranks) + " ranks, " + std::to_string(c.shape.channels) + " channels, " +
         std::to_string(c.shape.fifo.slot_count) + " slots of " + std::to_string(c.shape.fifo.slot_bytes) + " B, " +
         std::to_string(c.bytes) + " B";
}

// Runs it twice, so that the second run continues from the steps of the first.
bool sums_are_right(const Suite& suite, const Case& c) {
  const Group group(c.shape, c.bytes);
  for (int turn = 0; turn < 2; ++turn) launch(c, group.view(), nullptr);
  check(cudaDeviceSynchronize(), "a collective among blocks");
  const std::string wrong = wrong_sum(c, group);
  if (!wrong.empty()) suite.trouble("wrong sum by " + name_of(c) + ": " + wrong + "; it is not measured");
  return wrong.empty();
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
  // Small ones are checked again after some hundred launches; large ones take the host too long.
  const std::string wrong = c.bytes <= 1 << 20 ? wrong_sum(c, group) : "";
  if (!wrong.empty()) {
    suite.trouble("wrong sum by " + name_of(c) + ": " + wrong);
    return true;
  }
  add_timing(row, timing);
  table.add(row);
  suite.progress("all-reduce " + row["graph"] + " " + row["protocol"] + " " + row["channels"] + " channels " +
                 row["bytes"] + " B: " + text(timing.median_us) + " us");
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
  Table table =
      suite.table("primitives", {"graph", "protocol", "ranks", "channels", "threads", "slots", "slot_bytes", "bytes"},
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
      if (suite.time_is_up()) return;
      if (sm_count() >= 16 && !sums_are_right(suite, check_case)) continue;
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
