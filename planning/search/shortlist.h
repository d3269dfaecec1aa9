// Which layouts of a search need no prediction, since a lower bound of their step shows that they are nowhere on the
// page: neither among the best, nor the fastest with one of their choices, nor on the front of time and memory.
//
// Layouts are predicted in the order of their bounds. One is skipped as soon as so many layouts that are predicted are
// faster than its bound as are ranked; and, for each of its choices, one that has it, too; and one that needs no more
// memory. All of that remains true of it, whatever is predicted later. If a prediction is ever below its bound, bounds
// prove nothing here, and all layouts are predicted.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "planning/search/search.h"

namespace ringwright::planning {

class Shortlist {
 public:
  // `best`: how many of the fastest are wanted.
  Shortlist(const std::vector<configs::SearchAxis>& axes, std::size_t best);

  void add(const Configuration& predicted);
  [[nodiscard]] bool excludes(const Configuration& configuration, Duration least) const;

 private:
  struct Point {
    Duration step;
    Bytes memory;
  };
  std::vector<std::string> axes_;  // with a choice
  std::size_t best_;
  std::vector<Duration> quickest_;                                       // ascending, at most `best_`
  std::map<std::pair<std::string, std::string>, Duration> with_choice_;  // the fastest, by axis and value
  std::vector<Point> front_;                                             // of no two one is both faster and smaller
};

struct BoundedLayout {
  Configuration* configuration = nullptr;
  std::optional<Duration> least = {};  // none: it is predicted in any case
  bool skipped = false;                // the result
};
// Predicts layouts, some at once: fills `quick`, or leaves it empty for one that cannot be simulated.
using PredictLayouts = std::function<void(std::span<const std::size_t> layouts)>;

// Whether the bounds held. The result does not depend on how many threads predict.
bool predict_shortlist(std::span<BoundedLayout> layouts, Shortlist shortlist, const PredictLayouts& predict);

}  // namespace ringwright::planning
