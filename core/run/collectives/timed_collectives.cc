#include "core/run/collectives/timed_collectives.h"

#include <algorithm>

namespace ringwright {

const TimedCollectives::Cost& TimedCollectives::cost_of(const CollectiveRequest& request) {
  const std::uint32_t layout = job_.layout_of(request.rank_class, request.dimension);
  const auto key = std::tuple(request.spec, layout, request.dimension.value);
  const auto known = costs_.find(key);
  if (known != costs_.end()) return known->second;
  const CollectiveSpec& spec = job_.graph.collectives[request.spec];
  const CollectiveCall call{
      .kind = spec.kind, .bytes = spec.bytes, .layout = &job_.graph.layouts[layout], .dimension = request.dimension};
  return costs_.emplace(key, Cost{.time = times_.time(call), .sent = times_.sent(call)}).first->second;
}

void TimedCollectives::start(const CollectiveRequest& request) {
  if (!calls_.join(request)) return;
  const Cost& cost = cost_of(request);
  for (const std::uint32_t slot : calls_.begin(request)) {
    ends_at_.resize(std::max<std::size_t>(ends_at_.size(), slot + 1));
    ends_at_[slot] = job_.engine.now() + cost.time;
    job_.sent[calls_.request(slot).rank_class.index()][request.dimension.index()] += cost.sent;
    job_.engine.after(cost.time, [this, slot] { calls_.end(slot); });
  }
}

std::uint64_t TimedCollectives::state_digest() const {
  return calls_.digest([this](std::uint32_t slot) {
    return static_cast<std::uint64_t>((ends_at_[slot] - job_.engine.now()).count());
  });
}

}  // namespace ringwright
