#include "planning/operation/placement.h"

#include <algorithm>
#include <cmath>

namespace ringwright::planning {
namespace {

double log_choose(std::int64_t n, std::int64_t k) {
  const auto log_factorial = [](std::int64_t x) { return std::lgamma(static_cast<double>(x) + 1.0); };
  return log_factorial(n) - log_factorial(k) - log_factorial(n - k);
}

// The ring over `size` hosts from `first` on.
std::vector<std::int64_t> in_ring(std::int64_t first, std::int64_t size, std::int64_t host, const CopyRule& rule,
                                  std::int64_t jump) {
  std::vector<std::int64_t> all;
  for (std::int64_t i = 0; i < std::min(rule.copies, size); ++i) {
    all.push_back(first + (host - first + i * jump) % size);
  }
  return all;
}

// The group of a host whose states share parity; the last block holds what is left over.
std::int64_t parity_group(const CopyRule& rule, std::int64_t host) {
  const std::int64_t block = rule.copies * rule.jump;
  const std::int64_t last = std::max<std::int64_t>(1, rule.hosts / block) - 1;
  return std::min(host / block, last) * rule.jump + host % rule.jump;
}

bool parity_survives(const CopyRule& rule, std::span<const std::int64_t> lost) {
  return std::ranges::all_of(lost, [&](std::int64_t host) {
    const auto same = [&](std::int64_t other) { return parity_group(rule, other) == parity_group(rule, host); };
    return std::ranges::count_if(lost, same) <= rule.parity;
  });
}

}  // namespace

std::vector<std::int64_t> holders(const CopyRule& rule, std::int64_t host) {
  if (rule.placement == Placement::kRing) return in_ring(0, rule.hosts, host, rule, rule.jump);
  const std::int64_t block = rule.copies * rule.jump;
  // Whole blocks of groups; what is left over, with the last whole block, is a ring.
  const std::int64_t blocks = rule.hosts / block - (rule.hosts % block == 0 ? 0 : 1);
  const std::int64_t grouped = std::max<std::int64_t>(0, blocks) * block;
  if (host >= grouped) return in_ring(grouped, rule.hosts - grouped, host, rule, 1);
  const std::int64_t first = host / block * block + host % rule.jump;
  std::vector<std::int64_t> all{host};
  for (std::int64_t i = 0; i < rule.copies; ++i) {
    if (const std::int64_t member = first + i * rule.jump; member != host) all.push_back(member);
  }
  return all;
}

bool survives(const CopyRule& rule, std::span<const std::int64_t> lost) {
  if (rule.parity > 0) return parity_survives(rule, lost);
  return std::ranges::all_of(lost, [&](std::int64_t host) {
    return std::ranges::any_of(holders(rule, host),
                               [&](std::int64_t holder) { return std::ranges::find(lost, holder) == lost.end(); });
  });
}

double group_survival(std::int64_t hosts, std::int64_t copies, std::int64_t lost) {
  const std::int64_t groups = hosts / copies;
  double chance = 0.0;
  for (std::int64_t j = 0; j <= std::min(groups, lost / copies); ++j) {
    const double term =
        std::exp(log_choose(groups, j) + log_choose(hosts - j * copies, lost - j * copies) - log_choose(hosts, lost));
    chance += j % 2 == 0 ? term : -term;
  }
  return std::clamp(chance, 0.0, 1.0);
}

}  // namespace ringwright::planning
