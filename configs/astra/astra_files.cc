#include "configs/astra/astra_files.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "collectives/astra/algorithm.h"
#include "configs/astra/astra_calls.h"
#include "configs/astra/astra_graphs.h"
#include "configs/astra/astra_settings.h"
#include "core/base/text.h"
#include "network_models/astra/networks.h"
#include "network_models/topologies/dimensions/network_file.h"
#include "traces/chakra/groups.h"
#include "traces/chakra/job.h"

namespace ringwright::configs {
namespace {

class AstraLoader {
 public:
  explicit AstraLoader(const AstraFiles& files) : files_(files), calls_(settings_, result_.job, problems_) {}

  [[nodiscard]] Result<AstraJob> load() {
    read_settings();
    if (problems_.has_errors()) return tl::unexpected(problems_.found());
    read_workload();
    if (problems_.has_errors()) return tl::unexpected(problems_.found());
    set_rules();
    result_.networks = files_.backend == AstraBackend::kAware ? network_models::make_astra_aware(settings_.topology)
                                                              : network_models::make_astra_unaware(settings_.topology);
    result_.warnings = problems_.found();
    return std::move(result_);
  }

 private:
  template <class Value>
  void keep(Result<ForeignReading<Value>> reading, Value& value) {
    if (!reading) {
      problems_.take(reading.error());
      return;
    }
    value = std::move(reading->value);
    problems_.take(reading->warnings);
  }

  void read_settings() {
    settings_.system_file = files_.system;
    keep(traces::read_astra_system(files_.system), settings_.system);
    keep(network_models::read_astra_network(files_.network), settings_.topology);
    if (!files_.remote_memory.empty()) keep(traces::read_astra_memory(files_.remote_memory), settings_.memory);
    for (std::size_t kind = 0; kind < settings_.system.implementations.size(); ++kind) {
      for (const std::string& name : settings_.system.implementations[kind]) check_algorithm(kind, name);
    }
    if (!problems_.has_errors()) {
      check_topology();
      check_memory();
      warn_of_more_algorithms();
    }
  }

  // ASTRA-sim has a queue for each of the stated nodes, and none for further ones.
  void check_memory() {
    const traces::AstraMemory& memory = settings_.memory;
    if (!memory.nodes || *memory.nodes * memory.npus_per_node >= std::int64_t{settings_.ranks()}) return;
    problems_.error("E270", files_.remote_memory,
                    fmt::format("num-nodes {} times num-npus-per-node {} is less than the {} ranks of the network",
                                *memory.nodes, memory.npus_per_node, settings_.ranks()));
  }

  void warn_of_more_algorithms() {
    const std::size_t dimensions = settings_.topology.dimensions.size();
    for (std::size_t kind = 0; kind < settings_.system.implementations.size(); ++kind) {
      const std::size_t named = settings_.system.implementations[kind].size();
      if (named <= dimensions) continue;
      problems_.warn("W272", files_.system,
                     fmt::format("{}-implementation has {} entries and the network {} dimension{}: the others have no "
                                 "effect, except that process groups use rings",
                                 traces::kAstraCollectiveNames[kind], named, dimensions, dimensions == 1 ? "" : "s"));
    }
  }

  void check_algorithm(std::size_t kind, const std::string& name) {
    if (collectives::parse_astra_algorithm(name)) return;
    const std::string near = nearest_name(name, collectives::astra_algorithm_names());
    problems_.error(
        "E270", files_.system,
        fmt::format("{}-implementation has '{}', which is no algorithm", traces::kAstraCollectiveNames[kind], name),
        near.empty() ? fmt::format("one of {}", join(collectives::astra_algorithm_names(), ", "))
                     : fmt::format("did you mean '{}'?", near));
  }

  void check_topology() {
    result_.network_text = settings_.topology.text();
    if (files_.backend != AstraBackend::kAware) return;
    const std::string problem = settings_.topology.problem_with_congestion();
    if (problem.empty()) return;
    problems_.error("E277", files_.network, problem,
                    settings_.topology.dimensions.size() > 1 ? "--backend unaware" : "topology: [ Switch ]");
  }

  void read_workload() {
    auto reading = traces::read_chakra_job(files_.workload, settings_.ranks());
    if (!reading) {
      problems_.take(reading.error());
      return;
    }
    problems_.take(reading->warnings);
    read_groups(reading->job);
    if (problems_.has_errors()) return;  // nodes would name groups that are not known
    result_.job.graph_of = reading->job.trace_of;
    for (traces::ChakraTrace& trace : reading->job.traces) {
      result_.job.graphs.push_back(astra_rank_graph(trace, settings_, calls_, problems_));
      trace = traces::ChakraTrace();
    }
    if (!problems_.has_errors()) check_members(reading->job);
  }

  void read_groups(const traces::ChakraJob& job) {
    const bool given = !files_.groups.empty() && files_.groups != "empty";
    auto groups = given ? traces::read_group_file(files_.groups, settings_.ranks()) : traces::groups_in_traces(job);
    if (groups) {
      calls_.add_groups(*groups, given ? files_.groups : job.prefix);
    } else {
      problems_.take(groups.error());
    }
  }

  void check_members(const traces::ChakraJob& job) {
    for (std::uint32_t rank = 0; rank < result_.job.ranks(); ++rank) {
      for (const GraphNode& node : result_.job.graphs[result_.job.graph_of[rank]].nodes) {
        if (node.work != NodeWork::kCollective) continue;
        const RankGroup& group = result_.job.groups[result_.job.calls[node.call].group];
        if (group.position_of(rank) != kNoPosition) continue;
        problems_.error("E276", job.prefix,
                        fmt::format("rank {}, node {} calls a collective of group {}, of which the rank is no member",
                                    rank, node.id, group.name));
      }
    }
  }

  void set_rules() {
    const traces::AstraSystem& system = settings_.system;
    JobRules& rules = result_.rules;
    const auto queues = files_.queues_per_dimension;
    const std::int64_t running = (system.active_chunks + queues - 1) / queues;
    rules.streams.queues = {.dimensions = static_cast<std::uint32_t>(settings_.topology.dimensions.size()),
                            .queues_per_dimension = queues,
                            .running_per_queue = static_cast<std::uint32_t>(running)};
    rules.streams.endpoint_delay = whole_ticks(static_cast<double>(system.endpoint_delay) * files_.injection_scale);
    rules.streams.local_bytes_per_ns = system.local_bytes_per_ns;
    rules.streams.rendezvous = files_.rendezvous;
    if (system.shared_bus) {
      rules.streams.bus = SharedBus{.latency = system.shared_bus->latency,
                                    .overhead = system.shared_bus->overhead,
                                    .gap_per_byte = system.shared_bus->gap_per_byte,
                                    .reduction_per_100_bytes = system.reduction_delay};
      if (system.active_chunks > 1) {
        problems_.warn("W281", files_.system,
                       "model-shared-bus: packets of chunks that run together do not wait for "
                       "each other on the bus, as they would in ASTRA-sim");
      }
    }
    rules.memory = {.latency = settings_.memory.latency,
                    .bytes_per_ns = settings_.memory.bytes_per_ns,
                    .ranks_per_node = static_cast<std::uint32_t>(settings_.memory.npus_per_node)};
    switch (settings_.memory.kind) {
      case traces::AstraMemoryKind::kNone: break;
      case traces::AstraMemoryKind::kPerNode: rules.memory.sharing = RemoteMemorySharing::kPerNode; break;
      case traces::AstraMemoryKind::kPerNpu: rules.memory.sharing = RemoteMemorySharing::kPerRank; break;
      case traces::AstraMemoryKind::kPool: rules.memory.sharing = RemoteMemorySharing::kPool; break;
    }
    if (system.scheduling_policy == "FIFO") rules.order = ChunkOrder::kEarliestFirst;
    if (system.scheduling_policy == "EXPLICIT") rules.order = ChunkOrder::kByPriority;
    rules.shortcuts = files_.shortcuts;
  }

  const AstraFiles& files_;
  AstraSettings settings_;
  AstraJob result_;
  AstraProblems problems_;
  AstraCalls calls_;
};

}  // namespace

Result<AstraJob> load_astra_job(const AstraFiles& files) {
  return AstraLoader(files).load();
}

}  // namespace ringwright::configs
