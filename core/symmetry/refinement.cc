#include "core/symmetry/refinement.h"

#include <algorithm>
#include <atomic>
#include <bit>
#include <utility>

#include "core/base/random.h"

namespace ringwright {

Refinement::Refinement(const TaskGraph& graph, const Footprint& footprint, const std::vector<Paths>& paths,
                       std::span<const Bandwidth> capacities, const NetworkChanges& changes)
    : graph_(graph),
      footprint_(footprint),
      paths_(paths),
      capacities_(capacities),
      changes_(changes),
      rank_colour_(footprint.colour),
      link_colour_(capacities_.size()),
      link_sum_(capacities_.size()) {
  const bool by_capacity = changes.link_colours.empty();
  for (std::size_t link = 0; link < capacities_.size(); ++link) {
    const bool as_before = link > 0 && by_capacity &&
                           std::bit_cast<std::uint64_t>(capacities_[link].count()) ==
                               std::bit_cast<std::uint64_t>(capacities_[link - 1].count());
    link_colour_[link] = as_before ? link_colour_[link - 1] : first_colour(link);
  }
  for (const EdgeKind& kind : footprint.kinds) {
    if (kind.shared_in == 0) continue;
    shared_.resize(graph.dimensions.size());
    shared_[kind.shared_in - 1].resize(rank_colour_.size());
  }
  for (std::size_t epoch = 0; epoch < paths.size(); ++epoch) {
    std::vector<std::uint64_t>& factors = share_factor_.emplace_back();
    for (const std::uint64_t share : paths[epoch].shares) factors.push_back(splitmix64(share + epoch) | 1U);
  }
}

void Refinement::add_twins(std::span<const LinkId> first_of) {
  for (std::size_t link = 0; link < first_of.size(); ++link) {
    link_colour_[link] = link_colour_[first_of[link].index()];
  }
}

int Refinement::run() {
  for (int round = 1;; ++round) {
    const bool splits = refine_ranks();
    if (round > 1 && !splits) return round;
    round == 1 ? colour_links() : recolour_links();
  }
}

void Refinement::begin_rank(std::size_t rank, HopCursor& next) const {
  next.clear();
  for (const Paths& paths : paths_) next.push_back(paths.first_hop[rank]);
}

std::uint64_t Refinement::path_colour(std::uint64_t edge, HopCursor& next, bool loads_links) const {
  std::uint64_t colour = 0;
  for (std::size_t epoch = 0; epoch < paths_.size(); ++epoch) {
    const Paths& paths = paths_[epoch];
    colour = splitmix64(colour + static_cast<std::uint64_t>(paths.latencies[paths.latency[edge]]));
    const std::uint64_t first = std::exchange(next[epoch], next[epoch] + paths.hops[edge]);
    for (std::uint64_t hop = first; loads_links && hop < next[epoch]; ++hop) {
      // A sum: on a sprayed path the order of the equal branches does not matter. Colours are already well mixed, so
      // a product with an odd factor distinguishes shares.
      colour += link_colour_[paths.link[hop].index()] * share_factor_[epoch][paths.share_of(hop)];
    }
  }
  return colour;
}

std::uint64_t Refinement::first_colour(std::size_t link) const {
  const std::uint64_t colour = splitmix64(std::bit_cast<std::uint64_t>(capacities_[link].count()));
  return changes_.link_colours.empty() ? colour : mix(colour, changes_.link_colours[link]);
}

// True: some class of them splits.
bool Refinement::refine_ranks() {
  for (std::vector<std::uint64_t>& of_rank : shared_) std::ranges::fill(of_rank, 0);
  std::vector<std::uint64_t> next(rank_colour_.size());
  const auto ranks = static_cast<std::ptrdiff_t>(next.size());
#pragma omp parallel if (ranks >= kRanksWorthThreads)
  {
    HopCursor hops;
#pragma omp for schedule(static)
    for (std::ptrdiff_t r = 0; r < ranks; ++r) {
      const auto rank = static_cast<std::size_t>(r);
      std::uint64_t sum = 0;
      begin_rank(rank, hops);
      for (std::uint64_t e = footprint_.first_edge[rank]; e < footprint_.first_edge[rank + 1]; ++e) {
        const Edge& edge = footprint_.edges[e];
        const EdgeKind& kind = footprint_.kinds[edge.kind];
        const std::uint64_t path = kind.starts_flow ? splitmix64(path_colour(e, hops, kind.loads_links)) : 0;
        if (kind.shared_in > 0) {
          sum += splitmix64(kind.role);
          shared_[kind.shared_in - 1][rank] += splitmix64(kind.role ^ path);
        } else {
          sum += splitmix64((kind.role + rank_colour_[edge.peer.index()]) ^ path);
        }
      }
      next[rank] = mix(rank_colour_[rank], sum);
    }
  }
  for (const DimensionId dimension : footprint_.everyone) add_group_colours(dimension, next);
  return adopt(next);
}

bool Refinement::adopt(const std::vector<std::uint64_t>& next) {
  splits_.clear();
  for (std::size_t rank = 0; rank < next.size(); ++rank) splits_.add(rank_colour_[rank], next[rank]);
  changed_.clear();
  for (std::size_t rank = 0; rank < next.size(); ++rank) {
    if (!splits_.splits(rank_colour_[rank])) continue;
    changed_.push_back({.rank = RankId(rank), .before = rank_colour_[rank]});
  }
  for (const Changed& changed : changed_) rank_colour_[changed.rank.index()] = next[changed.rank.index()];
  return !changed_.empty();
}

// Where a step waits for everyone, the whole group matters, with the edges that its members share.
void Refinement::add_group_colours(DimensionId dimension, std::vector<std::uint64_t>& next) const {
  const Dimension& d = graph_.dimensions[dimension.index()];
  for (const std::vector<RankId>& group : d.groups) {
    std::uint64_t sum = 0;
    for (const RankId rank : group) sum += splitmix64(rank_colour_[rank.index()]);
    if (!shared_.empty() && !shared_[dimension.index()].empty()) {
      for (const RankId rank : group) sum += shared_[dimension.index()][rank.index()];
    }
    for (const RankId rank : group) next[rank.index()] = mix(next[rank.index()], sum);
  }
}

// Calls begin(role) for each flow that this rank starts, and then visit(link, factor) for each of its hops.
template <class Begin, class Visit>
void Refinement::visit_flows(std::size_t rank, const Begin& begin, const Visit& visit) const {
  for (std::size_t epoch = 0; epoch < paths_.size(); ++epoch) {
    const Paths& paths = paths_[epoch];
    std::uint64_t hop = paths.first_hop[rank];
    for (std::uint64_t e = footprint_.first_edge[rank]; e < footprint_.first_edge[rank + 1]; ++e) {
      const EdgeKind& kind = footprint_.kinds[footprint_.edges[e].kind];
      if (!kind.starts_flow || !kind.loads_links) {
        hop += paths.hops[e];
        continue;
      }
      begin(kind.role);
      for (const std::uint64_t end = hop + paths.hops[e]; hop < end; ++hop) {
        visit(paths.link[hop].index(), share_factor_[epoch][paths.share_of(hop)]);
      }
    }
  }
}

// For the first time: links have their first colours.
void Refinement::colour_links() {
  std::vector<Changed> all;
  for (std::size_t rank = 0; rank < rank_colour_.size(); ++rank) all.push_back({.rank = RankId(rank), .before = {}});
  add_flows(all, Since::kNothing);
  const auto links = static_cast<std::ptrdiff_t>(link_sum_.size());
#pragma omp parallel if (links >= kRanksWorthThreads)
  {
    // Of the link before: most are equal, for instance those that nothing crosses.
    std::uint64_t before = 0;
    std::uint64_t sum = 0;
    std::uint64_t colour = mix(before, sum);
#pragma omp for schedule(static)
    for (std::ptrdiff_t l = 0; l < links; ++l) {
      const auto link = static_cast<std::size_t>(l);
      if (link_colour_[link] != before || link_sum_[link] != sum) {
        before = link_colour_[link];
        sum = link_sum_[link];
        colour = mix(before, sum);
      }
      link_colour_[link] = colour;
    }
  }
}

// The links that ranks of a new colour use.
void Refinement::recolour_links() {
  add_flows(changed_, Since::kBefore);
  for (const Changed& changed : changed_) {
    visit_flows(
        changed.rank.index(), [](std::uint64_t) {},
        [this](std::size_t link, std::uint64_t) { colour_link(link); });
  }
}

void Refinement::colour_link(std::size_t link) { link_colour_[link] = mix(first_colour(link), link_sum_[link]); }

// Adds the colour of each flow that these ranks start to the sums of the links it crosses, and subtracts the former
// one. Sums modulo 2^64 do not depend on the order in which threads add.
void Refinement::add_flows(const std::vector<Changed>& ranks, Since since) {
  const auto count = static_cast<std::ptrdiff_t>(ranks.size());
#pragma omp parallel for schedule(static) if (count >= kRanksWorthThreads)
  for (std::ptrdiff_t i = 0; i < count; ++i) {
    const Changed& changed = ranks[static_cast<std::size_t>(i)];
    const std::size_t rank = changed.rank.index();
    std::uint64_t flow = 0;
    const auto new_flow = [&](std::uint64_t role) {
      const std::uint64_t before = since == Since::kBefore ? splitmix64(role + changed.before) : 0;
      flow = splitmix64(role + rank_colour_[rank]) - before;
    };
    visit_flows(rank, new_flow, [&](std::size_t link, std::uint64_t factor) {
      if (count < kRanksWorthThreads) {
        link_sum_[link] += flow * factor;
      } else {
        std::atomic_ref(link_sum_[link]).fetch_add(flow * factor, std::memory_order_relaxed);
      }
    });
  }
}

}  // namespace ringwright
