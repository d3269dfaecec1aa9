// A program with more cycles in its loop.
#pragma once

#include <cstdint>

#include "core/plan/task_graph.h"

namespace ringwright {

// The program with so many further cycles behind the last one of its loop, which has at least two. Tasks up to the end
// of the loop keep their numbers; what depended on the last cycle depends on the new last one.
[[nodiscard]] Program with_more_cycles(const Program& program, std::uint32_t cycles);

}  // namespace ringwright
