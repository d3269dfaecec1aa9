#include "collectives/nccl/search/search_bound.h"

#include <algorithm>
#include <limits>
#include <set>

namespace ringwright::collectives {
namespace {

constexpr int kUnbounded = std::numeric_limits<int>::max();

// Bounds of rings and trees from the rates of single links; conflicts of two channels on one link are ignored.
class Bound {
 public:
  Bound(const NcclTopology& topology, const NcclChannels& trial) : topology_(topology), trial_(trial) {}

  [[nodiscard]] int channels() const {
    int most = trial_.most;
    if (topology_.nets() > 0) most = std::min(most, ports());
    if (topology_.gpus() > 1) most = std::min(most, chains());
    return most;
  }

  // Of one channel, at least.
  [[nodiscard]] int hops() const {
    const int gpus = topology_.gpus();
    int inside = kUnbounded;
    for (int from = 0; from < gpus; ++from) {
      for (int to = 0; to < gpus; ++to) {
        if (from != to) inside = std::min(inside, topology_.route(from, to).hops());
      }
    }
    const bool ring = trial_.pattern == NcclPattern::kRing;
    if (topology_.nets() == 0) return gpus > 1 ? inside * (ring ? gpus : gpus - 1) : 0;
    int in = kUnbounded;
    int out = kUnbounded;
    for (int gpu = 0; gpu < gpus; ++gpu) {
      for (int port = topology_.net(0); port < topology_.net(topology_.nets()); ++port) {
        in = std::min(in, topology_.route(port, gpu).hops());
        out = std::min(out, topology_.route(gpu, port).hops());
      }
    }
    const int remedies = trial_.pattern == NcclPattern::kBalancedTree ? 2 : 1;
    return in + remedies * out + (gpus > 1 ? inside * (gpus - 1) : 0);
  }

 private:
  [[nodiscard]] bool usable(int from, int to, int speed, NcclPath worst) const {
    const NcclTopology::Route& route = topology_.route(from, to);
    if (route.path > worst || route.rate < speed) return false;
    return trial_.pattern == NcclPattern::kRing || topology_.route(to, from).path <= worst;
  }
  [[nodiscard]] bool enters(int port, int gpu) const { return usable(port, gpu, trial_.between, trial_.type_between); }
  [[nodiscard]] bool leaves(int gpu, int port) const {
    const int speed = trial_.pattern == NcclPattern::kBalancedTree ? trial_.between / 2 : trial_.between;
    return usable(gpu, port, speed, trial_.type_between);
  }

  // Whether a channel that entered by `port` at `first` can leave the host by `by`.
  [[nodiscard]] bool returns(int first, int by) const {
    const bool alone = topology_.gpus() == 1;
    if (trial_.pattern != NcclPattern::kRing && !leaves(first, by)) return false;
    if (trial_.pattern == NcclPattern::kTree) return true;
    for (int gpu = 0; gpu < topology_.gpus(); ++gpu) {
      if ((gpu != first || alone) && leaves(gpu, by)) return true;
    }
    return false;
  }

  [[nodiscard]] int ports() const {
    int sum = 0;
    for (int net = 0; net < topology_.nets(); ++net) {
      const int port = topology_.net(net);
      int rate = 0;
      for (int gpu = 0; gpu < topology_.gpus(); ++gpu) {
        if (enters(port, gpu) && returns_somewhere(gpu, port)) rate = std::max(rate, topology_.route(port, gpu).rate);
      }
      sum += std::min(rate, topology_.net_rate()) / trial_.between;
    }
    return sum;
  }

  [[nodiscard]] bool returns_somewhere(int first, int port) const {
    if (trial_.cross_nic == 0 || trial_.pattern == NcclPattern::kTree) return returns(first, port);
    for (int other = topology_.net(0); other < topology_.net(topology_.nets()); ++other) {
      if (returns(first, other)) return true;
    }
    return false;
  }

  // Every GPU forwards, except the last of a chain.
  [[nodiscard]] int chains() const {
    const int gpus = topology_.gpus();
    const bool closed = topology_.nets() == 0 && trial_.pattern == NcclPattern::kRing;
    int sum = 0;
    int least = kUnbounded;
    for (int from = 0; from < gpus; ++from) {
      std::set<int> doors;
      for (int to = 0; to < gpus; ++to) {
        if (from != to && usable(from, to, trial_.inside, trial_.type_inside)) {
          doors.insert(topology_.route(from, to).links[0]);
        }
      }
      int sends = 0;
      for (const int link : doors) sends += topology_.links()[static_cast<std::size_t>(link)].rate / trial_.inside;
      sum += std::min(sends, trial_.most);
      least = std::min(least, sends);
    }
    return closed ? least : sum / (gpus - 1);
  }

  const NcclTopology& topology_;
  const NcclChannels& trial_;
};

}  // namespace

bool is_hopeless(const NcclTopology& topology, const NcclChannels& trial, const NcclChannels& best) {
  if (trial.pattern == NcclPattern::kNvls || trial.pattern == NcclPattern::kCollnetDirect) return false;
  const Bound bound(topology, trial);
  const int most = bound.channels();
  if (most < std::max(1, trial.least)) return true;
  if (best.count == 0) return false;
  const double known = to_beat(best, trial.cross_nic, topology.crossing_gain());
  const double bounded = most * trial.inside;
  if (bounded < known) return true;
  if (bounded > known) return false;
  // Equal bandwidth is better only with fewer hops.
  if (trial.pattern != best.pattern || trial.cross_nic != best.cross_nic) return true;
  return most * bound.hops() >= best.hops;
}

}  // namespace ringwright::collectives
