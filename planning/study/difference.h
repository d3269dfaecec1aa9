// The difference of two steps by cause: a waterfall that adds up in whole picoseconds.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/report/step_parts.h"

namespace ringwright::planning {

struct PartChange {
  std::string cause;
  Duration before;
  Duration after;
  [[nodiscard]] Duration change() const { return after - before; }
};

// Every cause of either side: those of the first in its order, then the others. The changes add up to the difference of
// both sums.
[[nodiscard]] std::vector<PartChange> difference(std::span<const StepPart> before, std::span<const StepPart> after);

// "+12.3 ms".
[[nodiscard]] std::string signed_text(Duration change);
// "-8.9 %" of `whole`.
[[nodiscard]] std::string percent_of(Duration change, Duration whole);
// "+++" or "---": up to `width` characters for `largest`.
[[nodiscard]] std::string signed_bar(Duration change, Duration largest, std::size_t width);

}  // namespace ringwright::planning
