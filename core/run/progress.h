// Where one class of ranks stands in its program.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "core/base/units.h"

namespace ringwright {

enum class TaskState : std::uint8_t { kWaiting, kRunning, kDone };

struct Progress {
  std::vector<std::uint16_t> pending;      // by task: unfinished dependencies
  std::vector<TaskState> state;            // by task
  std::vector<std::uint32_t> stream_next;  // by stream: place in the stream's order
  std::vector<bool> stream_busy;           // by stream
  std::vector<std::pair<std::uint32_t, TimePoint>> computing;  // running compute tasks and when they end
  std::size_t unfinished = 0;
  int iteration = 0;

  void computed(std::uint32_t task) {
    std::erase_if(computing, [task](const auto& running) { return running.first == task; });
  }
};

// A hash of all of it, with times relative to `now` and iterations relative to `iteration`.
[[nodiscard]] std::uint64_t digest(const Progress& progress, TimePoint now, int iteration);

}  // namespace ringwright
