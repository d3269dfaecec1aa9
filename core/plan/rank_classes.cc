#include "core/plan/rank_classes.h"

namespace ringwright {

RankClasses identity_classes(std::size_t rank_count) {
  RankClasses classes;
  classes.size.assign(rank_count, 1);
  for (std::size_t rank = 0; rank < rank_count; ++rank) {
    classes.class_of.emplace_back(rank);
    classes.representative.emplace_back(rank);
  }
  return classes;
}

}  // namespace ringwright
