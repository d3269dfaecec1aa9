// A closed form has the wires of one group (configs/simulation/group_wires.h), as if it were alone. Other groups of the
// dimension carry out the same call at the same time. How much slower they are where they meet: the members of one host
// send to those of their group's next host, each group as fast as it can alone; the largest ratio of the sum of these
// rates on a link to its capacity.
#include "configs/simulation/unshared_links.h"

#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "core/plan/task_graph.h"
#include "core/ports/router.h"

namespace ringwright::configs {
namespace {

using LinkRates = std::map<LinkId, double>;  // bytes per second

// Of the members of a group on the host of `rank`; empty where the group is on one host.
LinkRates rates_alone(const TaskGraph& graph, DimensionId at, RankId rank, const Router& router) {
  const Dimension& dimension = graph.dimensions[at.index()];
  const std::size_t group = dimension.group_of[rank.index()];
  const std::vector<RankId>& members = dimension.groups[group];
  const GroupLayout& layout = graph.layouts[dimension.layout_of_group[group]];
  LinkRates rates;
  if (layout.host_count() < 2) return rates;
  const int host = layout.host_of[dimension.index_in_group[rank.index()]];
  const std::vector<int>& here = layout.hosts[static_cast<std::size_t>(host)];
  const std::vector<int>& there = layout.hosts[static_cast<std::size_t>((host + 1) % layout.host_count())];
  std::vector<Hop> path;
  for (std::size_t i = 0; i < std::min(here.size(), there.size()); ++i) {
    router.route({.from = members[static_cast<std::size_t>(here[i])],
                  .to = members[static_cast<std::size_t>(there[i])],
                  .label = collective_label(at)},
                 path);
    for (const Hop& hop : path) rates[hop.link] += hop.share;
  }
  double each = std::numeric_limits<double>::max();
  for (const auto& [link, flows] : rates) each = std::min(each, router.capacities()[link.index()].count() / flows);
  for (auto& [link, rate] : rates) rate *= each;
  return rates;
}

struct Met {
  std::size_t groups = 0;  // with members on the host and on others
  double times = 1.0;      // as long as alone
};

// On the host of the dimension's first group that spans hosts.
Met groups_that_meet(const Scenario& scenario, const TaskGraph& graph, DimensionId at, const Router& router) {
  const Dimension& dimension = graph.dimensions[at.index()];
  const auto spans = [&](std::uint32_t layout) { return graph.layouts[layout].host_count() > 1; };
  const auto first = std::ranges::find_if(dimension.layout_of_group, spans);
  Met met;
  if (first == dimension.layout_of_group.end()) return met;
  const auto gpus = static_cast<std::size_t>(scenario.cluster.host.gpus);
  const auto spanning = static_cast<std::size_t>(first - dimension.layout_of_group.begin());
  const std::size_t begin = dimension.groups[spanning].front().index() / gpus * gpus;
  std::set<std::uint32_t> seen;
  LinkRates wanted;
  for (std::size_t rank = begin; rank < std::min(begin + gpus, dimension.group_of.size()); ++rank) {
    if (!seen.insert(dimension.group_of[rank]).second) continue;
    const LinkRates alone = rates_alone(graph, at, RankId(static_cast<std::uint32_t>(rank)), router);
    if (!alone.empty()) ++met.groups;
    for (const auto& [link, rate] : alone) wanted[link] += rate;
  }
  for (const auto& [link, rate] : wanted) {
    met.times = std::max(met.times, rate / router.capacities()[link.index()].count());
  }
  return met;
}

bool uses_hosts(const StepFacts& facts, const std::string& dimension) {
  return std::ranges::any_of(facts.collectives, [&](const CollectiveUse& use) {
    return use.dimension == dimension && use.hosts > 1;
  });
}

}  // namespace

void note_unshared_links(const Scenario& scenario, const Simulation& simulation, StepFacts& facts) {
  constexpr double kWorthNoting = 1.01;
  if (simulation.collective_time() == nullptr) return;
  const TaskGraph& graph = simulation.plan().graph;
  for (std::uint32_t d = 0; d < graph.dimensions.size(); ++d) {
    const std::string& name = graph.dimensions[d].name;
    if (!uses_hosts(facts, name)) continue;
    const Met met = groups_that_meet(scenario, graph, DimensionId(d), *simulation.network().router);
    if (met.times < kWorthNoting) continue;
    facts.warnings.push_back(
        {.code = "W563",
         .where = "collectives.model",
         .text = fmt::format("the {} groups of {} on a host meet on links that formulas do not share: their "
                             "collectives may take up to {:.1f} times as long; collectives.model: steps shares links",
                             met.groups, name, met.times)});
  }
}

}  // namespace ringwright::configs
