// A tuner file as NCCL's example plug-in reads it: lines that set the algorithm by call size and communicator.
//
//     # collective_type,min_bytes,max_bytes,algorithm,protocol,channels,nNodes,nRanks[,numPipeOps[,regBuff]]
//     allreduce,0,65536,tree,ll,2,-1,-1
//
// The first matching line applies. -1 stands for any (channels: NCCL's own number); 4294967295 bytes for no limit.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "collectives/nccl/tables/vocabulary.h"
#include "core/base/diagnostic.h"

namespace ringwright::collectives {

struct TunerLine {
  int line = 0;
  CollectiveKind kind = CollectiveKind::kAllReduce;
  std::int64_t min_bytes = 0;
  std::int64_t max_bytes = 0;  // inclusive
  NcclAlgorithm algorithm = NcclAlgorithm::kRing;
  Protocol protocol = Protocol::kSimple;
  int channels = -1;
  int hosts = -1;
  int ranks = -1;
  int operations = -1;  // numPipeOps; ringwright always uses one
  int registered = -1;  // regBuff; ringwright's buffers are not registered
};

struct TunerFile {
  std::vector<TunerLine> lines;

  // The line that applies to a call; null: none.
  [[nodiscard]] const TunerLine* find(const CollectiveCall& call) const;
};

// All mistakes at once, each with its line.
[[nodiscard]] Result<TunerFile> parse_tuner_file(std::string_view text, const std::string& name);

}  // namespace ringwright::collectives
