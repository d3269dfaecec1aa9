// Which file holds the trace of each rank: PREFIX.RANK.et, or as PREFIX.ranks.json says.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/base/diagnostic.h"

namespace ringwright::traces {

// At most as many as a cluster may have.
inline constexpr std::size_t kMostTraceRanks = 4'194'304;

struct RankFiles {
  std::vector<std::string> files;      // paths, each of at least one rank
  std::vector<std::uint32_t> file_of;  // by rank: index into `files`
};

// PREFIX.RANK.et, PREFIX.RANK.et.gz or PREFIX.RANK.json of every rank; or, where several ranks share a file, those that
// PREFIX.ranks.json lists: {"ranks": 64, "files": [{"file": "step.0.et", "ranks": "0-31"}, ...]}, with file names
// relative to it. `ranks`: how many the job has; 0: as many as there are. All missing ranks are named at once.
[[nodiscard]] Result<RankFiles> find_rank_files(const std::string& prefix, std::size_t ranks = 0);

// Whether there is a trace of any rank, or a list of them.
[[nodiscard]] bool has_rank_files(const std::string& prefix);

// "0-3,8": ascending numbers in short.
[[nodiscard]] std::string ranges_text(std::span<const std::uint32_t> numbers);

}  // namespace ringwright::traces
