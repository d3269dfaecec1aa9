// A buffer cut into pieces of nearly equal size: the first (bytes mod pieces) of them are one byte longer.
#pragma once

#include <cstdint>

#include "core/base/units.h"

namespace ringwright::collectives {

class Cut {
 public:
  Cut(Bytes total, int pieces) : quotient_(total.count() / pieces), longer_(total.count() % pieces) {}

  [[nodiscard]] Bytes size(int piece) const { return Bytes(quotient_ + (piece < longer_ ? 1 : 0)); }
  // Of pieces first, first + 1, ..., `count` of them.
  [[nodiscard]] Bytes run(int first, int count) const { return strided({.first = first, .stride = 1, .count = count}); }

  struct Stride {
    int first = 0;
    int stride = 1;
    int count = 0;
  };
  // Of pieces first, first + stride, ..., `count` of them.
  [[nodiscard]] Bytes strided(const Stride& pieces) const;
  [[nodiscard]] bool even() const { return longer_ == 0; }

 private:
  std::int64_t quotient_;
  std::int64_t longer_;
};

}  // namespace ringwright::collectives
