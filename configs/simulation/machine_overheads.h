// Overheads of calls by machine, where many scenarios are simulated: a study, the rows of a table.
#pragma once

#include <cstddef>
#include <map>
#include <mutex>
#include <string>

#include "configs/scenario/scenario.h"
#include "configs/simulation/known_overheads.h"
#include "configs/simulation/overhead_store.h"

namespace ringwright::configs {

// All that a scenario says of its machine: what does not belong to the model, its training and its layout. In base
// units, and with digests of the files that it names.
[[nodiscard]] std::string machine_of(const Scenario& scenario);

// Scenarios are on one machine if machine_of() is equal. Thread-safe.
class MachineOverheads {
 public:
  // `store`: where costly ones are retained; it outlives this. Null: nowhere.
  explicit MachineOverheads(OverheadStore* store = nullptr, std::size_t most = 256) : store_(store), most_(most) {}
  // Valid as long as this. Null: there are `most` machines already, and the scenario finds its own.
  [[nodiscard]] KnownOverheads* of(const Scenario& scenario);

 private:
  OverheadStore* store_;
  std::size_t most_;
  std::mutex mutex_;
  std::map<std::string, KnownOverheads> known_;
};

}  // namespace ringwright::configs
