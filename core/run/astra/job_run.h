// Runs a job of node graphs by ASTRA-sim's rules.
//
// A rank issues its nodes in order of their ids when all they depend on is done: one at a time on its CPU, one on its
// GPU, one communication, and any number of receives. Whenever a node is done, the rank looks for others to issue.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "core/plan/node_job.h"
#include "core/ports/message_network.h"
#include "core/run/astra/chunk_streams.h"
#include "core/run/astra/job_outcome.h"
#include "core/run/astra/remote_memory.h"

namespace ringwright {

enum class ChunkOrder : std::uint8_t { kLatestFirst, kEarliestFirst, kByPriority };

// Whether collectives may be computed by their symmetry or taken from an equal earlier one, with the same results.
enum class Shortcuts : bool { kNo, kYes };

struct JobRules {
  StreamRules streams;
  RemoteMemoryRules memory;
  ChunkOrder order = ChunkOrder::kLatestFirst;
  Shortcuts shortcuts = Shortcuts::kYes;
  Shortcuts rings = Shortcuts::kYes;  // where members do not call in step
};

[[nodiscard]] JobOutcome run_node_job(const NodeJob& job, const JobRules& rules, const MessageNetworks& networks);

}  // namespace ringwright
