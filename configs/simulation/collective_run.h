// One collective on a machine, as nccl-tests runs it: every rank calls it repeatedly, and the result is the mean time.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "configs/scenario/scenario.h"
#include "core/base/diagnostic.h"
#include "core/base/units.h"
#include "core/plan/task_graph.h"
#include "network_models/builtin.h"

namespace ringwright::configs {

// The tests of nccl-tests. kSendReceive: every rank sends to the next and receives from the previous one.
enum class CollectiveOperation : std::uint8_t {
  kAllReduce,
  kAllGather,
  kReduceScatter,
  kAllToAll,
  kBroadcast,
  kReduce,
  kSendReceive,
};

struct OperationName {
  CollectiveOperation operation;
  std::string_view name;  // "all_reduce"; the program of nccl-tests is "all_reduce_perf"
};
[[nodiscard]] std::span<const OperationName> collective_operations();
[[nodiscard]] std::string_view to_string(CollectiveOperation operation);
// Takes "all_reduce", "all_reduce_perf", "allreduce", "AllReduce"; empty for other words.
[[nodiscard]] std::optional<CollectiveOperation> parse_operation(std::string_view text);
// algbw times this is busbw (nccl-tests, doc/PERFORMANCE.md).
[[nodiscard]] double bus_factor(CollectiveOperation operation, int ranks);
// Whether `bytes` is a buffer of which every rank has an equal share.
[[nodiscard]] bool cuts_buffer_over_ranks(CollectiveOperation operation);
// The requested size rounded as nccl-tests does, so that every rank has an equal share: whole elements, and whole
// shares for operations that divide the buffer among the ranks.
[[nodiscard]] Bytes rounded_size(CollectiveOperation operation, Bytes size, int ranks, int element_bytes);

// GPUs whose calls one thread issues where nothing else is said: all of one host, as nccl-tests' README starts it, and
// one on several hosts.
[[nodiscard]] int usual_gpus_per_process(const Cluster& cluster, int gpus_per_host);

struct CollectiveRequest {
  CollectiveOperation operation = CollectiveOperation::kAllReduce;
  Bytes bytes;           // above 0; as nccl-tests counts: the larger of a rank's two buffers
  int gpus_per_host = 0; // the first so many GPUs of each host take part; 0: all
  int warmup = 0;        // calls before those that are measured
  int iterations = 1;    // calls that are measured, back to back
  int gpus_per_process = 1;  // one thread issues the calls of so many GPUs, one after another (nccl-tests' -g)
  // Each call is issued on an idle device, and the time until the library has it counts, this long (0: the kernel
  // alone); otherwise calls are issued in a row, and the host is ahead of the device or limits the rate.
  std::optional<Duration> alone;
};

class KnownOverheads;

struct CollectiveResult {
  Duration time;  // of one call
  std::string algorithm;
  std::string protocol;  // of the kernels, simulated or added to the messages; empty where they do not count
  int channels = 0;      // 0 where they do not count
  std::optional<Duration> formula;  // by the library's own cost model, where there is one
  std::uint64_t events = 0;
  std::vector<IgnoredKey> ignored = {};  // settings without effect on this call, besides those of the scenario's log
};

// Retains the built network between calls, so that a sweep over sizes builds it once. The scenario must outlive it.
class CollectiveBench {
 public:
  explicit CollectiveBench(const Scenario& scenario);
  explicit CollectiveBench(Scenario&&) = delete;
  ~CollectiveBench();

  [[nodiscard]] int ranks(int gpus_per_host) const;
  // Fails when the chosen algorithm cannot carry out the call, or the call never ends.
  [[nodiscard]] Result<CollectiveResult> run(const CollectiveRequest& request);

 private:
  const Scenario& scenario_;
  network_models::Network network_;
  std::unique_ptr<KnownOverheads> known_;  // and the channels that the library found
};

// The work of every rank: `request` without its times. Ranks of GPUs that take no part do nothing.
[[nodiscard]] TaskGraph collective_graph(const Cluster& cluster, const CollectiveRequest& request);

}  // namespace ringwright::configs
