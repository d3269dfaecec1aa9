// Whether two steps of a collective send and await over the same edges.
#pragma once

#include <algorithm>

#include "core/ports/collective_algorithm.h"

namespace ringwright {

// Sizes may differ.
[[nodiscard]] inline bool is_same_but_for_sizes(const CollectiveStep& a, const CollectiveStep& b) {
  const auto same_send = [](const CollectiveSend& x, const CollectiveSend& y) {
    return x.peer == y.peer && x.route_kind == y.route_kind && x.nics == y.nics;
  };
  const auto same_await = [](const CollectiveAwait& x, const CollectiveAwait& y) {
    return x.peer == y.peer && x.send == y.send;
  };
  return a.await_everyone == b.await_everyone && std::ranges::equal(a.sends, b.sends, same_send) &&
         std::ranges::equal(a.awaits, b.awaits, same_await);
}

}  // namespace ringwright
