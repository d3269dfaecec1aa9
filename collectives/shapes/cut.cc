// Sums of piece sizes without a loop.
#include "collectives/shapes/cut.h"

#include <algorithm>

namespace ringwright::collectives {

Bytes Cut::strided(const Stride& pieces) const {
  // How many of the named pieces lie below longer_: first + i * stride < longer_.
  const std::int64_t below = (longer_ - pieces.first + pieces.stride - 1) / pieces.stride;
  const std::int64_t long_ones = longer_ > pieces.first ? std::min<std::int64_t>(below, pieces.count) : 0;
  return Bytes(quotient_ * pieces.count + long_ones);
}

}  // namespace ringwright::collectives
