// The dimensions and streams of a recommendation model's communication.
#pragma once

#include <string>
#include <vector>

#include "core/plan/task_graph.h"
#include "workload/program/program_writer.h"
#include "workload/recommendation/table_placement.h"

namespace ringwright::workload {

// "mp" for embeddings, "dp" for gradients; where tables are on hosts, also "mp_intra" for the ranks of a host, and
// "mp_cross" for those that have the same number on their hosts.
[[nodiscard]] std::vector<std::string> recommendation_dimensions(const TablePlacement& placement);
// All four: each may have algorithms of its own.
[[nodiscard]] std::vector<std::string> recommendation_dimensions();
// With groups, and the one of a cache: every rank alone with its host.
[[nodiscard]] std::vector<Dimension> placed_dimensions(const TablePlacement& placement, bool has_cache);

inline constexpr CommStream kEmbeddingStream{.dimension = DimensionId(0), .stream = 1};
inline constexpr CommStream kGradientStream{.dimension = DimensionId(1), .stream = 1};
inline constexpr CommStream kIntraStream{.dimension = DimensionId(2), .stream = 1};
inline constexpr CommStream kCrossStream{.dimension = DimensionId(3), .stream = 1};

}  // namespace ringwright::workload
