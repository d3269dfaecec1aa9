// Measured collectives against simulated ones: by row, by size band, by platform; as text, JSON and a page.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "validation/fit/error_statistics.h"
#include "validation/nccl/collective_replay.h"

namespace ringwright::validation {

using BandErrors = std::array<ErrorStatistics, kSizeBands>;

// The logs of one platform, simulated in the same manner.
struct PlatformScore {
  std::string platform;
  std::size_t logs = 0;
  BandErrors simulation;
  BandErrors formula;
};
// In order of first appearance.
[[nodiscard]] std::vector<PlatformScore> score_platforms(const std::vector<ReplayedLog>& logs);
// Of the logs of one role; of all logs together.
[[nodiscard]] PlatformScore score_role(const std::vector<ReplayedLog>& logs, LogRole role);
[[nodiscard]] PlatformScore score_all(const std::vector<ReplayedLog>& logs);

// Largest geometric mean of the absolute error that passes, by band.
using BandLimits = std::array<double, kSizeBands>;
[[nodiscard]] bool within(const BandErrors& errors, const BandLimits& limits);

enum class RowsShown { kNone, kAll };

struct CollectiveTables {
  const std::vector<ReplayedLog>& logs;
  const std::vector<ReplayedLog>* uncalibrated = nullptr;  // the same with makers' figures only, for the page
  BandLimits limits{};
};
[[nodiscard]] std::string collectives_text(const CollectiveTables& tables, RowsShown rows);
[[nodiscard]] std::string collectives_json(const CollectiveTables& tables);
[[nodiscard]] std::string collectives_markdown(const CollectiveTables& tables);

}  // namespace ringwright::validation
