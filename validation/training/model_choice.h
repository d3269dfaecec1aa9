// The model of a measured run: a preset with the same structure, and what the row states otherwise.
#pragma once

#include <string>
#include <vector>

#include <tl/expected.hpp>

#include "validation/training/conventions.h"
#include "validation/training/row.h"

namespace ringwright::validation {

struct ModelChoice {
  std::vector<Setting> settings;     // keys of a scenario
  std::vector<std::string> assumed;  // what the row does not state
};

// `adapters`: only low-rank adapters are trained. The preset is, in this order: that of the convention for the row's
// words, unless another shipped model has the row's very name; a shipped model of that name; of decoders with and
// without a gated MLP the one whose parameters are closest to the row's, for rows that state all sizes. The error says
// why there is none.
[[nodiscard]] tl::expected<ModelChoice, std::string> choose_model(const TrainingRow& row,
                                                                  const TrainingConventions& conventions,
                                                                  bool adapters);

}  // namespace ringwright::validation
