// Overheads of calls by machine, where many scenarios are simulated: a study, the rows of a table.
#pragma once

#include <cstddef>
#include <map>
#include <mutex>
#include <string>

#include "configs/scenario/scenario.h"
#include "configs/simulation/known_overheads.h"

namespace ringwright::configs {

// Scenarios are on one machine if everything is equal that does not belong to the model, its training and its layout.
// Thread-safe.
class MachineOverheads {
 public:
  explicit MachineOverheads(std::size_t most = 256) : most_(most) {}
  // Valid as long as this. Null: there are `most` machines already, and the scenario finds its own.
  [[nodiscard]] KnownOverheads* of(const Scenario& scenario);

 private:
  std::size_t most_;
  std::mutex mutex_;
  std::map<std::string, KnownOverheads> known_;
};

}  // namespace ringwright::configs
