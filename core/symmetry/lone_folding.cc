#include "core/symmetry/lone_folding.h"

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "core/symmetry/class_numbers.h"
#include "core/symmetry/footprint.h"
#include "core/symmetry/paths.h"
#include "core/symmetry/refinement.h"

namespace ringwright {
namespace {

constexpr std::uint32_t kNoClass = ~std::uint32_t{0};

// In order; each once.
std::vector<LinkId> crossed_by(const Paths& paths) {
  std::vector<LinkId> links = paths.link;
  std::ranges::sort(links);
  links.erase(std::unique(links.begin(), links.end()), links.end());
  return links;
}

// Links are named by their places among those that are crossed.
void rename(Paths& paths, const std::vector<LinkId>& crossed) {
  for (LinkId& link : paths.link) {
    link = LinkId(static_cast<std::size_t>(std::ranges::lower_bound(crossed, link) - crossed.begin()));
  }
}

// The classes of crossed links as those of all links.
LinkClasses among_all(LinkClasses of_crossed, const std::vector<LinkId>& crossed, std::size_t links) {
  LinkClasses classes = std::move(of_crossed);
  std::vector<std::uint32_t> class_of(links, kNoClass);
  for (std::size_t place = 0; place < crossed.size(); ++place) {
    class_of[crossed[place].index()] = classes.class_of[place];
  }
  classes.class_of = std::move(class_of);
  for (LinkId& link : classes.representative) link = crossed[link.index()];
  return classes;
}

}  // namespace

Folding fold_alone(const TaskGraph& graph, const Choosers& choosers, const Router& router) {
  const Footprint footprint = make_footprint(graph, choosers);
  if (!router.twins().empty() || !graph.background.empty()) return fold_footprint(graph, footprint, router);
  std::vector<Paths> paths;
  paths.push_back(find_paths(footprint, router));
  const std::vector<LinkId> crossed = crossed_by(paths.front());
  rename(paths.front(), crossed);
  std::vector<Bandwidth> capacities;
  for (const LinkId link : crossed) capacities.push_back(router.capacities()[link.index()]);
  const NetworkChanges none;
  Refinement refinement(graph, footprint, paths, capacities, none);
  Folding folding;
  folding.rounds = refinement.run();
  number_classes(refinement.rank_colours(), folding.ranks.class_of, folding.ranks.representative, folding.ranks.size);
  LinkClasses classes;
  number_classes(refinement.link_colours(), classes.class_of, classes.representative, classes.size);
  folding.links = among_all(std::move(classes), crossed, router.capacities().size());
  return folding;
}

}  // namespace ringwright
