// The Chakra traces of a job: PREFIX.RANK.et, one file per rank, of which equal ones are read once.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/base/diagnostic.h"
#include "traces/chakra/reader.h"
#include "traces/chakra/trace.h"

namespace ringwright::traces {

struct ChakraJob {
  std::string prefix;
  std::vector<ChakraTrace> traces;      // distinct contents, in the order of their first ranks
  std::vector<std::uint32_t> trace_of;  // by rank: index into `traces`

  [[nodiscard]] std::size_t ranks() const { return trace_of.size(); }
  [[nodiscard]] const ChakraTrace& of(std::size_t rank) const { return traces[trace_of[rank]]; }
};

struct ChakraJobReading {
  ChakraJob job;
  Diagnostics warnings;
};

// The files as find_rank_files finds them (traces/chakra/rank_files.h). The mistakes of all files come at once.
[[nodiscard]] Result<ChakraJobReading> read_chakra_job(const std::string& prefix, std::size_t ranks = 0,
                                                       const ChakraReadOptions& options = {});

}  // namespace ringwright::traces
