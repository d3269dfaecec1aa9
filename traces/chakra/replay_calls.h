// The communication of a trace in program order, as replay needs it: collectives, sends and receives.
#pragma once

#include <cstdint>
#include <vector>

#include "core/plan/collective_call.h"
#include "traces/chakra/check.h"
#include "traces/chakra/problem_list.h"
#include "traces/chakra/trace.h"

namespace ringwright::traces {

// What a node does in a replay.
enum class NodeRole : std::uint8_t {
  kNothing,  // metadata, and collectives without bytes: only their dependencies count
  kGpu,      // computes on the GPU
  kCpu,      // computes on the host
  kCollective,
  kSend,
  kReceive,
  kLoad,   // from host memory
  kStore,  // to it
};
// Needs no valid attributes.
[[nodiscard]] NodeRole role_of(const ChakraTrace& trace, const ChakraNode& node);

struct TraceCollective {
  std::uint32_t node = 0;  // position in the trace
  TextIndex group = 0;     // name; 0: none, which means all ranks
  CollectiveKind kind = CollectiveKind::kAllReduce;
  Bytes size;              // comm_size
  bool of_shards = false;  // all-gather: comm_size is what one rank contributes
};

struct TraceMessage {
  std::uint32_t node = 0;
  TextIndex group = 0;    // name; 0: none
  std::int64_t peer = 0;  // rank
  std::int64_t tag = 0;
  Bytes size;
};

struct TraceCalls {
  std::vector<TraceCollective> collectives;
  std::vector<TraceMessage> sends;
  std::vector<TraceMessage> receives;
};

// Nodes that lack an attribute, or ask for what cannot be simulated, are errors.
[[nodiscard]] TraceCalls calls_of(const ChakraTrace& trace, const ChakraOrder& order, ProblemList& problems);

}  // namespace ringwright::traces
