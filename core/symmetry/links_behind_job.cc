#include "core/symmetry/links_behind_job.h"

#include <set>
#include <unordered_map>

#include "core/base/random.h"

namespace ringwright {

std::vector<LinkId> links_behind_job(const TaskGraph& graph, std::span<const Router* const> routers,
                                     bool first_of_twins) {
  const std::vector<bool> behind_job = background_behind_job(graph);
  std::set<LinkId> links;
  std::vector<Hop> hops;
  for (std::uint32_t index = 0; index < behind_job.size(); ++index) {
    if (!behind_job[index]) continue;
    const BackgroundTransfer& transfer = graph.background[index];
    for (const Router* router : routers) {
      router->route({.from = transfer.from,
                     .to = transfer.to,
                     .label = background_label(index),
                     .first_of_twins = first_of_twins},
                    hops);
      for (const Hop& hop : hops) links.insert(hop.link);
    }
  }
  return {links.begin(), links.end()};
}

std::vector<std::uint64_t> with_links_apart(const std::vector<std::uint64_t>& colours, std::span<const LinkId> apart,
                                            std::span<const LinkId> twins) {
  std::vector<std::uint64_t> result = colours;
  for (const LinkId link : apart) result[link.index()] = mix(colours[link.index()], link.value);
  for (std::size_t link = 0; link < twins.size(); ++link) result[link] = result[twins[link].index()];
  return result;
}

std::vector<std::uint32_t> first_classes(std::span<const std::uint64_t> colours,
                                         std::span<const LinkId> representative) {
  std::unordered_map<std::uint64_t, std::uint32_t> first_of;
  std::vector<std::uint32_t> first;
  for (std::uint32_t number = 0; number < representative.size(); ++number) {
    first.push_back(first_of.try_emplace(colours[representative[number].index()], number).first->second);
  }
  return first;
}

JobLinks::JobLinks(const LinkClasses& links)
    : of_job_(links.of_job), size_(links.firsts.empty() ? links.size : links.firsts) {
  if (of_job_.empty()) return;
  others_.resize(of_job_.size());
  for (std::uint32_t number = 0; number < of_job_.size(); ++number) {
    const std::uint32_t first = of_job_[number];
    if (first == number) continue;
    size_[first] += size_[number];
    others_[first].push_back(number);
  }
}

void JobLinks::add_others(std::vector<Hop>& hops) const {
  if (others_.empty()) return;
  const std::size_t firsts = hops.size();
  for (std::size_t hop = 0; hop < firsts; ++hop) {
    for (const std::uint32_t other : others_[hops[hop].link.index()]) {
      Hop same = hops[hop];
      same.link = LinkId(other);
      hops.push_back(same);
    }
  }
}

}  // namespace ringwright
