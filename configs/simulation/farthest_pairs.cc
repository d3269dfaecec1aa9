#include "configs/simulation/farthest_pairs.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <span>

namespace ringwright::configs {

FarthestPairs::Path FarthestPairs::path_of(const Router& router, const Ends& ends) {
  std::vector<Hop> hops;
  Path path{.width = std::numeric_limits<double>::max(), .latency = {}, .ends = ends};
  path.latency = router.route({.from = ends.from, .to = ends.to}, hops);
  for (const Hop& hop : hops) {
    path.width = std::min(path.width, router.capacities()[hop.link.index()].count() / hop.share);
  }
  return path;
}

namespace {

auto is_as_wide(double width) {
  return [bits = std::bit_cast<std::uint64_t>(width)](const auto& path) {
    return std::bit_cast<std::uint64_t>(path.width) == bits;
  };
}

}  // namespace

std::vector<FarthestPairs::Path> FarthestPairs::longest_of(const Machine& machine, const Gpus& gpus) {
  std::vector<Path> longest;
  for (std::size_t host = machine.per_host; host < machine.gpus; host += machine.per_host) {
    const Path path = path_of(machine.router, {.from = RankId(gpus.first), .to = RankId(host + gpus.second)});
    const auto known = std::ranges::find_if(longest, is_as_wide(path.width));
    if (known == longest.end()) {
      longest.push_back(path);
    } else if (path.latency > known->latency) {
      *known = path;
    }
  }
  return longest;
}

FarthestPairs::Ends FarthestPairs::like(const Machine& machine, const Ends& ends) {
  const std::size_t per_host = machine.per_host;
  const std::size_t last = std::max(ends.from.index(), ends.to.index());
  if (last >= machine.gpus || ends.from.index() / per_host == ends.to.index() / per_host) return ends;
  const std::scoped_lock lock(mutex_);
  if (known_.empty()) known_.resize(machine.gpus);
  std::vector<Known>& of_sender = known_[ends.from.index()];
  const auto known = std::ranges::find(of_sender, ends.to, &Known::to);
  if (known != of_sender.end()) return known->like;
  const Gpus gpus{ends.from.index() % per_host, ends.to.index() % per_host};
  const auto [longest, first] = longest_.try_emplace(gpus);
  if (first) longest->second = longest_of(machine, gpus);
  const Path own = path_of(machine.router, ends);
  const auto like = std::ranges::find_if(longest->second, is_as_wide(own.width));
  const bool stands = like != longest->second.end() && like->latency >= own.latency;
  return of_sender.emplace_back(Known{.to = ends.to, .like = stands ? like->ends : ends}).like;
}

namespace {

class FarthestRouter final : public Router {
 public:
  FarthestRouter(std::unique_ptr<Router> paths, const FarthestPairs::Machine& machine, FarthestPairs& pairs)
      : paths_(std::move(paths)), machine_(machine), pairs_(pairs) {}

  Duration route(const RouteQuery& query, std::vector<Hop>& hops) const override {
    const bool plain = query.nics == MessageNics{} && query.down == nullptr;
    if (query.route_kind != RouteKind::kWhole || !plain) return paths_->route(query, hops);
    const FarthestPairs::Ends ends = pairs_.like(machine_, {.from = query.from, .to = query.to});
    RouteQuery farthest = query;
    farthest.from = ends.from;
    farthest.to = ends.to;
    return paths_->route(farthest, hops);
  }
  [[nodiscard]] std::span<const Bandwidth> capacities() const override { return paths_->capacities(); }

 private:
  std::unique_ptr<Router> paths_;
  FarthestPairs::Machine machine_;
  FarthestPairs& pairs_;
};

}  // namespace

std::unique_ptr<Router> make_farthest_router(std::unique_ptr<Router> paths, const FarthestPairs::Machine& machine,
                                             FarthestPairs& pairs) {
  return std::make_unique<FarthestRouter>(std::move(paths), machine, pairs);
}

}  // namespace ringwright::configs
