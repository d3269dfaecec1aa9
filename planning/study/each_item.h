// Independent items of a study on all cores: each is evaluated by one thread, alone.
#pragma once

#include <algorithm>
#include <cstddef>
#include <thread>

#include "planning/study/workers.h"

namespace ringwright::planning {

// Calls work(item) for 0 to count - 1, each once, in any order. Calls of `progress` do not overlap.
template <class Work>
void each_item(std::size_t count, const Workers& workers, const Work& work) {
  const int usual = static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
  const int asked = workers.threads > 0 ? workers.threads : usual;
  [[maybe_unused]] const int threads =
      static_cast<int>(std::clamp<std::size_t>(count, 1, static_cast<std::size_t>(asked)));
  std::size_t done = 0;
#pragma omp parallel for schedule(dynamic) num_threads(threads) if (threads > 1)
  for (std::size_t item = 0; item < count; ++item) {
    work(item);
#pragma omp critical(study_progress)
    if (workers.progress) workers.progress(++done, count);
  }
}

}  // namespace ringwright::planning
