#include "configs/astra/astra_calls.h"

#include <algorithm>
#include <numeric>

#include <fmt/format.h>

#include "collectives/astra/phases.h"
#include "configs/astra/astra_graphs.h"
#include "core/base/text.h"
#include "traces/chakra/job.h"

namespace ringwright::configs {
namespace {

using collectives::AstraAlgorithm;
using collectives::AstraCall;

// Chunks of all members of a collective; each takes 64 bytes while it runs.
constexpr std::uint64_t kMostChunkStates = std::uint64_t{1} << 28U;

CollectiveKind kind_of(traces::AstraCollective collective) {
  switch (collective) {
    case traces::AstraCollective::kAllReduce: return CollectiveKind::kAllReduce;
    case traces::AstraCollective::kAllGather: return CollectiveKind::kAllGather;
    case traces::AstraCollective::kReduceScatter: return CollectiveKind::kReduceScatter;
    case traces::AstraCollective::kAllToAll: break;
  }
  return CollectiveKind::kAllToAll;
}

std::string_view name_of(traces::AstraCollective collective) {
  return traces::kAstraCollectiveNames[static_cast<std::size_t>(collective)];
}

}  // namespace

AstraCalls::AstraCalls(const AstraSettings& settings, NodeJob& job, AstraProblems& problems)
    : settings_(settings), job_(job), problems_(problems) {
  job_.groups = {{.name = "0 (all ranks)"}};
  groups_ = {{"", 0}, {"0", 0}};
}

void AstraCalls::add_groups(const traces::ChakraGroups& groups, const std::string& file) {
  for (const traces::ChakraGroup& given : groups.groups) {
    const bool is_default = given.name.empty() || given.name == "0";
    if (is_default && given.ranks.size() < settings_.ranks()) {
      problems_.error(
          "E276", file,
          fmt::format("group '{}' has {} of {} ranks, and ASTRA-sim reserves this name for the group of all",
                      given.name, given.ranks.size(), settings_.ranks()),
          "another number, also in pg_name of the nodes");
    }
    if (groups_.contains(given.name)) continue;
    RankGroup group{.name = given.name};
    // A group of all ranks has the default dimensions, whatever its order.
    if (given.ranks.size() < settings_.ranks()) {
      group.members = given.ranks;
      group.order.resize(given.ranks.size());
      std::iota(group.order.begin(), group.order.end(), 0U);
      std::ranges::sort(group.order, {}, [&](std::uint32_t position) { return given.ranks[position]; });
    }
    groups_[given.name] = static_cast<std::uint32_t>(job_.groups.size());
    job_.groups.push_back(std::move(group));
  }
}

std::optional<std::uint32_t> AstraCalls::group(const std::string& name) const {
  const auto found = groups_.find(name);
  return found == groups_.end() ? std::nullopt : std::optional(found->second);
}

std::optional<std::uint32_t> AstraCalls::call(const AstraCallSpec& spec) {
  const auto [known, fresh] = calls_.try_emplace(spec);
  if (fresh) known->second = make(spec);
  return known->second;
}

std::optional<std::uint32_t> AstraCalls::make(const AstraCallSpec& spec) {
  auto made = plan(spec);
  if (!made) return std::nullopt;
  const RankGroup& group = job_.groups[spec.group];
  if (std::uint64_t{made->chunks} * group.size(settings_.ranks()) > kMostChunkStates) {
    problems_.error(
        "E274", settings_.system_file,
        fmt::format("{} of {} bytes on group {} has {} chunks of {} members, too many to simulate", name_of(spec.kind),
                    spec.bytes, group.name, made->chunks, group.size(settings_.ranks())),
        "a smaller preferred-dataset-splits");
    return std::nullopt;
  }
  const auto same = std::ranges::find(job_.plans, *made);
  const auto plan_index = static_cast<std::uint32_t>(same - job_.plans.begin());
  if (same == job_.plans.end()) job_.plans.push_back(std::move(*made));
  job_.calls.push_back(
      {.plan = plan_index, .group = spec.group, .name = fmt::format("{} of {} bytes", name_of(spec.kind), spec.bytes)});
  return static_cast<std::uint32_t>(job_.calls.size() - 1);
}

// Groups that are not the whole job are one dimension, with the algorithm of the system file when it names one only,
// else with rings.
std::optional<ChunkedCollective> AstraCalls::plan(const AstraCallSpec& spec) {
  const auto kind = static_cast<std::size_t>(spec.kind);
  const RankGroup& group = job_.groups[spec.group];
  const std::vector<std::string>& names = settings_.system.implementations[kind];
  AstraCall call{.kind = kind_of(spec.kind),
                 .bytes = spec.bytes,
                 .dimensions = settings_.topology.nodes(),
                 .splits = settings_.system.splits,
                 .job_ranks = settings_.ranks(),
                 .local_bandwidth_aware = settings_.system.local_bandwidth_aware};
  call.in_group = !group.members.empty();
  if (call.in_group) call.dimensions = {static_cast<std::uint32_t>(group.members.size())};
  call.involved.assign(call.dimensions.size(), true);
  for (std::size_t d = 0; spec.group == 0 && d < std::min(spec.involved.size(), call.involved.size()); ++d) {
    call.involved[d] = spec.involved[d];
  }
  if (!settings_.system.custom[kind].empty()) {
    const auto chunks = astra_chunks(call);
    if (chunks) return custom_plan(spec, {.chunks = *chunks, .pays_endpoint_delay = !call.in_group});
    problems_.error("E274", settings_.system_file, fmt::format("{}: {}", name_of(spec.kind), chunks.error()));
    return std::nullopt;
  }
  for (const std::string& name : names) {
    call.algorithms.push_back(collectives::parse_astra_algorithm(name).value_or(AstraAlgorithm()));
  }
  if (call.in_group && names.size() > 1) call.algorithms = {AstraAlgorithm()};
  const bool flat = !call.algorithms.empty() && call.algorithms.front().flat;
  if (!flat && call.algorithms.size() < call.dimensions.size()) {
    problems_.error("E274", settings_.system_file,
                    fmt::format("{0}-implementation has {1} entries, and one in the workload spans {2} dimensions",
                                name_of(spec.kind), names.size(), call.dimensions.size()),
                    fmt::format("\"{}-implementation\": [{}]", name_of(spec.kind),
                                join(std::vector<std::string>(call.dimensions.size(), "\"ring\""), ", ")));
    return std::nullopt;
  }
  auto made = astra_collective(call);
  if (made) return std::move(*made);
  problems_.error(
      "E274", settings_.system_file,
      fmt::format("{} of {} bytes on group {}: {}", name_of(spec.kind), spec.bytes, group.name, made.error()));
  return std::nullopt;
}

std::optional<ChunkedCollective> AstraCalls::custom_plan(const AstraCallSpec& spec, ChunkedCollective cut) {
  const auto set = graph_set(settings_.system.custom[static_cast<std::size_t>(spec.kind)], spec.group);
  if (!set) return std::nullopt;
  const bool splits = spec.kind == traces::AstraCollective::kAllReduce && settings_.system.local_bandwidth_aware;
  cut.phases = {{.shape = PhaseShape::kGraphs,
                 .half = splits ? QueueHalf::kFirst : QueueHalf::kBoth,
                 .nodes = job_.groups[spec.group].size(settings_.ranks()),
                 .graph_set = *set}};
  return cut;
}

// Graph i belongs to the i-th member by rank, and names peers by such a position; here a position is a place in the
// list of members.
std::optional<std::uint32_t> AstraCalls::graph_set(const std::string& prefix, std::uint32_t group_index) {
  const auto [known, fresh] = graph_sets_.try_emplace({prefix, group_index});
  if (!fresh) return known->second;
  const RankGroup& group = job_.groups[group_index];
  const std::uint32_t size = group.size(settings_.ranks());
  auto reading = traces::read_chakra_job(prefix, size);
  if (!reading) {
    problems_.take(reading.error());
    return std::nullopt;
  }
  problems_.take(reading->warnings);
  std::vector<NodeGraph> graphs(size);
  for (std::uint32_t i = 0; i < size; ++i) {
    NodeGraph graph = astra_collective_graph(reading->job.of(i), size, problems_);
    for (GraphNode& node : graph.nodes) {
      if (!group.order.empty()) node.peer = group.order[node.peer];
    }
    graphs[group.order.empty() ? i : group.order[i]] = std::move(graph);
  }
  if (problems_.has_errors()) return std::nullopt;
  known->second = static_cast<std::uint32_t>(job_.graph_sets.size());
  job_.graph_sets.push_back(std::move(graphs));
  return known->second;
}

}  // namespace ringwright::configs
