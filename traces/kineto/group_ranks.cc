#include "traces/kineto/group_ranks.h"

#include <algorithm>

#include "traces/input/log_text.h"

namespace ringwright::traces {
namespace {

constexpr std::int64_t kMostGroupRanks = 1'000'000;

struct ListedRanks {
  std::vector<int> ranks;
  bool cut = false;  // entries are left out behind the first `leading`
  std::size_t leading = 0;
};

std::optional<ListedRanks> parse_listed(std::string_view text) {
  ListedRanks listed;
  if (text.size() < 2 || text.front() != '[' || text.back() != ']') return std::nullopt;
  text = text.substr(1, text.size() - 2);
  for (const std::string_view cell : cells_of(text)) {
    if (cell.empty() && listed.ranks.empty()) continue;
    if (cell == "...") {
      listed.cut = true;
      listed.leading = listed.ranks.size();
      continue;
    }
    const auto rank = parse_number<int>(cell);
    if (!rank || *rank < 0) return std::nullopt;
    listed.ranks.push_back(*rank);
  }
  if (!listed.cut) listed.leading = listed.ranks.size();
  return listed;
}

// Whether a complete list begins and ends as the cut one does.
bool completes(const std::vector<int>& ranks, const ListedRanks& listed) {
  const std::size_t trailing = listed.ranks.size() - listed.leading;
  if (ranks.size() < listed.ranks.size()) return false;
  const auto leading_end = listed.ranks.begin() + static_cast<std::ptrdiff_t>(listed.leading);
  return std::equal(listed.ranks.begin(), leading_end, ranks.begin()) &&
         std::equal(leading_end, listed.ranks.end(), ranks.end() - static_cast<std::ptrdiff_t>(trailing));
}

}  // namespace

std::optional<std::vector<int>> ranks_of_group(const GroupHints& hints) {
  const auto listed = hints.listed.empty() ? ListedRanks() : parse_listed(trimmed(hints.listed));
  if (!listed) return std::nullopt;
  const bool unlisted = !listed->cut && listed->ranks.empty();
  if (!listed->cut && !unlisted) return listed->ranks;
  if (hints.start && hints.stride && *hints.stride > 0 && *hints.start >= 0 && hints.size > 0 &&
      hints.size <= kMostGroupRanks && *hints.start <= kMostGroupRanks && *hints.stride <= kMostGroupRanks) {
    std::vector<int> ranks;
    for (std::int64_t i = 0; i < hints.size; ++i) {
      const std::int64_t rank = *hints.start + i * *hints.stride;
      if (rank > kMostGroupRanks) break;
      ranks.push_back(static_cast<int>(rank));
    }
    if (static_cast<std::int64_t>(ranks.size()) == hints.size && completes(ranks, *listed)) return ranks;
  }
  if (hints.config != nullptr && static_cast<std::int64_t>(hints.config->ranks.size()) == hints.size &&
      completes(hints.config->ranks, *listed)) {
    return hints.config->ranks;
  }
  return unlisted ? std::optional(std::vector<int>()) : std::nullopt;
}

}  // namespace ringwright::traces
