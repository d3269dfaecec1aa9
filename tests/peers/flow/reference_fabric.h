// The fabric R(N, P, U, SP, V) on which the peers' figures were made: hosts of 8 GPUs, a leaf per pod and rail, 2 or 3
// tiers.
//
// GPU i is GPU i % 8 (its rail) of host i / 8. NVLink out and in 450 GB/s, NIC out and in 50 GB/s; leaf (pod, rail)
// with pod = host / P has U uplinks and U downlinks of 50 GB/s. SP = 0: uplink a of every leaf goes to spine a. SP > 0:
// superpod = pod / SP, and aggregation switch (superpod, a) has V up- and V downlinks of 50 GB/s to core switch (a, v).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/base/random.h"
#include "core/ports/router.h"

namespace ringwright::peers {

enum class RouteRule { kDModK, kNodeMod, kHash };

struct FabricShape {
  std::uint32_t gpus = 0;
  std::uint32_t hosts_per_pod = 16;
  std::uint32_t uplinks = 8;
  std::uint32_t pods_per_superpod = 0;
  std::uint32_t core_uplinks = 0;
  RouteRule rule = RouteRule::kDModK;
};

class ReferenceFabric final : public Router {
 public:
  explicit ReferenceFabric(const FabricShape& shape) : shape_(shape) {
    const std::uint32_t pods = up(shape.gpus / kGpusPerHost, shape.hosts_per_pod);
    leaf_links_ = pods * kGpusPerHost * shape.uplinks;
    const std::uint32_t superpods = shape.pods_per_superpod == 0 ? 0 : up(pods, shape.pods_per_superpod);
    core_links_ = superpods * shape.uplinks * shape.core_uplinks;
    const std::size_t links = std::size_t{4} * shape.gpus + 2 * leaf_links_ + 2 * core_links_;
    capacities_.assign(links, Bandwidth(50e9));
    for (std::uint32_t i = 0; i < 2 * shape.gpus; ++i) capacities_[i] = Bandwidth(450e9);
  }

  Duration route(const RouteQuery& query, std::vector<Hop>& hops) const override {
    const std::uint32_t s = query.from.value;
    const std::uint32_t d = query.to.value;
    const std::uint32_t n = shape_.gpus;
    if (s / kGpusPerHost == d / kGpusPerHost) {
      hops.assign({hop(s), hop(n + d)});
      return Duration(1'000'000);
    }
    const std::uint32_t from_leaf = leaf(s);
    const std::uint32_t to_leaf = leaf(d);
    if (from_leaf == to_leaf) {
      hops.assign({hop(2 * n + s), hop(3 * n + d)});
      return Duration(2'000'000);
    }
    const Paths paths = choose(query);
    const Hop up = hop(4 * n + from_leaf * shape_.uplinks + paths.uplink);
    const Hop down = hop(4 * n + leaf_links_ + to_leaf * shape_.uplinks + paths.uplink);
    if (shape_.pods_per_superpod == 0 || superpod(s) == superpod(d)) {
      hops.assign({hop(2 * n + s), up, down, hop(3 * n + d)});
      return Duration(2'000'000);
    }
    const std::uint32_t first = 4 * n + 2 * leaf_links_;
    const std::uint32_t out = (superpod(s) * shape_.uplinks + paths.uplink) * shape_.core_uplinks + paths.core;
    const std::uint32_t in = (superpod(d) * shape_.uplinks + paths.uplink) * shape_.core_uplinks + paths.core;
    hops.assign({hop(2 * n + s), up, hop(first + out), hop(first + core_links_ + in), down, hop(3 * n + d)});
    return Duration(2'000'000);
  }

  [[nodiscard]] std::span<const Bandwidth> capacities() const override { return capacities_; }

 private:
  static constexpr std::uint32_t kGpusPerHost = 8;

  struct Paths {
    std::uint32_t uplink = 0;
    std::uint32_t core = 0;
  };

  static std::uint32_t up(std::uint32_t count, std::uint32_t per) { return (count + per - 1) / per; }
  static Hop hop(std::uint32_t link) { return {.link = LinkId(link)}; }
  [[nodiscard]] std::uint32_t pod(std::uint32_t gpu) const { return gpu / kGpusPerHost / shape_.hosts_per_pod; }
  [[nodiscard]] std::uint32_t leaf(std::uint32_t gpu) const { return pod(gpu) * kGpusPerHost + gpu % kGpusPerHost; }
  [[nodiscard]] std::uint32_t superpod(std::uint32_t gpu) const { return pod(gpu) / shape_.pods_per_superpod; }

  [[nodiscard]] Paths choose(const RouteQuery& query) const {
    const std::uint32_t cores = shape_.core_uplinks > 0 ? shape_.core_uplinks : 1;
    const std::uint32_t d = query.to.value;
    const std::uint32_t host = d / kGpusPerHost;
    switch (shape_.rule) {
      case RouteRule::kDModK:
        return {.uplink = (host + d % kGpusPerHost) % shape_.uplinks, .core = (d / shape_.uplinks) % cores};
      case RouteRule::kNodeMod:
        return {.uplink = host % shape_.uplinks, .core = (host / shape_.uplinks) % cores};
      case RouteRule::kHash: {
        const std::uint64_t key = std::uint64_t{query.from.value} * 0x10001 + std::uint64_t{d} * 7919 + query.label;
        const std::uint64_t hash = splitmix64(key);
        return {.uplink = static_cast<std::uint32_t>(hash % shape_.uplinks),
                .core = static_cast<std::uint32_t>((hash >> 20U) % cores)};
      }
    }
    return {};
  }

  FabricShape shape_;
  std::uint32_t leaf_links_ = 0;  // one direction
  std::uint32_t core_links_ = 0;
  std::vector<Bandwidth> capacities_;
};

}  // namespace ringwright::peers
