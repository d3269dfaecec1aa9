// Classes of ranks with identical behaviour: a run simulates one representative per class. Unfolded, every rank is its
// own class.
#pragma once

#include <cstdint>
#include <vector>

#include "core/base/ids.h"

namespace ringwright {

struct RankClasses {
  std::vector<ClassId> class_of;        // by rank
  std::vector<RankId> representative;   // by class: the class's smallest rank
  std::vector<std::uint32_t> size;      // by class

  [[nodiscard]] std::size_t count() const { return representative.size(); }
};

// Every rank a class of its own.
[[nodiscard]] RankClasses identity_classes(std::size_t rank_count);

}  // namespace ringwright
