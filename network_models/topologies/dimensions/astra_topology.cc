#include "network_models/topologies/dimensions/astra_topology.h"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

namespace ringwright::network_models {
namespace {

constexpr std::array<std::pair<std::string_view, AstraBlock>, 3> kAstraBlocks = {{
    {"Ring", AstraBlock::kRing},
    {"FullyConnected", AstraBlock::kFullyConnected},
    {"Switch", AstraBlock::kSwitch},
}};

}  // namespace

std::optional<AstraBlock> parse_astra_block(std::string_view name) {
  for (const auto& [known, block] : kAstraBlocks) {
    if (name == known) return block;
  }
  return std::nullopt;
}

std::string_view to_string(AstraBlock block) {
  for (const auto& [name, known] : kAstraBlocks) {
    if (block == known) return name;
  }
  return {};
}

std::uint32_t AstraDimension::hops(std::uint32_t from, std::uint32_t to) const {
  switch (block) {
    case AstraBlock::kFullyConnected: return 1;
    case AstraBlock::kSwitch: return 2;
    case AstraBlock::kRing: break;
  }
  const std::uint32_t clockwise = to >= from ? to - from : to + nodes - from;
  return std::min(clockwise, nodes - clockwise);
}

Tick AstraLink::delay(std::uint32_t hop_count, std::int64_t bytes) const {
  return whole_ticks(static_cast<double>(hop_count) * latency_ns + static_cast<double>(bytes) / bytes_per_ns);
}

Tick AstraLink::occupancy(std::int64_t bytes) const {
  return whole_ticks(static_cast<double>(bytes) / bytes_per_ns);
}

std::uint32_t AstraTopology::ranks() const {
  std::uint32_t product = 1;
  for (const AstraDimension& dimension : dimensions) product *= dimension.nodes;
  return product;
}

std::vector<std::uint32_t> AstraTopology::nodes() const {
  std::vector<std::uint32_t> all;
  for (const AstraDimension& dimension : dimensions) all.push_back(dimension.nodes);
  return all;
}

AstraTopology::Hop AstraTopology::hop(std::uint32_t from, std::uint32_t to) const {
  for (std::uint32_t d = 0; d + 1 < dimensions.size(); ++d) {
    const std::uint32_t nodes = dimensions[d].nodes;
    if (from % nodes != to % nodes) return {.dimension = d, .from = from % nodes, .to = to % nodes};
    from /= nodes;
    to /= nodes;
  }
  return {.dimension = static_cast<std::uint32_t>(dimensions.size() - 1), .from = from, .to = to};
}

Tick AstraTopology::delay(std::uint32_t from, std::uint32_t to, std::int64_t bytes) const {
  const Hop crossed = hop(from, to);
  const AstraDimension& dimension = dimensions[crossed.dimension];
  return dimension.link().delay(dimension.hops(crossed.from, crossed.to), bytes);
}

bool AstraTopology::all_equivalent(std::span<const std::uint32_t> members) const {
  if (members.empty()) return true;
  if (dimensions.size() == 1 && dimensions.front().block != AstraBlock::kRing) return true;
  // Equal steps along one dimension, in order: a group as a trace of tensor or data parallelism has it. A step along a
  // ring is a chord, and the last member must see the first one as any member sees its successor.
  const Hop first = hop(members.front(), members[1 % members.size()]);
  const AstraDimension& dimension = dimensions[first.dimension];
  for (std::size_t i = 0; i < members.size(); ++i) {
    const Hop crossed = hop(members[i], members[(i + 1) % members.size()]);
    if (crossed.dimension != first.dimension) return false;
    if (dimension.block != AstraBlock::kRing) continue;
    const std::uint32_t step = (crossed.to + dimension.nodes - crossed.from) % dimension.nodes;
    if (step != (first.to + dimension.nodes - first.from) % dimension.nodes) return false;
  }
  if (dimension.block == AstraBlock::kRing) return true;
  for (const std::uint32_t member : members) {
    const bool is_first = member == members.front();
    if (!is_first && hop(members.front(), member).dimension != first.dimension) return false;
  }
  return members.size() <= dimension.nodes;
}

std::string AstraTopology::text() const {
  std::string text;
  for (const AstraDimension& dimension : dimensions) {
    text += fmt::format("{}{} {}", text.empty() ? "" : " x ", to_string(dimension.block), dimension.nodes);
  }
  return text;
}

std::string AstraTopology::problem_with_congestion() const {
  if (dimensions.size() != 1) {
    return fmt::format("ASTRA-sim's congestion-aware network has one dimension, and this has {} ({})",
                       dimensions.size(), text());
  }
  const AstraDimension& only = dimensions.front();
  const bool pair = only.block == AstraBlock::kRing && only.nodes == 2;
  return pair ? "ASTRA-sim's congestion-aware network has no ring of 2 ranks" : "";
}

}  // namespace ringwright::network_models
