// NCCL's search for channels of one pattern at one speed (graph/search.cc): paths through all GPUs of a host, each
// taking its speed from every link that it uses, tried in NCCL's order until enough are found or the steps are used up.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "collectives/nccl/search/search_order.h"
#include "collectives/nccl/topology/topology.h"

namespace ringwright::collectives {

enum class NcclPattern : std::uint8_t {
  kBalancedTree,  // network traffic on two GPUs: the parent and a child on the first, the other child on the second
  kSplitTree,     // the parent on the first, the children on the second
  kTree,          // all on one
  kRing,
  kNvls,
  kCollnetDirect,
};

// Input and result of a search. Speeds in MB/s.
struct NcclChannels {
  NcclPattern pattern = NcclPattern::kRing;
  int cross_nic = 0;  // 1: may leave by another NIC than it entered; 2: channels in pairs that swap NICs
  int least = 1;
  int most = 1;
  int inside = 0;
  int between = 0;
  NcclPath type_inside = NcclPath::kNvlink;
  NcclPath type_between = NcclPath::kPix;
  bool same = true;  // all channels pass the GPUs in one order

  int count = 0;
  int hops = 0;
  std::vector<int> gpus;  // from channel * GPUs + step; for in-switch reduction only the head
  std::vector<int> nets;  // from channel * 2: entered by, left by
};

// The bandwidth that channels with `cross_nic` must exceed to be better than `best` (ncclTopoCompareGraphs).
[[nodiscard]] double to_beat(const NcclChannels& best, int cross_nic, double crossing_gain);

class NcclSearch {
 public:
  // The topology must outlive the search.
  explicit NcclSearch(const NcclTopology& topology);

  static constexpr int kPerfect = -1;  // steps left when the requested number of channels was found

  // Tries `trial` and writes what is better than `best` over it. Returns the steps left.
  int run(NcclChannels trial, int steps, NcclChannels& best);

 private:
  enum class Order : std::uint8_t { kFree, kByNumber, kAsBefore };
  // Number of GPUs after which a channel returns to the network or to its first GPU; -1: not (any more).
  struct Goal {
    int net = -1;
    int first = -1;
  };

  void next_channel();
  void from_nets(Goal goal);
  void from_net(int net, Goal goal);
  [[nodiscard]] bool from_head(int net, Goal goal);
  void from_gpus(Goal goal);
  void try_gpu(int from, int gpu, int step, Goal goal, Order order);
  void visit(int gpu, int step, Goal goal, Order order);
  void go_back_to_net(int gpu, int step, Goal goal, Order order);
  void go_on(int gpu, int step, Goal goal, Order order);
  void close_ring(int gpu);
  void try_nvls(int head);
  void try_collnet_direct(int head);
  void finish();
  [[nodiscard]] bool better() const;

  [[nodiscard]] bool follow(int from, int to, double part);
  void undo(int from, int to, double part);
  [[nodiscard]] int speed_between(int from, int to, double part) const;
  [[nodiscard]] bool allowed(int from, int to) const;
  [[nodiscard]] bool may_return_by(int net, int step) const;
  // Writes the GPUs to try to the end of the stack.
  void push_next(int gpu, Goal goal, int step);
  void push_neighbours(int gpu, std::size_t first);
  [[nodiscard]] int before(int step) const;  // the GPU of the previous channel at this step
  [[nodiscard]] bool used(int gpu) const;

  // What a channel uses of one link, and of its reverse direction.
  struct LinkCost {
    int link = 0;
    int other = 0;
    bool dear = false;  // 6/5: Intel CPUs forward writes between GPUs in small packets
    int back = 0;       // eighths of that: GPUs before Ampere answer writes into them
  };
  void list_link_costs();
  void give_back(const LinkCost& link_cost, int speed);
  [[nodiscard]] std::size_t pair(int from, int to) const;

  const NcclTopology& topology_;
  std::vector<int> left_;            // of each link
  std::vector<int> net_left_;        // of each port
  std::vector<std::uint64_t> used_;  // by GPU: channels that pass it
  NcclOrder order_;
  std::vector<int> stack_;  // GPUs to try, of all steps that are open
  int ends_ = 0;            // GPUs, ports, and the switch
  std::vector<LinkCost> link_costs_;
  std::vector<std::size_t> first_link_cost_;  // by pair
  NcclChannels trial_;
  NcclChannels* best_ = nullptr;
  int steps_ = 0;
};

}  // namespace ringwright::collectives
