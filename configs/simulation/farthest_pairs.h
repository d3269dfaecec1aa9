// For messages between hosts, the longest path that is as wide as theirs: formulas of a search take it for all of them.
//
// Whether neighbours in a pipeline share a leaf differs from replica to replica, and with it the latency of their
// messages, by a microsecond or two. Replicas that differ by nothing else are then one class of ranks. A step is never
// predicted to be shorter by this; docs/performance.md has the difference.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "core/base/ids.h"
#include "core/base/units.h"
#include "core/ports/router.h"

namespace ringwright::configs {

// Of one network of equal hosts. Thread-safe, and independent of the order of calls.
class FarthestPairs {
 public:
  struct Machine {
    const Router& router;
    std::size_t gpus = 0;
    std::size_t per_host = 1;
  };
  struct Ends {
    RankId from;
    RankId to;
  };
  // The ends of the longest path between the same GPUs of two hosts, from the first host. The pair's own where it is of
  // one host, or no path from there is as wide and at least as long.
  [[nodiscard]] Ends like(const Machine& machine, const Ends& ends);

 private:
  struct Path {
    double width = 0.0;  // bytes per second
    Duration latency;
    Ends ends;
  };
  using Gpus = std::pair<std::size_t, std::size_t>;
  [[nodiscard]] static Path path_of(const Router& router, const Ends& ends);
  [[nodiscard]] static std::vector<Path> longest_of(const Machine& machine, const Gpus& gpus);

  std::mutex mutex_;
  std::map<Gpus, std::vector<Path>> longest_;  // by width
  struct Known {
    RankId to;
    Ends like;
  };
  // By sender: its few receivers. Ranks ask in order, so that entries are found in order in memory.
  std::vector<std::vector<Known>> known_;
};

// Another router with whole paths replaced by those; all must outlive it.
[[nodiscard]] std::unique_ptr<Router> make_farthest_router(std::unique_ptr<Router> paths,
                                                           const FarthestPairs::Machine& machine, FarthestPairs& pairs);

}  // namespace ringwright::configs
