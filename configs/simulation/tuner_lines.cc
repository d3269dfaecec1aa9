#include "configs/simulation/tuner_lines.h"

#include <utility>

#include "collectives/nccl/cost/tuner_file.h"
#include "core/base/check.h"

namespace ringwright::configs {

Scenario with_tuner_lines(Scenario scenario, std::string_view lines) {
  auto file = collectives::parse_tuner_file(lines, "the tuner's lines");
  CHECK(file.has_value(), "a line of a tuner file cannot be read back");
  if (scenario.second_library) scenario.second_library->tuner = *file;
  scenario.nccl.tuner = std::move(*file);
  return scenario;
}

}  // namespace ringwright::configs
