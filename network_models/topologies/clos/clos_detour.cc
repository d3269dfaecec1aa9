// Paths through a Clos network around links that are down; the rule is stated in clos_router.cc.
#include <optional>
#include <vector>

#include "network_models/topologies/clos/clos_router.h"

namespace ringwright::network_models {
namespace {

// A choice among `count` parallel links: `first`, and then every `stride`-th, modulo `count`.
struct Choice {
  std::uint32_t first = 0;
  std::uint32_t stride = 1;
  std::uint32_t count = 1;
};

// The first choice that `is_up` accepts.
template <class IsUp>
std::optional<std::uint32_t> first_up(const Choice& choice, const IsUp& is_up) {
  const std::uint32_t tries = choice.count / choice.stride;
  for (std::uint32_t i = 0; i < tries; ++i) {
    const std::uint32_t port = (choice.first + i * choice.stride) % choice.count;
    if (is_up(port)) return port;
  }
  return std::nullopt;
}

}  // namespace

ClosRouter::ParallelLinks ClosRouter::healthy_links(const ParallelLinks& wanted, const End& from, const End& to,
                                            const LinksDown& down) const {
  for (std::uint32_t i = 0; i < shape_.uplinks; ++i) {
    ParallelLinks links_taken = wanted;
    links_taken.up = (wanted.up + i) % shape_.uplinks;
    if (down[links_.uplink(from.leaf, links_taken.up)]) continue;
    // Both numbers advance together, so that they stay on one spine: the number of spines divides that of uplinks.
    const auto port_down =
        first_up({.first = (wanted.down + i) % shape_.uplinks, .stride = shape_.spines, .count = shape_.uplinks},
                 [&](std::uint32_t port) { return !down[links_.uplink(to.leaf, port) + 1]; });
    if (!port_down) continue;
    links_taken.down = *port_down;
    if (from.pod == to.pod) return links_taken;
    if (const auto over_core = healthy_core_links(links_taken, from, to, down)) return *over_core;
  }
  return wanted;
}

std::optional<ClosRouter::ParallelLinks> ClosRouter::healthy_core_links(const ParallelLinks& wanted, const End& from,
                                                                        const End& to, const LinksDown& down) const {
  const std::uint32_t spine = wanted.up % shape_.spines;
  for (std::uint32_t i = 0; i < shape_.spine_uplinks; ++i) {
    ParallelLinks links_taken = wanted;
    links_taken.core_up = (wanted.core_up + i) % shape_.spine_uplinks;
    if (down[links_.core_link(from.pod, spine, links_taken.core_up)]) continue;
    const Choice below_core{.first = (wanted.core_down + i) % shape_.spine_uplinks, .stride = shape_.cores,
                            .count = shape_.spine_uplinks};
    const auto port_down =
        first_up(below_core, [&](std::uint32_t port) { return !down[links_.core_link(to.pod, spine, port) + 1]; });
    if (!port_down) continue;
    links_taken.core_down = *port_down;
    return links_taken;
  }
  return std::nullopt;
}

// Counts the paths through every link: those of a spine are (uplinks that are up) x (paths over its cores, or 1) x
// (downlinks that are up), and a link carries its share of them.
class ClosRouter::HealthyPaths {
 public:
  HealthyPaths(const ClosRouter& router, const Crossing& crossing, const LinksDown& down)
      : shape_(router.shape_),
        links_(router.links_),
        from_(crossing.from),
        to_(crossing.to),
        down_(down),
        over_core_(crossing.from.pod != crossing.to.pod) {
    count_uplinks();
    count_core_links();
    for (std::uint32_t spine = 0; spine < shape_.spines; ++spine) total_ += ups_[spine] * cores_[spine] * downs_[spine];
  }

  [[nodiscard]] double total() const { return total_; }
  // Of a part of the traffic; to links that an earlier part takes, at `since` or later, its share is added.
  struct Part {
    double share = 1.0;
    bool is_first = true;
    std::size_t since = 0;
  };
  void add_up(const Part& part, PathBuilder& builder) const {
    for (std::uint32_t port = 0; port < shape_.uplinks; ++port) {
      const std::uint32_t spine = port % shape_.spines;
      add(part, links_.uplink(from_.leaf, port), cores_[spine] * downs_[spine], builder);
    }
    add_core(part, from_, 0, out_, builder);
  }
  void add_down(const Part& part, PathBuilder& builder) const {
    add_core(part, to_, 1, into_, builder);
    for (std::uint32_t port = 0; port < shape_.uplinks; ++port) {
      const std::uint32_t spine = port % shape_.spines;
      add(part, links_.uplink(to_.leaf, port) + 1, cores_[spine] * ups_[spine], builder);
    }
  }

 private:
  [[nodiscard]] double up(std::uint32_t link) const { return down_[link] ? 0.0 : 1.0; }
  void add(const Part& part, std::uint32_t link, double paths, PathBuilder& builder) const {
    if (down_[link] || paths <= 0.0) return;
    const double share = part.share * (paths / total_);
    if (part.is_first) {
      builder.add(link, share);
    } else {
      builder.add_share(part.since, link, share);
    }
  }
  void add_core(const Part& part, const End& end, std::uint32_t direction, const std::vector<double>& beyond,
                PathBuilder& builder) const {
    for (std::uint32_t spine = 0; over_core_ && spine < shape_.spines; ++spine) {
      for (std::uint32_t port = 0; port < shape_.spine_uplinks; ++port) {
        add(part, links_.core_link(end.pod, spine, port) + direction,
            ups_[spine] * downs_[spine] * beyond[spine * shape_.cores + port % shape_.cores], builder);
      }
    }
  }
  void count_uplinks() {
    ups_.assign(shape_.spines, 0.0);
    downs_.assign(shape_.spines, 0.0);
    for (std::uint32_t port = 0; port < shape_.uplinks; ++port) {
      ups_[port % shape_.spines] += up(links_.uplink(from_.leaf, port));
      downs_[port % shape_.spines] += up(links_.uplink(to_.leaf, port) + 1);
    }
  }
  void count_core_links() {
    cores_.assign(shape_.spines, over_core_ ? 0.0 : 1.0);
    if (!over_core_) return;
    into_.assign(shape_.all_cores(), 0.0);
    out_.assign(shape_.all_cores(), 0.0);
    for (std::uint32_t spine = 0; spine < shape_.spines; ++spine) {
      for (std::uint32_t port = 0; port < shape_.spine_uplinks; ++port) {
        const std::uint32_t core = spine * shape_.cores + port % shape_.cores;
        into_[core] += up(links_.core_link(from_.pod, spine, port));
        out_[core] += up(links_.core_link(to_.pod, spine, port) + 1);
      }
      for (std::uint32_t core = spine * shape_.cores; core < (spine + 1) * shape_.cores; ++core) {
        cores_[spine] += into_[core] * out_[core];
      }
    }
  }

  const ClosShape& shape_;
  const ClosLinks& links_;
  const End& from_;
  const End& to_;
  const LinksDown& down_;
  bool over_core_;
  std::vector<double> ups_;    // by spine: links that are up, from the sender's leaf
  std::vector<double> downs_;  // by spine: and to the receiver's
  std::vector<double> into_;   // by spine and core: links that are up, towards the core
  std::vector<double> out_;    // by spine and core: and from it
  std::vector<double> cores_;  // by spine: paths over its cores to the other pod's spine; 1 in one pod
  double total_ = 0.0;
};

bool ClosRouter::has_path(const Crossing& crossing, const LinksDown& down) const {
  return HealthyPaths(*this, crossing, down).total() > 0.0;
}

// False when no path is left.
bool ClosRouter::add_healthy_paths(const Crossings& crossings, const LinksDown& down, PathBuilder& builder) const {
  std::vector<HealthyPaths> parts;
  for (const Crossing& crossing : crossings.all()) {
    parts.emplace_back(*this, crossing, down);
    if (parts.back().total() <= 0.0) return false;
  }
  const auto add_tiers = [&](const auto& add) {
    const std::size_t since = builder.size();
    for (std::size_t i = 0; i < parts.size(); ++i) {
      add(parts[i], HealthyPaths::Part{.share = crossings.share, .is_first = i == 0, .since = since});
    }
  };
  if (builder.up_wanted()) {
    add_tiers([&](const HealthyPaths& paths, const HealthyPaths::Part& part) { paths.add_up(part, builder); });
  }
  if (builder.down_wanted()) {
    add_tiers([&](const HealthyPaths& paths, const HealthyPaths::Part& part) { paths.add_down(part, builder); });
  }
  return true;
}

}  // namespace ringwright::network_models
