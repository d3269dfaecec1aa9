#include "configs/simulation/interpolated_kernels.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <set>
#include <utility>

#include "configs/simulation/first_hosts.h"

namespace ringwright::configs {
namespace {

using Basis = KnownOverheads::Basis;

constexpr int kManyMembers = 16;
constexpr Bytes kLeastInterpolated = literals::operator""_MiB(1);
// Slopes that differ by less are of one line.
constexpr double kStraight = 0.002;
// Of one rank on one channel; a few loops of kernels over their chunks.
constexpr Bytes kShareOfLine = literals::operator""_KiB(128);
constexpr int kFirstHostsOfLine = 4;

// Neighbours among 1 and 1.5 times the powers of two.
struct SizeBracket {
  Bytes below;
  Bytes above;
};
SizeBracket bracket_of(Bytes bytes) {
  const auto size = static_cast<std::uint64_t>(bytes.count());
  const std::uint64_t power = std::bit_floor(size);
  const std::uint64_t middle = power + power / 2;
  const bool low = size < middle;
  return {.below = Bytes(static_cast<std::int64_t>(low ? power : middle)),
          .above = Bytes(static_cast<std::int64_t>(low ? middle : 2 * power))};
}

struct SizeAndTime {
  Bytes size;
  Duration time;
};
Duration on_line(SizeAndTime first, SizeAndTime second, Bytes bytes) {
  return first.time + scale(second.time - first.time, ratio(bytes - first.size, second.size - first.size));
}

// Of three points, each at twice the distance of the one before.
bool are_straight(Duration at, Duration at_double, Duration at_fourfold) {
  return std::abs(ratio(at_fourfold - at_double, (at_double - at) * 2) - 1.0) <= kStraight;
}

Bytes first_size_of_line(const CollectiveCall& call, const CollectivePlan& plan) {
  const Bytes shares = kShareOfLine * call.size() * std::max(1, plan.channels);
  return Bytes(static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(shares.count()))));
}

}  // namespace

bool InterpolatedKernels::are_costly(const CollectiveCall& call) {
  return call.size() >= kManyMembers && call.bytes >= kLeastInterpolated;
}

Duration InterpolatedKernels::time(const CollectiveCall& call, const ChannelChoice& choice,
                                   const KnownOverheads::Key& key) {
  const Point point{.call = call, .choice = choice, .key = key};
  if (const auto line = on_line_of_sizes(point)) return *line;
  const SizeBracket sizes = bracket_of(call.bytes);
  const Duration below = of_size(point, sizes.below);
  if (sizes.below == call.bytes) return below;
  return on_line({sizes.below, below}, {sizes.above, of_size(point, sizes.above)}, call.bytes);
}

std::optional<Duration> InterpolatedKernels::on_line_of_sizes(const Point& point) {
  const Bytes bytes = point.call.bytes;
  for (Bytes size = first_size_of_line(point.call, point.key.plan); size * 2 <= bytes; size = size * 2) {
    const Duration at_double = of_size(point, size * 2);
    const Duration at_fourfold = of_size(point, size * 4);
    if (!are_straight(of_size(point, size), at_double, at_fourfold)) continue;
    return on_line({size * 2, at_double}, {size * 4, at_fourfold}, bytes);
  }
  return std::nullopt;
}

Duration InterpolatedKernels::of_size(Point point, Bytes bytes) {
  point.call.bytes = bytes;
  point.key.bytes = bytes;
  point.key.basis = Basis::kSize;
  if (const auto known = inputs_.known.find_kernels(point.key)) return *known;
  const std::optional<Duration> line = on_line_of_hosts(point);
  const Duration time = line ? *line : simulated(point);
  inputs_.known.add_kernels(point.key, time);
  return time;
}

std::optional<Duration> InterpolatedKernels::on_line_of_hosts(const Point& point) {
  const GroupLayout& layout = *point.call.layout;
  const int hosts = layout.host_count();
  if (point.key.plan.algorithm != "ring" || !point.key.plan.kind_of_host.empty()) return {};
  if (hosts < 8 * kFirstHostsOfLine || point.call.bytes.count() % hosts != 0) return {};
  if (!is_alike_on_hosts(layout)) return {};
  const int least = hosts_with_all_paths(layout);
  for (int few = kFirstHostsOfLine; 8 * few <= hosts; few *= 2) {
    if (4 * few < least) continue;
    const Duration on_double = on_hosts(point, 2 * few);
    const Duration on_fourfold = on_hosts(point, 4 * few);
    if (!are_straight(on_hosts(point, few), on_double, on_fourfold)) continue;
    return on_fourfold + scale(on_fourfold - on_double, (hosts - 4.0 * few) / (2.0 * few));
  }
  return {};
}

// With the same share of each rank.
Duration InterpolatedKernels::on_hosts(Point point, int hosts) {
  const int all = point.call.layout->host_count();
  GroupLayout fewer = on_first_hosts(*point.call.layout, hosts);
  const auto known = std::ranges::find(layouts_, fewer);
  const GroupLayout& layout = known != layouts_.end() ? *known : layouts_.emplace_back(std::move(fewer));
  point.call.layout = &layout;
  point.call.bytes = Bytes(point.call.bytes.count() / all * hosts);
  point.key.bytes = point.call.bytes;
  point.key.host_of = layout.host_of;
  point.key.gpu_of = layout.gpu_of;
  return simulated(std::move(point));
}

Duration InterpolatedKernels::simulated(Point point) {
  point.key.basis = Basis::kSimulated;
  if (const auto known = inputs_.known.find_kernels(point.key)) return *known;
  const Duration time = inputs_.alone(point.call, point.choice);
  inputs_.known.add_kernels(point.key, time);
  return time;
}

// The fewest first hosts among which there is every kind of path between neighbours in a ring of the group's hosts.
int InterpolatedKernels::hosts_with_all_paths(const GroupLayout& layout) const {
  std::set<std::uint32_t> seen;
  int enough = 1;
  const auto gpu = static_cast<std::size_t>(layout.gpu_of.front());
  const auto rank = [&](int host) {
    return RankId(static_cast<std::size_t>(host) * static_cast<std::size_t>(inputs_.per_host) + gpu);
  };
  const auto paths = [&](int from, int to) {
    return inputs_.known.paths_between(inputs_.router, rank(from), rank(to));
  };
  for (int host = 1; host < layout.host_count(); ++host) {
    if (seen.insert(paths(host - 1, host)).second) enough = host + 1;
  }
  return seen.contains(paths(layout.host_count() - 1, 0)) ? enough : layout.host_count();
}

}  // namespace ringwright::configs
