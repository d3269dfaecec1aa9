#include "configs/simulation/interpolated_kernels.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <utility>

#include "configs/simulation/host_runs.h"

namespace ringwright::configs {
namespace {

using Basis = KnownOverheads::Basis;

constexpr int kManyMembers = 16;
constexpr Bytes kLeastInterpolated = literals::operator""_MiB(1);
// Slopes that differ by less are of one line.
constexpr double kStraight = 0.002;
// Of one rank on one channel; a few loops of kernels over their chunks.
constexpr Bytes kShareOfLine = literals::operator""_KiB(128);
// Of its shortest line: the first one, twice and four times as many bytes.
constexpr int kFirstSizesOfLine = 1 + 2 + 4;
constexpr int kFirstHostsOfLine = 4;
// Where a group is simulated for itself otherwise: from so many ranks on. The time may be wrong by so much if the slope
// changes once more by as much as between samples.
constexpr int kThousands = 1024;
constexpr double kMostChange = 0.01;

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

// How much the slopes between three points differ, each at twice the distance of the one before.
double bend(Duration at, Duration at_double, Duration at_fourfold) {
  return std::abs(ratio(at_fourfold - at_double, (at_double - at) * 2) - 1.0);
}
bool are_straight(Duration at, Duration at_double, Duration at_fourfold) {
  return bend(at, at_double, at_fourfold) <= kStraight;
}

Bytes first_size_of_line(const CollectiveCall& call, const CollectivePlan& plan) {
  const Bytes shares = kShareOfLine * call.size() * std::max(1, plan.channels);
  return Bytes(static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(shares.count()))));
}

int kind_in(const CollectivePlan& plan, int host) {
  return plan.kind_of_host.empty() ? 0 : plan.kind_of_host[static_cast<std::size_t>(host)];
}

std::vector<int> kinds_of(const std::vector<int>& hosts, const CollectivePlan& plan) {
  std::vector<int> kinds;
  if (plan.kind_of_host.empty()) return kinds;
  for (const int host : hosts) kinds.push_back(kind_in(plan, host));
  return kinds;
}

}  // namespace

bool InterpolatedKernels::save_time(const CollectiveCall& call, const CollectivePlan& plan) {
  if (call.size() < kManyMembers || call.bytes < kLeastInterpolated) return false;
  return call.kind != CollectiveKind::kAllToAll || call.bytes > first_size_of_line(call, plan) * kFirstSizesOfLine;
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

std::optional<Duration> InterpolatedKernels::of_thousands(const CollectiveCall& call, const ChannelChoice& choice,
                                                          const KnownOverheads::Key& key) {
  if (call.size() < kThousands) return std::nullopt;
  return on_line_of_hosts({.call = call, .choice = choice, .key = key},
                          [](int hosts, int most) { return kMostChange * hosts / (hosts - most); });
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
  return inputs_.known.kernels(point.key, [&] {
    std::optional<Duration> line = on_line_of_hosts(point, [](int, int) { return kStraight; });
    if (!line) line = on_line_of_runs(point);
    return line ? *line : simulated(point);
  });
}

bool InterpolatedKernels::may_be_sampled(const Point& point) {
  const GroupLayout& layout = *point.call.layout;
  const int hosts = layout.host_count();
  if (point.key.plan.algorithm != "ring") return false;
  return hosts >= 8 * kFirstHostsOfLine && point.call.bytes.count() % hosts == 0 && is_alike_on_hosts(layout);
}

std::optional<Duration> InterpolatedKernels::on_line_of_hosts(const Point& point, Tolerance tolerance) {
  if (!may_be_sampled(point)) return {};
  const GroupLayout& layout = *point.call.layout;
  const int hosts = layout.host_count();
  const SampledHosts samples = sampled(layout, point.key.plan);
  for (int few = kFirstHostsOfLine; 8 * few <= hosts; few *= 2) {
    const auto first = samples.of(few);
    const auto doubled = samples.of(2 * few);
    const auto fourfold = samples.of(4 * few);
    if (!first || !doubled || !fourfold || !samples.are_enough(4 * few)) continue;
    const Duration on_double = on_sample(point, *doubled);
    const Duration on_fourfold = on_sample(point, *fourfold);
    if (bend(on_sample(point, *first), on_double, on_fourfold) > tolerance(hosts, 4 * few)) continue;
    return on_fourfold + scale(on_fourfold - on_double, (hosts - 4.0 * few) / (2.0 * few));
  }
  return {};
}

// Between leaves that hold different numbers of hosts. All sizes of a sample together cost less than all hosts.
std::optional<Duration> InterpolatedKernels::on_line_of_runs(const Point& point) {
  if (!may_be_sampled(point)) return {};
  const GroupLayout& layout = *point.call.layout;
  const int hosts = layout.host_count();
  const HostRuns samples(hosts, paths_between_hosts(layout, point.key.plan));
  for (int few = samples.least(); few > 0; few *= 2) {
    const int more = std::max(2, few / 4 * 2);
    if (3 * (few + 3 * more) > 2 * hosts) break;
    const auto first = samples.of(few);
    const auto second = samples.of(few + more);
    const auto third = samples.of(few + 3 * more);
    if (!first || !second || !third) continue;
    const Duration on_second = on_sample(point, *second);
    const Duration on_third = on_sample(point, *third);
    if (!are_straight(on_sample(point, *first), on_second, on_third)) continue;
    return on_third + scale(on_third - on_second, (hosts - few - 3.0 * more) / (2.0 * more));
  }
  return {};
}

// With the same share of each rank.
Duration InterpolatedKernels::on_sample(const Point& point, std::vector<int> hosts) {
  const int all = point.call.layout->host_count();
  GroupLayout fewer = on_hosts(*point.call.layout, hosts);
  const auto known = std::ranges::find(layouts_, fewer);
  const GroupLayout& layout = known != layouts_.end() ? *known : layouts_.emplace_back(std::move(fewer));
  ChannelChoice choice = point.choice;
  choice.plan.kind_of_host = kinds_of(hosts, point.choice.plan);
  Point sample{.call = point.call, .choice = choice, .key = point.key, .hosts = std::move(hosts)};
  sample.call.layout = &layout;
  sample.call.bytes = Bytes(point.call.bytes.count() / all * layout.host_count());
  sample.key.bytes = sample.call.bytes;
  sample.key.plan.kind_of_host = choice.plan.kind_of_host;
  sample.key.host_of = layout.host_of;
  for (int& host : sample.key.host_of) host = sample.hosts[static_cast<std::size_t>(host)];
  sample.key.gpu_of = layout.gpu_of;
  return simulated(std::move(sample));
}

Duration InterpolatedKernels::simulated(Point point) {
  point.key.basis = Basis::kSimulated;
  return inputs_.known.kernels(point.key, [&] { return inputs_.alone(point.call, point.choice, point.hosts); });
}

SampledHosts InterpolatedKernels::sampled(const GroupLayout& layout, const CollectivePlan& plan) const {
  return SampledHosts(layout.host_count(), paths_between_hosts(layout, plan));
}

SampledHosts::KindOfPath InterpolatedKernels::paths_between_hosts(const GroupLayout& layout,
                                                                  const CollectivePlan& plan) const {
  const auto gpu = static_cast<std::size_t>(layout.gpu_of.front());
  const auto rank = [this, gpu](int host) {
    return RankId(static_cast<std::size_t>(host) * static_cast<std::size_t>(inputs_.per_host) + gpu);
  };
  return [this, rank, &plan](int from, int to) {
    const std::uint64_t path = inputs_.known.paths_between(inputs_.router, rank(from), rank(to));
    return path << 32U | static_cast<std::uint64_t>(kind_in(plan, from)) << 16U |
           static_cast<std::uint64_t>(kind_in(plan, to));
  };
}

}  // namespace ringwright::configs
