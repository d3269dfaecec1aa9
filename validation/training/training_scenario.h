// A measured training run as a scenario: what the row says, on top of what its software stack does by default.
#pragma once

#include <string>
#include <vector>

#include <tl/expected.hpp>

#include "validation/training/training_conventions.h"
#include "validation/training/training_row.h"

namespace ringwright::validation {

struct TrainingScenario {
  std::string yaml;                  // `extends` the stack's file
  std::vector<std::string> assumed;  // what neither the row nor the stack says
};

// Why a row cannot be represented.
struct Unplayable {
  std::string reason;
  std::string column;  // of the table, that the reason is about
};

[[nodiscard]] tl::expected<TrainingScenario, Unplayable> make_scenario(const TrainingRow& row,
                                                                       const TrainingConventions& conventions);

}  // namespace ringwright::validation
