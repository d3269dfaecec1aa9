// One operation at many sizes on all cores, as a table of nccl-tests has them.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <utility>
#include <vector>

#include "configs/scenario/scenario.h"
#include "configs/simulation/collective_run.h"
#include "core/base/diagnostic.h"

namespace ringwright::configs {

// Called in the order of the requests, as soon as those before are done; false: no more are wanted.
using TakeResult = std::function<bool(std::size_t index, Result<CollectiveResult>)>;

// Results do not depend on the number of threads (0: one per core). Each thread builds the network for itself.
void run_sizes(const Scenario& scenario, std::span<const CollectiveRequest> requests, int threads,
               const TakeResult& take);

// Settings without effect, of which some concern only some sizes.
class IgnoredBySize {
 public:
  void add(const std::vector<IgnoredKey>& of_size);
  // In the order in which they came; the reason of those that concern only some sizes states how many.
  [[nodiscard]] std::vector<IgnoredKey> keys() const;

 private:
  std::size_t sizes_ = 0;
  std::vector<std::pair<IgnoredKey, std::size_t>> keys_;  // and the number of sizes
};

}  // namespace ringwright::configs
