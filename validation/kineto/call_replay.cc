#include "validation/kineto/call_replay.h"

#include <algorithm>
#include <map>
#include <memory>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "configs/scenario/named_machine.h"
#include "configs/scenario/scenario.h"
#include "configs/simulation/collective_run.h"

namespace ringwright::validation {
namespace {

// Operation, shape, bytes, communicator.
using CallKey = std::tuple<std::string, int, int, Bytes, std::string>;

struct CallTimes {
  std::vector<Duration> own;
  std::vector<const traces::JoinedCall*> calls;
  std::size_t records = 0;
  std::string kernel;
};

// A machine of one number of hosts, built once for all sizes.
struct PlayedMachineBench {
  configs::Scenario scenario;
  std::unique_ptr<configs::CollectiveBench> bench;
};

class Machines final {
 public:
  explicit Machines(const CallReplayOptions& options) : options_(options) {}

  [[nodiscard]] Result<configs::CollectiveBench*> bench(int hosts) {
    const auto known = machines_.find(hosts);
    if (known != machines_.end()) return known->second->bench.get();
    std::vector<std::string> overrides = options_.overrides;
    overrides.push_back(fmt::format("cluster.nodes={}", hosts));
    auto scenario = configs::load_named_machine(options_.cluster, {.overrides = overrides, .share_folders = {}});
    if (!scenario) return tl::unexpected(scenario.error());
    auto machine =
        std::make_unique<PlayedMachineBench>(PlayedMachineBench{.scenario = std::move(*scenario), .bench = {}});
    machine->bench = std::make_unique<configs::CollectiveBench>(machine->scenario);
    return machines_.emplace(hosts, std::move(machine)).first->second->bench.get();
  }

 private:
  const CallReplayOptions& options_;
  std::map<int, std::unique_ptr<PlayedMachineBench>> machines_;
};

Duration median_time(std::vector<Duration> times) {
  std::ranges::sort(times);
  return times[(times.size() - 1) / 2];
}

std::map<CallKey, CallTimes> sort_calls(const traces::JoinedCalls& joined, const CallReplayOptions& options,
                                        CallReplay& replay) {
  std::map<CallKey, CallTimes> sorted;
  for (const traces::JoinedCall& call : joined.calls) {
    if (!traces::is_collective(call.operation)) {
      ++replay.not_collective;
      continue;
    }
    if (!call.bytes) {
      ++replay.without_size;
      continue;
    }
    const traces::CallGroup& group = joined.groups[call.group];
    const auto shape = shape_of(group, replay.gpus_per_host);
    if (!shape) {
      ++replay.uneven;
      continue;
    }
    const std::string communicator = options.by == CallsBy::kCommunicator ? group.id : "";
    CallTimes& times = sorted[{call.operation, shape->hosts, shape->gpus_per_host, *call.bytes, communicator}];
    times.own.push_back(call.shortest);
    times.calls.push_back(&call);
    times.records = std::max(times.records, static_cast<std::size_t>(std::max(call.recorded, 0)));
    if (times.kernel.empty()) times.kernel = call.kernel;
  }
  return sorted;
}

Result<int> gpus_of_host(const CallReplayOptions& options) {
  auto scenario = configs::load_named_machine(options.cluster, {.overrides = options.overrides, .share_folders = {}});
  if (!scenario) return tl::unexpected(scenario.error());
  const int available = scenario->cluster.host.gpus;
  if (!options.hosts) return options.ranks > 0 ? std::min(available, options.ranks) : available;
  if (options.ranks == 0) return available;
  if (options.ranks % *options.hosts == 0 && options.ranks / *options.hosts <= available) {
    return options.ranks / *options.hosts;
  }
  return tl::unexpected(
      failure("E264",
              fmt::format("{} ranks cannot be spread evenly over --hosts {}, whose nodes have {} GPUs", options.ranks,
                          *options.hosts, available),
              {.file = options.cluster}));
}

}  // namespace

std::optional<GroupShape> shape_of(const traces::CallGroup& group, int gpus_per_host) {
  if (!group.ranks.empty()) {
    std::map<int, int> members;
    for (const int rank : group.ranks) ++members[rank / gpus_per_host];
    const int first = members.begin()->second;
    for (const auto& [host, count] : members) {
      if (count != first) return std::nullopt;
    }
    if (group.ranks.size() < 2) return std::nullopt;
    return GroupShape{.hosts = static_cast<int>(members.size()), .gpus_per_host = first};
  }
  if (group.size < 2) return std::nullopt;
  int hosts = group.hosts;
  if (hosts == 0) {
    if (group.size > gpus_per_host && group.size % gpus_per_host != 0) return std::nullopt;
    hosts = std::max(group.size / gpus_per_host, 1);
  }
  if (group.size % hosts != 0 || group.size / hosts > gpus_per_host) return std::nullopt;
  return GroupShape{.hosts = hosts, .gpus_per_host = group.size / hosts};
}

Result<CallReplay> replay_calls(const traces::JoinedCalls& joined, const CallReplayOptions& options) {
  CallReplay replay{.cluster = options.cluster};
  const auto gpus_per_host = gpus_of_host(options);
  if (!gpus_per_host) return tl::unexpected(gpus_per_host.error());
  replay.gpus_per_host = *gpus_per_host;
  Machines machines(options);
  for (auto& [key, times] : sort_calls(joined, options, replay)) {
    const auto& [operation, hosts, per_host, bytes, communicator] = key;
    const auto wanted = configs::parse_operation(operation);
    if (!wanted) {
      replay.not_collective += times.own.size();
      continue;
    }
    const auto bench = machines.bench(hosts);
    if (!bench) return tl::unexpected(bench.error());
    // At least one byte for each rank.
    const Bytes size = std::max(configs::rounded_size(*wanted, bytes, hosts * per_host, 1), Bytes(hosts * per_host));
    // Recorded are times of kernels: what the host takes to issue a call is not among them.
    const auto result = (*bench)->run(
        {.operation = *wanted, .bytes = size, .gpus_per_host = per_host, .alone = std::optional(Duration())});
    if (!result) return tl::unexpected(result.error());
    ReplayedCalls row{.communicator = communicator,
                      .operation = operation,
                      .kernel = times.kernel,
                      .bytes = bytes,
                      .shape = {.hosts = hosts, .gpus_per_host = per_host},
                      .calls = times.own.size(),
                      .records = times.records,
                      .measured = std::ranges::min(times.own),
                      .median = median_time(times.own),
                      .simulated = result->time,
                      .algorithm = result->algorithm,
                      .protocol = result->protocol};
    if (row.records > 1) row.measured = row.median;
    if (options.kernels) row.own = own_time_of(times.calls, hosts * per_host);
    replay.rows.push_back(std::move(row));
  }
  return replay;
}

std::vector<PredictedMeasured> pairs_of(const std::vector<ReplayedCalls>& rows, SizeBand band) {
  std::vector<PredictedMeasured> pairs;
  for (const ReplayedCalls& row : rows) {
    if (band_of(row.bytes) != band || row.own != OwnTime::kRecorded) continue;
    pairs.push_back({.predicted = to_seconds(row.simulated), .measured = to_seconds(row.measured)});
  }
  return pairs;
}

}  // namespace ringwright::validation
