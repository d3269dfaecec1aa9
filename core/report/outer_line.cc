#include "core/report/outer_line.h"

#include <fmt/format.h>

namespace ringwright {

std::string outer_line(const OuterFacts& outer) {
  const std::string fragment =
      outer.fragments > 1 ? fmt::format("{} fragments of {}", outer.fragments, to_string(outer.exchanged))
                          : to_string(outer.exchanged);
  return fmt::format("{} workers exchange {} a GPU every {} steps: {} with an exchange, {} without; {} of a step in "
                     "the mean",
                     outer.workers, fragment, outer.every, to_string(outer.with), to_string(outer.without),
                     to_string(outer.added));
}

}  // namespace ringwright
