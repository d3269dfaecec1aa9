#include "core/run/progress.h"

#include "core/base/random.h"

namespace ringwright {

std::uint64_t digest(const Progress& progress, TimePoint now, int iteration) {
  std::uint64_t hash = static_cast<std::uint64_t>(progress.iteration - iteration);
  for (std::size_t task = 0; task < progress.state.size(); ++task) {
    // Tasks that are done or wait for equally many others weigh in with their place.
    const std::uint64_t state = (std::uint64_t{progress.pending[task]} << 2U) |
                                static_cast<std::uint64_t>(progress.state[task]);
    hash = (hash ^ state) * 0x100000001B3ULL + task;
  }
  for (const std::uint32_t next : progress.stream_next) hash = mix(hash, next);
  for (const bool busy : progress.stream_busy) hash = mix(hash, busy ? 1 : 0);
  std::uint64_t running = 0;  // a sum: their order means nothing
  for (const auto& [task, end] : progress.computing) {
    running += mix(task, static_cast<std::uint64_t>((end - now).count()));
  }
  return mix(hash, running);
}

}  // namespace ringwright
