#include "configs/simulation/collective_sizes.h"

#include <algorithm>
#include <atomic>
#include <thread>
#include <utility>

#include <fmt/format.h>

namespace ringwright::configs {

void run_sizes(const Scenario& scenario, std::span<const CollectiveRequest> requests, int threads,
               const TakeResult& take) {
  const int cores = threads > 0 ? threads : static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
  [[maybe_unused]] const int most =
      static_cast<int>(std::clamp<std::size_t>(requests.size(), 1, static_cast<std::size_t>(cores)));
  std::atomic<bool> wanted = true;
#pragma omp parallel num_threads(most) if (most > 1)
  {
    CollectiveBench bench(scenario);
#pragma omp for ordered schedule(dynamic)
    for (std::size_t i = 0; i < requests.size(); ++i) {
      if (!wanted) continue;
      Result<CollectiveResult> result = bench.run(requests[i]);
#pragma omp ordered
      if (wanted) wanted = take(i, std::move(result));
    }
  }
}

void IgnoredBySize::add(const std::vector<IgnoredKey>& of_size) {
  ++sizes_;
  for (const IgnoredKey& key : of_size) {
    const auto known = std::ranges::find_if(
        keys_, [&](const auto& other) { return other.first.path == key.path && other.first.why == key.why; });
    if (known == keys_.end()) {
      keys_.emplace_back(key, 1);
    } else {
      ++known->second;
    }
  }
}

std::vector<IgnoredKey> IgnoredBySize::keys() const {
  std::vector<IgnoredKey> all;
  for (const auto& [key, sizes] : keys_) {
    all.push_back(key);
    if (sizes < sizes_) all.back().why += fmt::format(" (at {} of {} sizes)", sizes, sizes_);
  }
  return all;
}

}  // namespace ringwright::configs
