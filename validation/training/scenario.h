// A measured training run as a scenario: the row's values, on top of the defaults of its software stack.
#pragma once

#include <string>
#include <vector>

#include <tl/expected.hpp>

#include "validation/training/conventions.h"
#include "validation/training/row.h"

namespace ringwright::validation {

struct TrainingScenario {
  std::string yaml;                  // `extends` the stack's file
  std::vector<std::string> assumed;  // assumptions: set neither by the row nor by the stack
};

// Why a row cannot be represented.
struct Unplayable {
  std::string reason;
  std::string column;  // of the table, that the reason refers to
};

[[nodiscard]] tl::expected<TrainingScenario, Unplayable> make_scenario(const TrainingRow& row,
                                                                       const TrainingConventions& conventions);

}  // namespace ringwright::validation
