// How a study uses the cores of this machine.
#pragma once

#include <cstddef>
#include <functional>

namespace ringwright::planning {

using StudyProgress = std::function<void(std::size_t done, std::size_t all)>;

struct Workers {
  int threads = 0;  // 0: one per core
  StudyProgress progress = {};
};

}  // namespace ringwright::planning
