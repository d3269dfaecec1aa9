#include "core/run/step/progress.h"

#include "core/base/random.h"

namespace ringwright {
namespace {

// A sum: their order does not matter.
std::uint64_t digest_times(const auto& times, TimePoint now, std::uint32_t reference) {
  std::uint64_t sum = 0;
  for (const TimedTask& timed : times) {
    sum += mix(timed.task - reference, static_cast<std::uint64_t>((timed.at - now).count()));
  }
  return sum;
}

std::uint64_t state_of(const TaskProgress& task) {
  return (std::uint64_t{task.pending} << 2U) | static_cast<std::uint64_t>(task.state);
}

}  // namespace

std::uint64_t digest_running(const Progress& progress, TimePoint now, std::uint32_t reference) {
  std::uint64_t hash = 0;
  for (const StreamProgress& stream : progress.streams) hash = mix(hash, stream.busy);
  hash = mix(hash, digest_times(progress.computing, now, reference));
  return mix(hash, digest_times(progress.delayed, now, reference));
}

std::uint64_t digest_cycle(const Progress& progress, const CycleReference& reference) {
  std::uint64_t hash = progress.first_open - reference.task;
  for (std::uint32_t task = progress.first_open; task <= progress.farthest; ++task) {
    hash = (hash ^ state_of(progress.tasks[task])) * 0x100000001B3ULL + (task - reference.task);
  }
  return mix(hash, digest_running(progress, reference.now, reference.task));
}

std::uint64_t digest(const Progress& progress, TimePoint now, int iteration) {
  std::uint64_t hash = static_cast<std::uint64_t>(progress.iteration - iteration);
  for (std::size_t task = 0; task < progress.tasks.size(); ++task) {
    // Tasks that are done or wait for the same number of others count with their position.
    hash = (hash ^ state_of(progress.tasks[task])) * 0x100000001B3ULL + task;
  }
  for (const StreamProgress& stream : progress.streams) hash = mix(hash, stream.next);
  return mix(hash, digest_running(progress, now, 0));
}

}  // namespace ringwright
