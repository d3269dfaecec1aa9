// A measured training run as a scenario: what the row says, on top of what its software stack does by default.
#pragma once

#include <string>
#include <vector>

#include <tl/expected.hpp>

#include "validation/training_conventions.h"
#include "validation/training_row.h"

namespace ringwright::validation {

struct TrainingScenario {
  std::string yaml;                  // `extends` the stack's file
  std::vector<std::string> assumed;  // what neither the row nor the stack says
};

// Or the reason why the row cannot be represented.
[[nodiscard]] tl::expected<TrainingScenario, std::string> make_scenario(const TrainingRow& row,
                                                                        const TrainingConventions& conventions);

}  // namespace ringwright::validation
