#include "core/symmetry/folding.h"

#include <algorithm>
#include <atomic>
#include <bit>
#include <span>
#include <unordered_map>
#include <utility>

#include "core/base/check.h"
#include "core/base/random.h"
#include "core/symmetry/footprint.h"
#include "core/symmetry/paths.h"

namespace ringwright {
namespace {

// Counts distinct colours with an open-addressing table: colours are already random numbers, so their low bits suffice.
class DistinctCounter {
 public:
  std::size_t count(const std::vector<std::uint64_t>& colours) {
    table_.assign(kFirstSlots, 0);
    distinct_ = 0;
    for (const std::uint64_t colour : colours) {
      add(colour | 1U);  // 0 marks an empty slot; one bit less is no loss
      if (2 * distinct_ > table_.size()) grow();
    }
    return distinct_;
  }

 private:
  static constexpr std::size_t kFirstSlots = 1024;

  void add(std::uint64_t key) {
    std::size_t at = (key >> 1U) & (table_.size() - 1);
    while (table_[at] != 0 && table_[at] != key) at = (at + 1) & (table_.size() - 1);
    if (table_[at] == 0) ++distinct_;
    table_[at] = key;
  }

  void grow() {
    const std::vector<std::uint64_t> keys = std::exchange(table_, std::vector<std::uint64_t>(2 * table_.size()));
    distinct_ = 0;
    for (const std::uint64_t key : keys) {
      if (key != 0) add(key);
    }
  }

  std::vector<std::uint64_t> table_;
  std::size_t distinct_ = 0;
};

class Refinement {
 public:
  // One table of paths for each epoch of the network.
  Refinement(const TaskGraph& graph, const Footprint& footprint, const std::vector<Paths>& paths, const Router& router,
             const NetworkChanges& changes)
      : graph_(graph), footprint_(footprint), paths_(paths), rank_colour_(footprint.colour) {
    link_colour_.reserve(router.capacities().size());
    for (const Bandwidth capacity : router.capacities()) {
      link_colour_.push_back(splitmix64(std::bit_cast<std::uint64_t>(capacity.count())));
    }
    for (std::size_t link = 0; link < changes.link_colours.size(); ++link) {
      link_colour_[link] = mix(link_colour_[link], changes.link_colours[link]);
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

  // Twins are as the first of them, whose hops stand for all.
  void add_twins(std::span<const LinkId> first_of) {
    for (std::size_t link = 0; link < first_of.size(); ++link) {
      link_colour_[link] = link_colour_[first_of[link].index()];
    }
  }

  // Until neither ranks nor links split any further; returns the number of rounds.
  int run() {
    DistinctCounter counter;
    std::size_t ranks = 0;
    std::size_t links = 0;
    for (int round = 1;; ++round) {
      refine_ranks();
      refine_links();
      const std::size_t ranks_now = counter.count(rank_colour_);
      const std::size_t links_now = counter.count(link_colour_);
      if (ranks_now == ranks && links_now == links) return round;
      ranks = ranks_now;
      links = links_now;
    }
  }

  [[nodiscard]] const std::vector<std::uint64_t>& rank_colours() const { return rank_colour_; }
  [[nodiscard]] const std::vector<std::uint64_t>& link_colours() const { return link_colour_; }

 private:
  // Where the hops of a rank's next edge begin, by epoch.
  using HopCursor = std::vector<std::uint64_t>;

  void begin_rank(std::size_t rank, HopCursor& next) const {
    next.clear();
    for (const Paths& paths : paths_) next.push_back(paths.first_hop[rank]);
  }

  [[nodiscard]] std::uint64_t path_colour(std::uint64_t edge, HopCursor& next, bool loads_links) const {
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

  void refine_ranks() {
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
    rank_colour_ = std::move(next);
  }

  // Where a step waits for everyone, the whole group matters, with the edges that its members share.
  void add_group_colours(DimensionId dimension, std::vector<std::uint64_t>& next) const {
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

  void refine_links() {
    link_sum_.assign(link_colour_.size(), 0);
    const auto ranks = static_cast<std::ptrdiff_t>(rank_colour_.size());
    if (ranks < kRanksWorthThreads) {
      for (std::ptrdiff_t rank = 0; rank < ranks; ++rank) {
        add_flows_of(static_cast<std::size_t>(rank), [](std::uint64_t& sum, std::uint64_t flow) { sum += flow; });
      }
    } else {
      // Sums modulo 2^64 do not depend on the order in which threads add.
#pragma omp parallel for schedule(static)
      for (std::ptrdiff_t rank = 0; rank < ranks; ++rank) {
        add_flows_of(static_cast<std::size_t>(rank), [](std::uint64_t& sum, std::uint64_t flow) {
          std::atomic_ref(sum).fetch_add(flow, std::memory_order_relaxed);
        });
      }
    }
    const auto links = static_cast<std::ptrdiff_t>(link_sum_.size());
#pragma omp parallel for schedule(static) if (ranks >= kRanksWorthThreads)
    for (std::ptrdiff_t l = 0; l < links; ++l) {
      const auto link = static_cast<std::size_t>(l);
      link_colour_[link] = mix(link_colour_[link], link_sum_[link]);
    }
  }

  // Adds the colour of each flow that this rank starts to the sums of the links it crosses.
  template <class Add>
  void add_flows_of(std::size_t rank, const Add& add) {
    for (std::size_t epoch = 0; epoch < paths_.size(); ++epoch) {
      const Paths& paths = paths_[epoch];
      std::uint64_t hop = paths.first_hop[rank];
      for (std::uint64_t e = footprint_.first_edge[rank]; e < footprint_.first_edge[rank + 1]; ++e) {
        const EdgeKind& kind = footprint_.kinds[footprint_.edges[e].kind];
        if (!kind.starts_flow || !kind.loads_links) {
          hop += paths.hops[e];
          continue;
        }
        const std::uint64_t flow = splitmix64(kind.role + rank_colour_[rank]);
        for (const std::uint64_t end = hop + paths.hops[e]; hop < end; ++hop) {
          add(link_sum_[paths.link[hop].index()], flow * share_factor_[epoch][paths.share_of(hop)]);
        }
      }
    }
  }

  const TaskGraph& graph_;
  const Footprint& footprint_;
  const std::vector<Paths>& paths_;         // by epoch
  std::vector<std::uint64_t> rank_colour_;
  std::vector<std::uint64_t> link_colour_;
  std::vector<std::vector<std::uint64_t>> share_factor_;  // by epoch and distinct share, odd
  std::vector<std::uint64_t> link_sum_;  // scratch: by link, what crosses it
  // Scratch: by dimension, by rank, the edges that it contributes to its group. Empty where edges are not shared.
  std::vector<std::vector<std::uint64_t>> shared_;
};

// Numbers classes in order of their smallest member.
template <class Class, class Member>
void number_classes(const std::vector<std::uint64_t>& colours, std::vector<Class>& class_of,
                    std::vector<Member>& representative, std::vector<std::uint32_t>& size) {
  std::unordered_map<std::uint64_t, std::uint32_t> number_of;
  for (std::size_t i = 0; i < colours.size(); ++i) {
    const auto [entry, is_new] = number_of.try_emplace(colours[i], static_cast<std::uint32_t>(size.size()));
    if (is_new) {
      representative.push_back(Member(i));
      size.push_back(0);
    }
    ++size[entry->second];
    class_of.push_back(Class(entry->second));
  }
}

class FoldedRouter final : public Router {
 public:
  FoldedRouter(const Router& router, const Folding& folding) : router_(router), folding_(folding) {
    for (const LinkId link : folding.links.representative) capacities_.push_back(router.capacities()[link.index()]);
  }

  Duration route(const RouteQuery& query, std::vector<Hop>& hops) const override {
    const bool first_of_twins = !folding_.links.firsts.empty();
    const std::vector<std::uint32_t>& links_of_class = first_of_twins ? folding_.links.firsts : folding_.links.size;
    RouteQuery asked = query;
    asked.first_of_twins = first_of_twins;
    const Duration latency = router_.route(asked, hops);
    // The rank that starts the transfer stands for its class: the receiving one where a switch sends down.
    const RankId starter = query.route_kind == RouteKind::kDownFromSwitch ? query.to : query.from;
    const double flows = folding_.ranks.size[folding_.ranks.class_of[starter.index()].index()];
    std::size_t kept = 0;
    for (const Hop& hop : hops) {
      const std::uint32_t link_class = folding_.links.class_of[hop.link.index()];
      const double multiplicity = flows / links_of_class[link_class];
      const auto same = std::find_if(hops.begin(), hops.begin() + static_cast<std::ptrdiff_t>(kept),
                                     [link_class](const Hop& h) { return h.link.value == link_class; });
      if (same != hops.begin() + static_cast<std::ptrdiff_t>(kept)) {
        same->multiplicity += multiplicity * (hop.share / same->share);
        continue;
      }
      hops[kept++] = {.link = LinkId(link_class), .share = hop.share, .multiplicity = multiplicity};
    }
    hops.resize(kept);
    return latency;
  }

  [[nodiscard]] std::span<const Bandwidth> capacities() const override { return capacities_; }

 private:
  const Router& router_;
  const Folding& folding_;
  std::vector<Bandwidth> capacities_;
};

}  // namespace

Folding fold(const TaskGraph& graph, const Choosers& choosers, const Router& router,
             const NetworkChanges& changes) {
  return fold_footprint(graph, make_footprint(graph, choosers), router, changes);
}

Folding fold_footprint(const TaskGraph& graph, const Footprint& footprint, const Router& router,
                       const NetworkChanges& changes) {
  const bool lasting = changes.epochs.empty() && changes.link_colours.empty();
  const std::span<const LinkId> twins = lasting ? router.twins() : std::span<const LinkId>();
  std::vector<Paths> paths;  // not from a braced list, which would copy gigabytes
  paths.push_back(find_paths(footprint, router, twins.empty() ? TwinHops::kAll : TwinHops::kFirst));
  for (const Router* epoch : changes.epochs) paths.push_back(find_paths(footprint, *epoch));
  Refinement refinement(graph, footprint, paths, router, changes);
  Folding folding;
  folding.rounds = refinement.run();
  refinement.add_twins(twins);
  number_classes(refinement.rank_colours(), folding.ranks.class_of, folding.ranks.representative, folding.ranks.size);
  number_classes(refinement.link_colours(), folding.links.class_of, folding.links.representative, folding.links.size);
  if (!twins.empty()) folding.links.firsts.assign(folding.links.representative.size(), 0);
  for (std::size_t link = 0; link < twins.size(); ++link) {
    if (twins[link] == LinkId(link)) ++folding.links.firsts[folding.links.class_of[link]];
  }
  if (folds_little(folding)) {
    const std::vector<Paths> nowhere;
    Refinement roles(graph, footprint, nowhere, router, {});
    roles.run();
    folding.role_classes = DistinctCounter().count(roles.rank_colours());
  }
  return folding;
}

bool folds_little(const Folding& folding) { return 2 * folding.ranks.count() > folding.ranks.class_of.size(); }

std::string why_little_folded(const Folding& folding) {
  if (!folds_little(folding)) return {};
  const bool by_role = 2 * folding.role_classes > folding.ranks.class_of.size();
  return by_role
             ? "the tasks and peers of ranks differ (few replicas, a slow rank, an algorithm with another role for "
               "every member)"
             : "the routes of their messages differ (hashed routes, a fault, hosts spread unevenly over switches)";
}

std::unique_ptr<Router> make_folded_router(const Router& router, const Folding& folding) {
  return std::make_unique<FoldedRouter>(router, folding);
}

}  // namespace ringwright
