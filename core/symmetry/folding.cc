#include "core/symmetry/folding.h"

#include <algorithm>
#include <span>
#include <unordered_set>
#include <utility>

#include "core/symmetry/class_numbers.h"
#include "core/symmetry/footprint.h"
#include "core/symmetry/links_behind_job.h"
#include "core/symmetry/paths.h"
#include "core/symmetry/refinement.h"

namespace ringwright {
namespace {

class FoldedRouter final : public Router {
 public:
  FoldedRouter(const Router& router, const Folding& folding)
      : router_(router), folding_(folding), job_links_(folding.links) {
    for (const LinkId link : folding.links.representative) capacities_.push_back(router.capacities()[link.index()]);
  }

  Duration route(const RouteQuery& query, std::vector<Hop>& hops) const override {
    RouteQuery asked = query;
    asked.first_of_twins = !folding_.links.firsts.empty();
    const Duration latency = router_.route(asked, hops);
    if (is_behind_job(query)) {
      // On links of its own.
      for (Hop& hop : hops) hop.link = LinkId(folding_.links.class_of[hop.link.index()]);
      return latency;
    }
    // The rank that starts the transfer stands for its class: the receiving one where a switch sends down.
    const RankId starter = query.route_kind == RouteKind::kDownFromSwitch ? query.to : query.from;
    const double flows = folding_.ranks.size[folding_.ranks.class_of[starter.index()].index()];
    std::size_t kept = 0;
    for (const Hop& hop : hops) {
      const std::uint32_t link_class = job_links_.first_of(folding_.links.class_of[hop.link.index()]);
      const double multiplicity = flows / job_links_.size(link_class);
      const auto same = std::find_if(hops.begin(), hops.begin() + static_cast<std::ptrdiff_t>(kept),
                                     [link_class](const Hop& h) { return h.link.value == link_class; });
      if (same != hops.begin() + static_cast<std::ptrdiff_t>(kept)) {
        same->multiplicity += multiplicity * (hop.share / same->share);
        continue;
      }
      hops[kept++] = {.link = LinkId(link_class), .share = hop.share, .multiplicity = multiplicity};
    }
    hops.resize(kept);
    job_links_.add_others(hops);
    return latency;
  }

  [[nodiscard]] std::span<const Bandwidth> capacities() const override { return capacities_; }

 private:
  [[nodiscard]] bool is_behind_job(const RouteQuery& query) const {
    if (folding_.behind_job.empty() || query.label < kBackgroundLabels) return false;
    return folding_.behind_job[query.label - kBackgroundLabels];
  }

  const Router& router_;
  const Folding& folding_;
  JobLinks job_links_;
  std::vector<Bandwidth> capacities_;
};

}  // namespace

Folding fold(const TaskGraph& graph, const Choosers& choosers, const Router& router, const NetworkChanges& changes) {
  return fold_footprint(graph, make_footprint(graph, choosers), router, changes);
}

Folding fold_footprint(const TaskGraph& graph, const Footprint& footprint, const Router& router,
                       const NetworkChanges& changes) {
  const bool lasting = changes.epochs.empty() && changes.link_colours.empty();
  const std::span<const LinkId> twins = lasting ? router.twins() : std::span<const LinkId>();
  std::vector<Paths> paths;  // not from a braced list, which would copy gigabytes
  paths.push_back(find_paths(footprint, router, twins.empty() ? TwinHops::kAll : TwinHops::kFirst));
  for (const Router* epoch : changes.epochs) paths.push_back(find_paths(footprint, *epoch));
  Refinement refinement(graph, footprint, paths, router.capacities(), changes);
  Folding folding;
  folding.rounds = refinement.run();
  refinement.add_twins(twins);
  number_classes(refinement.rank_colours(), folding.ranks.class_of, folding.ranks.representative, folding.ranks.size);
  std::vector<const Router*> epochs = changes.epochs;
  epochs.push_back(&router);
  const std::vector<LinkId> behind_job = links_behind_job(graph, epochs, !twins.empty());
  const std::vector<std::uint64_t>& colours = refinement.link_colours();
  number_classes(behind_job.empty() ? colours : with_links_apart(colours, behind_job, twins), folding.links.class_of,
                 folding.links.representative, folding.links.size);
  folding.behind_job = background_behind_job(graph);
  if (!behind_job.empty()) folding.links.of_job = first_classes(colours, folding.links.representative);
  if (!twins.empty()) folding.links.firsts.assign(folding.links.representative.size(), 0);
  for (std::size_t link = 0; link < twins.size(); ++link) {
    if (twins[link] == LinkId(link)) ++folding.links.firsts[folding.links.class_of[link]];
  }
  if (folds_little(folding)) {
    const std::vector<Paths> nowhere;
    const NetworkChanges none;
    Refinement roles(graph, footprint, nowhere, router.capacities(), none);
    roles.run();
    const std::vector<std::uint64_t>& colours = roles.rank_colours();
    folding.role_classes = std::unordered_set<std::uint64_t>(colours.begin(), colours.end()).size();
  }
  return folding;
}

bool folds_little(const Folding& folding) {
  return 2 * folding.ranks.count() > folding.ranks.class_of.size();
}

std::string why_little_folded(const Folding& folding) {
  if (!folds_little(folding)) return {};
  const bool by_role = 2 * folding.role_classes > folding.ranks.class_of.size();
  return by_role ? "the tasks and peers of ranks differ (few replicas, a slow rank, an algorithm with another role for "
                   "every member)"
                 : "the routes of their messages differ (hashed routes, a fault, hosts spread unevenly over switches)";
}

std::unique_ptr<Router> make_folded_router(const Router& router, const Folding& folding) {
  return std::make_unique<FoldedRouter>(router, folding);
}

}  // namespace ringwright
