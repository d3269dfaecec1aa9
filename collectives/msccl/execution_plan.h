// A collective algorithm from an execution plan of MSCCL++ (JSON): the one-sided operations of each thread block of
// each GPU.
//
//     {name, collective, protocol, inplace, num_threads_per_block, buffer_alignment, min/max_message_size, gpus: [
//       {id, input_chunks, output_chunks, scratch_chunks, channels, remote_buffers, semaphores, threadblocks: [
//         {id, channels, remote_buffer_refs, ops: [{name, src_buff, dst_buff, channel_ids, channel_type, ...}]}]}]}
//
// Thread blocks store into other GPUs' memory and load from it, synchronise by signals, and packets carry their own
// flags (microsoft/mscclpp: src/executor/execution_plan.cc, src/include/execution_kernel.hpp).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "collectives/msccl/program.h"
#include "core/base/diagnostic.h"
#include "core/base/units.h"
#include "core/plan/collective_call.h"
#include "core/plan/collective_plan.h"

namespace ringwright::collectives {

// Effects of an operation on its sources and targets beyond copying them one by one.
struct PlanAction {
  std::string_view name;      // as in the file
  bool adds = false;          // all sources, into every target
  int packets_from = kNever;  // sources from this one on are packets: it waits for their flags
  int packets_to = kNever;    // targets from this one on become packets
  bool signals = false;
  bool waits = false;
  bool acquires = false;  // semaphores of the GPU
  bool releases = false;
  bool barrier = false;

  static constexpr int kNever = 1'000;
};

// Units [begin, end) of a buffer of a GPU; a chunk is several units where thread block groups share one.
struct PlanRange {
  int gpu = 0;
  MscclBuffer buffer = MscclBuffer::kInput;
  int begin = 0;
  int end = 0;

  [[nodiscard]] int size() const { return end - begin; }
};

// The ordinal-th channel of its kind between two GPUs.
struct PlanChannel {
  int peer = 0;
  int ordinal = 0;
  bool port = false;  // a proxy sends, also over the network; otherwise threads store through NVLink
};

// An operation of another thread block.
struct PlanOpRef {
  int block = 0;  // by position in its GPU's list
  int op = 0;
};

struct PlanOp {
  const PlanAction* action = nullptr;
  std::vector<PlanRange> sources;
  std::vector<PlanRange> targets;
  bool port = false;
  std::vector<PlanChannel> channels;
  std::vector<int> semaphores;
  int barrier = 0;
  int line = 0;

  // From links: messages (numbers in the plan) that it sends and waits for, operations of its GPU that must be
  // complete.
  std::vector<int> sent;
  std::vector<int> awaited;
  std::vector<PlanOpRef> after;
};

struct PlanBlock {
  int id = 0;
  std::vector<PlanOp> ops;
};

struct PlanGpu {
  int inputs = 0;  // units
  int outputs = 0;
  int scratch = 0;
  int line = 0;
  std::vector<int> semaphores;  // initial value of each
  std::vector<PlanBlock> blocks;
};

// From one operation to one of another GPU.
struct PlanMessage {
  int from = 0;  // GPUs
  int to = 0;
  PlanOpRef writer;
  PlanOpRef reader;
  bool carries_data = false;  // through a proxy; otherwise the bytes are already stored, and it is signal-only
};

struct ExecutionPlan {
  std::string name;
  std::string file;
  CollectiveKind kind = CollectiveKind::kAllReduce;
  Protocol protocol = Protocol::kSimple;
  bool in_place = false;
  int threads = 1024;
  int chunks = 1;  // of the whole buffer
  int units_per_chunk = 1;
  Bytes alignment{16};
  Bytes min_bytes;
  Bytes max_bytes;  // inclusive
  std::vector<PlanGpu> gpus;
  std::vector<PlanMessage> messages;

  [[nodiscard]] int ranks() const { return static_cast<int>(gpus.size()); }
  [[nodiscard]] int units() const { return chunks * units_per_chunk; }
};

// Parsed, linked and proved. Each mistake has its line.
[[nodiscard]] Result<ExecutionPlan> parse_execution_plan(std::string_view text, const std::string& name);

}  // namespace ringwright::collectives
