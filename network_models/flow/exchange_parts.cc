#include "network_models/flow/exchange_parts.h"

#include <algorithm>
#include <limits>
#include <unordered_map>

namespace ringwright::network_models {
namespace {

constexpr std::uint32_t kNoPart = std::numeric_limits<std::uint32_t>::max();

// Disjoint sets (Tarjan, "Efficiency of a good but not linear set union algorithm", JACM 1975), with path halving.
class SetsOfLinks {
 public:
  std::uint32_t number_of(LinkId link) {
    const auto [entry, is_new] = numbers_.try_emplace(link.value, static_cast<std::uint32_t>(parent_.size()));
    if (is_new) parent_.push_back(entry->second);
    return entry->second;
  }
  std::uint32_t root(std::uint32_t number) {
    while (parent_[number] != number) number = parent_[number] = parent_[parent_[number]];
    return number;
  }
  void join(std::uint32_t one, std::uint32_t other) { parent_[root(other)] = root(one); }

 private:
  std::unordered_map<std::uint32_t, std::uint32_t> numbers_;  // by link
  std::vector<std::uint32_t> parent_;
};

}  // namespace

std::vector<std::uint32_t> parts_by_links(std::span<const std::vector<Hop>> hops) {
  SetsOfLinks sets;
  for (const std::vector<Hop>& path : hops) {
    for (const Hop& hop : path) sets.join(sets.number_of(path.front().link), sets.number_of(hop.link));
  }
  std::unordered_map<std::uint32_t, std::uint32_t> part_of_root;
  std::vector<std::uint32_t> parts;
  for (const std::vector<Hop>& path : hops) {
    const std::uint32_t root = path.empty() ? kNoPart : sets.root(sets.number_of(path.front().link));
    parts.push_back(part_of_root.try_emplace(root, static_cast<std::uint32_t>(part_of_root.size())).first->second);
  }
  return parts;
}

std::vector<ExchangePart> parts_of(const RingShape& shape, std::span<const std::uint32_t> part_of_edge) {
  std::vector<ExchangePart> parts(std::ranges::max(part_of_edge) + std::size_t{1});
  for (std::uint32_t edge = 0; edge < part_of_edge.size(); ++edge) {
    ExchangePart& part = parts[part_of_edge[edge]];
    const std::uint32_t sender = shape.member_of(edge);
    if (part.senders.empty() || part.senders.back() != sender) part.senders.push_back(sender);
    part.edges.push_back(edge);
    part.sender_of.push_back(static_cast<std::uint32_t>(part.senders.size() - 1));
  }
  for (std::uint32_t member = 0; member < shape.members(); ++member) {
    for (const std::uint32_t edge : shape.awaited_by(member)) {
      ExchangePart& part = parts[part_of_edge[edge]];
      if (part.waiting.empty() || part.waiting.back() != member) {
        part.waiting.push_back(member);
        part.awaits.emplace_back();
      }
      const auto place = std::ranges::lower_bound(part.edges, edge) - part.edges.begin();
      part.awaits.back().push_back(static_cast<std::uint32_t>(place));
    }
  }
  return parts;
}

}  // namespace ringwright::network_models
