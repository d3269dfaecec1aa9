// Simulates collectives with named algorithms on descriptions of the machines on which MPI ran them.
#pragma once

#include <string>
#include <vector>

#include "core/base/diagnostic.h"
#include "validation/mpi/mpi_table.h"

namespace ringwright::validation {

struct MpiPlayOptions {
  std::vector<std::string> overrides;
  std::string cluster;  // for all rows; empty: the shipped machine of each row's system
};

// Seconds, by row of the table. Fails for a system of which no machine is shipped, and for a number of nodes that its
// algorithm or machine cannot have.
[[nodiscard]] Result<std::vector<double>> play_mpi(const MpiTable& table, const MpiPlayOptions& options);

}  // namespace ringwright::validation
