#include "core/symmetry/bottleneck_router.h"

#include <algorithm>
#include <vector>

namespace ringwright {
namespace {

class BottleneckRouter final : public Router {
 public:
  explicit BottleneckRouter(const Router& router) : router_(router), widths_(router.capacities()) {
    for (const Bandwidth capacity : router.capacities()) {
      const auto known = std::ranges::find(capacities_, capacity);
      links_.push_back(static_cast<std::uint32_t>(known - capacities_.begin()));
      if (known == capacities_.end()) capacities_.push_back(capacity);
    }
  }

  Duration route(const RouteQuery& query, std::vector<Hop>& hops) const override {
    const Duration latency = router_.route(query, hops);
    if (hops.empty()) return latency;
    // a / b < c / d, without dividing.
    const auto narrower = [this](const Hop& a, const Hop& b) {
      return widths_[a.link.index()].count() * b.share < widths_[b.link.index()].count() * a.share;
    };
    const Hop narrowest = *std::ranges::min_element(hops, narrower);
    hops.assign(1, {.link = LinkId(links_[narrowest.link.index()]), .share = narrowest.share});
    return latency;
  }

  [[nodiscard]] std::span<const Bandwidth> capacities() const override { return capacities_; }

 private:
  const Router& router_;
  std::span<const Bandwidth> widths_;  // of its links
  std::vector<Bandwidth> capacities_;  // different ones
  std::vector<std::uint32_t> links_;   // by link of the other router: its capacity
};

}  // namespace

std::unique_ptr<Router> make_bottleneck_router(const Router& router) {
  return std::make_unique<BottleneckRouter>(router);
}

}  // namespace ringwright
