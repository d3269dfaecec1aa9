// Writes Chakra execution traces in the binary form of schema 0.0.4.
//
// Attributes get the types that the reference feeder reads. What the reader only counted, and facts about a file that
// are no texts, are not written.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "traces/chakra/job.h"
#include "traces/chakra/trace.h"

namespace ringwright::traces {

inline constexpr std::string_view kChakraVersion = "0.0.4";

// The content of a file.
[[nodiscard]] std::string chakra_records(const ChakraTrace& trace);

struct TraceFile {
  std::string name;
  std::string content;
};

enum class TraceFiles {
  kPerRank,   // NAME.RANK.et, as other simulators read them
  kPerTrace,  // ranks with the same trace share a file, named after its first rank; NAME.ranks.json lists them
};

// The files of a job: one per rank, or one per distinct trace and the map (traces/chakra/rank_files.h).
[[nodiscard]] std::vector<TraceFile> chakra_files(const ChakraJob& job, const std::string& name, TraceFiles how);

}  // namespace ringwright::traces
