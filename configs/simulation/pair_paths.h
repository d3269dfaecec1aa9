// What is known of the paths between two ranks, by sender: of one network, and of one thread, which need not lock the
// findings that threads share.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "configs/simulation/farthest_pairs.h"
#include "core/base/ids.h"

namespace ringwright::configs {

class PairPaths {
 public:
  struct Pair {
    RankId to;
    FarthestPairs::Ends like;  // the ranks that stand for both
    std::uint32_t paths = 0;   // between these: KnownOverheads::paths_between()
  };
  // `look_up` returns the pair when it is asked for the first time. Valid until the next one is asked for.
  template <class LookUp>
  [[nodiscard]] const Pair& between(RankId from, RankId to, const LookUp& look_up) {
    if (from.index() >= of_sender_.size()) of_sender_.resize(from.index() + 1);
    std::vector<Pair>& pairs = of_sender_[from.index()];  // few receivers
    const auto known = std::ranges::find(pairs, to, &Pair::to);
    return known != pairs.end() ? *known : pairs.emplace_back(look_up());
  }

 private:
  std::vector<std::vector<Pair>> of_sender_;
};

}  // namespace ringwright::configs
