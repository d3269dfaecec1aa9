// Tables of collectives of MPI that were measured with an algorithm known by name.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "configs/simulation/collective_run.h"
#include "core/base/diagnostic.h"
#include "core/base/units.h"

namespace ringwright::validation {

struct MeasuredMpi {
  std::string system;               // "fugaku"
  std::string nodes;                // "8x8x8", "512"
  std::vector<std::int64_t> sides;  // {8, 8, 8}, {512}
  configs::CollectiveOperation operation = configs::CollectiveOperation::kAllReduce;
  std::string name;            // as the library or the authors call the algorithm
  std::string_view algorithm;  // as `collectives.world.algorithm` calls it
  Bytes bytes;
  double seconds = 0.0;  // median
  bool fitted = false;   // constants of the system were fitted on its runs of this size
  int line = 0;

  [[nodiscard]] std::int64_t hosts() const;
};

struct MpiTable {
  std::string file;
  std::string source;
  std::vector<MeasuredMpi> rows;
  std::size_t left_out = 0;  // rows of algorithms that have no counterpart here
};

[[nodiscard]] Result<MpiTable> read_mpi_table(const std::string& path);
// The same for a text in memory; `name` is used in messages.
[[nodiscard]] Result<MpiTable> parse_mpi_table(const std::string& name, std::string_view text);

// Ours for an algorithm by the name that OpenMPI, MPICH, Fujitsu MPI or PICO give it; empty when there is none.
[[nodiscard]] std::string_view algorithm_of_mpi(configs::CollectiveOperation operation, std::string_view name);

}  // namespace ringwright::validation
