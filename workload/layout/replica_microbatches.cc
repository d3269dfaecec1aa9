#include "workload/layout/replica_microbatches.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <numeric>
#include <queue>
#include <string>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/base/check.h"

namespace ringwright::workload {
namespace {

constexpr std::string_view kSplitCode = "E592";

constexpr std::array kMicrobatchSplits = {
    Option{"even", "as many for each replica"},
    Option{"balanced", "in proportion to the speed of a replica's GPUs, so that all end together"}};

// The key that asks for an uneven split.
std::string_view key_of(const ParallelOptions& options) {
  return options.microbatch_split == MicrobatchSplit::kListed ? "microbatches_per_replica" : "microbatch_split";
}

// Replicas with different numbers of microbatches must call the same collectives among each other.
std::string why_not(const ParallelOptions& options) {
  if (options.experts.ep > 1) return "experts exchange tokens among replicas in each microbatch (ep > 1)";
  if (options.sharding.parameters) {
    return "parameters are gathered among replicas in each microbatch (zero.stage 3, fsdp)";
  }
  if (options.gradient_reduction == GradientReduction::kMicrobatch) {
    return "gradients are reduced among replicas in each microbatch";
  }
  if (options.listed) return "the file parallel.schedule_file lists the microbatches of every replica";
  if (options.virtual_stages > 1 || options.placement != Placement::kLooped || !options.flushes()) {
    return fmt::format("'{}' is a schedule of one number of microbatches", options.schedule);
  }
  return {};
}

bool check_listed_microbatches(ConfigMap& parallel, std::int64_t all, const ParallelOptions& options) {
  const std::vector<std::int64_t>& listed = options.replica_microbatches;
  const auto refuse = [&](const std::string& why) {
    parallel.error("microbatches_per_replica", std::string(kSplitCode), why);
    return false;
  };
  if (listed.size() != static_cast<std::size_t>(options.dp)) {
    return refuse(fmt::format("'{}' has {} entries and dp = {} replicas", parallel.path_of("microbatches_per_replica"),
                              listed.size(), options.dp));
  }
  const std::int64_t sum = std::accumulate(listed.begin(), listed.end(), std::int64_t{0});
  if (sum == all) return true;
  return refuse(fmt::format("'{}' add up to {}, and global_batch / micro_batch = {}",
                            parallel.path_of("microbatches_per_replica"), sum, all));
}

}  // namespace

void read_microbatch_split(ConfigMap& parallel, ParallelOptions& options) {
  const std::string split = parallel.choice({.name = "microbatch_split",
                                             .doc = "how data-parallel replicas share the microbatches of a step",
                                             .fallback = std::string("even")},
                                            kMicrobatchSplits);
  if (split == "balanced") options.microbatch_split = MicrobatchSplit::kBalanced;
  options.replica_microbatches = parallel.integers({.name = "microbatches_per_replica",
                                                    .doc = "microbatches of each data-parallel replica, instead of "
                                                           "microbatch_split",
                                                    .min = 1,
                                                    .max = 1'000'000});
  if (parallel.documenting()) options.replica_microbatches.clear();
  if (options.replica_microbatches.empty()) return;
  if (parallel.has("microbatch_split")) {
    parallel.error("microbatch_split", std::string(kSplitCode),
                   fmt::format("'{}' and '{}' both share the microbatches", parallel.path_of("microbatch_split"),
                               parallel.path_of("microbatches_per_replica")),
                   "leave one of them out");
  }
  options.microbatch_split = MicrobatchSplit::kListed;
}

bool check_microbatch_split(ConfigMap& parallel, const ParallelContext& context, ParallelOptions& options) {
  if (options.microbatch_split == MicrobatchSplit::kEven) return true;
  const TrainingOptions& training = context.training;
  const auto refuse = [&](const std::string& why, const std::string& remedy) {
    parallel.error(key_of(options), std::string(kSplitCode), why, remedy);
    options.replica_microbatches.clear();
    return false;
  };
  if (const std::string why = why_not(options); !why.empty()) {
    return refuse(fmt::format("replicas cannot have different numbers of microbatches: {}", why),
                  "share them evenly: leave the key out");
  }
  const std::int64_t all = training.global_batch / training.micro_batch;
  if (training.global_batch % training.micro_batch != 0 || all < options.dp) {
    return refuse(fmt::format("{} = {} is not a whole number of microbatches of {} = {} with one or more for each of "
                              "dp = {} replicas",
                              context.training_map.path_of("global_batch"), training.global_batch,
                              context.training_map.path_of("micro_batch"), training.micro_batch, options.dp),
                  "a larger or divisible global_batch");
  }
  if (options.microbatch_split == MicrobatchSplit::kListed) {
    if (check_listed_microbatches(parallel, all, options)) return true;
    options.replica_microbatches.clear();
    return false;
  }
  const std::int64_t each = all / options.dp;
  options.replica_microbatches.assign(static_cast<std::size_t>(options.dp), each);
  for (std::int64_t i = 0; i < all % options.dp; ++i) ++options.replica_microbatches[static_cast<std::size_t>(i)];
  return true;
}

namespace {

std::int64_t ended_by(const ReplicaTime& replica, double seconds) {
  return std::max<std::int64_t>(1, static_cast<std::int64_t>(std::floor((seconds - replica.fill) / replica.slowest)));
}

// The most microbatches of each replica that end by a time such that all together are no more than these.
std::vector<std::int64_t> first_shares(std::span<const ReplicaTime> replicas, std::int64_t microbatches) {
  constexpr int kHalvings = 100;
  const auto all_by = [&](double seconds) {
    std::int64_t sum = 0;
    for (const ReplicaTime& replica : replicas) sum += ended_by(replica, seconds);
    return sum;
  };
  double low = 0.0;
  double high = 0.0;
  for (const ReplicaTime& replica : replicas) high = std::max(high, replica.of(microbatches));
  for (int i = 0; i < kHalvings; ++i) {
    const double middle = (low + high) / 2.0;
    (all_by(middle) <= microbatches ? low : high) = middle;
  }
  std::vector<std::int64_t> shares;
  for (const ReplicaTime& replica : replicas) shares.push_back(ended_by(replica, low));
  return shares;
}

}  // namespace

// Greedy: each microbatch goes to the replica that would end first with it. That is optimal, since the end of a replica
// only grows with its number: no later one makes an earlier choice wrong. All that end by one time come before others,
// so they are given at once.
std::vector<std::int64_t> share_by_speed(std::span<const ReplicaTime> replicas, std::int64_t microbatches) {
  const auto count = static_cast<std::int64_t>(replicas.size());
  CHECK(count > 0 && microbatches >= count, "every replica gets a microbatch");
  std::vector<std::int64_t> shares = first_shares(replicas, microbatches);
  using Next = std::pair<double, std::size_t>;  // the end of a replica with one more, and the replica
  std::priority_queue<Next, std::vector<Next>, std::greater<>> next;
  for (std::size_t i = 0; i < shares.size(); ++i) next.emplace(replicas[i].of(shares[i] + 1), i);
  for (auto given = std::accumulate(shares.begin(), shares.end(), std::int64_t{0}); given < microbatches; ++given) {
    const std::size_t first = next.top().second;
    next.pop();
    ++shares[first];
    next.emplace(replicas[first].of(shares[first] + 1), first);
  }
  return shares;
}

void balance_microbatches(ConfigMap& parallel, std::span<const ReplicaTime> replicas, const TrainingOptions& training,
                          ParallelOptions& options) {
  if (options.microbatch_split != MicrobatchSplit::kBalanced || options.replica_microbatches.empty()) return;
  options.replica_microbatches = share_by_speed(replicas, training.global_batch / training.micro_batch);
  const auto& shares = options.replica_microbatches;
  if (std::ranges::adjacent_find(shares, std::ranges::not_equal_to()) == shares.end()) {
    options.replica_microbatches.clear();
    parallel.ignore("microbatch_split", "the replicas are equally fast, and share the microbatches evenly");
    return;
  }
  parallel.assume("microbatches_per_replica", fmt::format("{}", fmt::join(shares, " ")),
                  "microbatch_split: balanced, by the modelled time of each replica's slowest stage");
}

}  // namespace ringwright::workload
