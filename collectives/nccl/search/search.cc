#include "collectives/nccl/search/search.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>
#include <utility>

#include "core/base/index.h"

namespace ringwright::collectives {
namespace {

bool is_tree(NcclPattern pattern) {
  return pattern == NcclPattern::kBalancedTree || pattern == NcclPattern::kSplitTree || pattern == NcclPattern::kTree;
}

bool has_heads(NcclPattern pattern) {
  return pattern == NcclPattern::kNvls || pattern == NcclPattern::kCollnetDirect;
}

// Whole GB/s, as in NCCL's accounting of a port.
int whole(int speed) {
  return speed / 1000 * 1000;
}

}  // namespace

double to_beat(const NcclChannels& best, int cross_nic, double crossing_gain) {
  return best.count * best.inside * (1.0 - (best.cross_nic - cross_nic) * crossing_gain);
}

NcclSearch::NcclSearch(const NcclTopology& topology) : topology_(topology), order_(topology) {
  for (const NcclTopology::Link& link : topology.links()) left_.push_back(link.rate);
  net_left_.assign(at(topology.nets()), topology.net_rate());
  used_.assign(at(topology.gpus()), 0);
  list_link_costs();
}

int NcclSearch::run(NcclChannels trial, int steps, NcclChannels& best) {
  trial_ = std::move(trial);
  trial_.count = 0;
  trial_.hops = 0;
  trial_.gpus.assign(at(trial_.most * topology_.gpus()), 0);
  trial_.nets.assign(at(trial_.most * 2), 0);
  best_ = &best;
  steps_ = steps;
  next_channel();
  return steps_;
}

bool NcclSearch::used(int gpu) const {
  return (used_[at(gpu)] >> trial_.count & 1U) != 0;
}

int NcclSearch::before(int step) const {
  return trial_.gpus[at((trial_.count - 1) * topology_.gpus() + step)];
}

void NcclSearch::next_channel() {
  const int last = topology_.gpus() - 1;
  const bool ring = trial_.pattern == NcclPattern::kRing;
  if (topology_.nets() == 0) return from_gpus({.net = -1, .first = ring ? last : -1});
  from_nets({.net = ring ? last : trial_.pattern == NcclPattern::kSplitTree ? 1 : 0, .first = -1});
}

void NcclSearch::from_gpus(Goal goal) {
  constexpr int kNowhere = -1;
  if (trial_.pattern == NcclPattern::kNvls) return try_gpu(kNowhere, trial_.count, 0, goal, Order::kFree);
  if (trial_.count == 0) {
    try_gpu(kNowhere, 0, 0, goal, Order::kByNumber);
  } else {
    try_gpu(kNowhere, before(0), 0, goal, Order::kAsBefore);
  }
  if (trial_.same && trial_.count > 0) return;
  for (int gpu = 0; gpu < topology_.gpus(); ++gpu) try_gpu(kNowhere, gpu, 0, goal, Order::kFree);
}

void NcclSearch::from_nets(Goal goal) {
  const std::vector<int>& nets = topology_.nets_near(-1, trial_.type_between);
  const int count = static_cast<int>(nets.size());
  const int speed = whole(trial_.between);
  const bool heads = has_heads(trial_.pattern);
  const bool second_of_pair = trial_.pattern == NcclPattern::kRing && trial_.cross_nic == 2 && trial_.count % 2 == 1;
  for (int i = 0; i < count && steps_ > 0; ++i) {
    const int net = nets[at((trial_.count + i) % count)];
    if (net_left_[at(net)] < speed) continue;
    if (second_of_pair && net != trial_.nets[at((trial_.count - 1) * 2 + 1)]) continue;
    trial_.nets[at(trial_.count * 2)] = net;
    net_left_[at(net)] -= speed;
    bool tried = false;
    if (!heads) {
      from_net(net, goal);
    } else if (trial_.count < count) {
      tried = from_head(net, goal);
    }
    net_left_[at(net)] += speed;
    if (tried) return;
  }
}

// One head is searched next to each port; a GPU is a head only once.
bool NcclSearch::from_head(int net, Goal goal) {
  const int gpu = topology_.gpu_of_net(net);
  if (gpu < 0) return false;
  for (int channel = 0; channel < trial_.count; ++channel) {
    if (trial_.gpus[at(channel * topology_.gpus())] == gpu) return false;
  }
  try_gpu(topology_.net(net), gpu, 0, goal, Order::kFree);
  return true;
}

void NcclSearch::from_net(int net, Goal goal) {
  const int port = topology_.net(net);
  if (trial_.count > 0) try_gpu(port, before(0), 0, goal, Order::kAsBefore);
  if (trial_.count > 0 && trial_.same) return;
  if (trial_.count == 0 && !topology_.has_switch()) {
    // The GPUs by number, as a baseline: not counted, and with a short time limit.
    constexpr int kShort = 1 << 10;
    const int kept = std::exchange(steps_, kShort);
    try_gpu(port, 0, 0, goal, Order::kByNumber);
    steps_ = steps_ == kPerfect ? kPerfect : kept;
  }
  int rate = 0;
  int hops = 0;
  for (int gpu = 0; gpu < topology_.gpus(); ++gpu) {
    const NcclTopology::Route& route = topology_.route(port, gpu);
    if (route.rate < rate || (route.rate == rate && route.hops() >= hops)) continue;
    rate = route.rate;
    hops = route.hops();
  }
  if (rate < whole(trial_.between)) return;
  const int gpus = topology_.gpus();
  for (int i = 0; i < gpus && steps_ > 0; ++i) {
    const int gpu = (trial_.count + i) % gpus;
    const NcclTopology::Route& route = topology_.route(port, gpu);
    if (route.rate == rate && route.hops() == hops) try_gpu(port, gpu, 0, goal, Order::kFree);
  }
}

std::size_t NcclSearch::pair(int from, int to) const {
  const auto end = [&](int device) { return device == topology_.nvswitch() ? ends_ - 1 : device; };
  return at(end(from) * ends_ + end(to));
}

void NcclSearch::list_link_costs() {
  using Device = NcclTopology::Device;
  const NcclHost& host = topology_.host();
  std::vector<int> ends;
  for (int device = 0; device < topology_.net(topology_.nets()); ++device) ends.push_back(device);
  if (topology_.has_switch()) ends.push_back(topology_.nvswitch());
  ends_ = static_cast<int>(ends.size());
  for (const int from : ends) {
    for (const int to : ends) {
      first_link_cost_.push_back(link_costs_.size());
      const NcclTopology::Route& route = topology_.route(from, to);
      const bool from_gpu = topology_.kind(from) == Device::kGpu;
      const bool small_packets = route.path == NcclPath::kPhb && from_gpu && host.processor == Processor::kIntel;
      for (const int index : route.links) {
        const NcclTopology::Link& link = topology_.links()[at(index)];
        const Device end = topology_.kind(link.to);
        LinkCost link_cost{
            .link = index, .other = link.back, .dear = small_packets && link.wire == NcclTopology::Wire::kPci};
        if (end == Device::kGpu && host.compute_capability < 80 && !from_gpu) link_cost.back += 1;
        const bool power = host.processor == Processor::kPower && link.wire == NcclTopology::Wire::kNvlink;
        if (end == Device::kCpu && power) link_cost.back += 8;
        link_costs_.push_back(link_cost);
      }
    }
  }
  first_link_cost_.push_back(link_costs_.size());
}

int NcclSearch::speed_between(int from, int to, double part) const {
  const auto outside = [&](int device) { return device >= topology_.gpus() && device != topology_.nvswitch(); };
  const int speed = outside(from) || outside(to) ? trial_.between : trial_.inside;
  return static_cast<int>(std::lround(speed * part));
}

bool NcclSearch::allowed(int from, int to) const {
  const auto outside = [&](int device) { return topology_.kind(device) == NcclTopology::Device::kNet; };
  const bool network = outside(from) || outside(to);
  if (!network && has_heads(trial_.pattern)) return true;
  const NcclPath worst = network ? trial_.type_between : trial_.type_inside;
  return topology_.route(from, to).path <= worst &&
         (!is_tree(trial_.pattern) || topology_.route(to, from).path <= worst);
}

// Takes the speed from every link of the path; fails when a link has too little, or the path type is worse.
bool NcclSearch::follow(int from, int to, double part) {
  if (!allowed(from, to)) return false;
  const int speed = speed_between(from, to, part);
  const std::size_t route = pair(from, to);
  for (std::size_t i = first_link_cost_[route]; i < first_link_cost_[route + 1]; ++i) {
    const LinkCost& link_cost = link_costs_[i];
    const int there = link_cost.dear ? speed * 6 / 5 : speed;
    const int back = link_cost.back * there / 8;
    if (left_[at(link_cost.link)] >= there && (back == 0 || left_[at(link_cost.other)] >= back)) {
      left_[at(link_cost.link)] -= there;
      left_[at(link_cost.other)] -= back;
      continue;
    }
    for (std::size_t taken = first_link_cost_[route]; taken < i; ++taken) give_back(link_costs_[taken], speed);
    return false;
  }
  trial_.hops += static_cast<int>(first_link_cost_[route + 1] - first_link_cost_[route]);
  return true;
}

void NcclSearch::give_back(const LinkCost& link_cost, int speed) {
  const int there = link_cost.dear ? speed * 6 / 5 : speed;
  left_[at(link_cost.link)] += there;
  left_[at(link_cost.other)] += link_cost.back * there / 8;
}

void NcclSearch::undo(int from, int to, double part) {
  const int speed = speed_between(from, to, part);
  const std::size_t route = pair(from, to);
  for (std::size_t i = first_link_cost_[route]; i < first_link_cost_[route + 1]; ++i) give_back(link_costs_[i], speed);
  trial_.hops -= static_cast<int>(first_link_cost_[route + 1] - first_link_cost_[route]);
}

void NcclSearch::try_gpu(int from, int gpu, int step, Goal goal, Order order) {
  if (steps_ <= 0 || (from >= 0 && !follow(from, gpu, 1.0))) return;
  const std::uint64_t flag = std::uint64_t{1} << trial_.count;
  used_[at(gpu)] ^= flag;
  visit(gpu, step, goal, order);
  used_[at(gpu)] ^= flag;
  if (from >= 0) undo(from, gpu, 1.0);
}

void NcclSearch::visit(int gpu, int step, Goal goal, Order order) {
  if (steps_ <= 0) return;
  --steps_;
  const int last = topology_.gpus() - 1;
  trial_.gpus[at(trial_.count * topology_.gpus() + step)] = gpu;
  if (step == goal.net) return go_back_to_net(gpu, step, goal, order);
  if (trial_.pattern == NcclPattern::kNvls) return try_nvls(gpu);
  if (trial_.pattern == NcclPattern::kCollnetDirect) return try_collnet_direct(gpu);
  if (step < last) return go_on(gpu, step, goal, order);
  if (step == goal.first) return close_ring(gpu);
  finish();
}

bool NcclSearch::may_return_by(int net, int step) const {
  const int start = trial_.nets[at(trial_.count * 2)];
  if (trial_.pattern == NcclPattern::kTree && net != start) return false;
  if (trial_.pattern == NcclPattern::kRing && trial_.cross_nic == 2) {
    return trial_.count % 2 == 0 || net == trial_.nets[at((trial_.count - 1) * 2)];
  }
  if (trial_.cross_nic == 0 && net != start) return false;
  const bool second = trial_.pattern == NcclPattern::kBalancedTree && step > 0;
  return !second || net == trial_.nets[at(trial_.count * 2 + 1)];
}

void NcclSearch::go_back_to_net(int gpu, int step, Goal goal, Order order) {
  const bool halved = trial_.pattern == NcclPattern::kBalancedTree;
  const double part = halved ? 0.5 : 1.0;
  const Goal rest{.net = halved && step == 0 ? 1 : -1, .first = goal.first};
  for (const int net : topology_.nets_near(gpu, trial_.type_between)) {
    if (steps_ <= 0) return;
    if (!may_return_by(net, step) || !follow(gpu, topology_.net(net), part)) continue;
    trial_.nets[at(trial_.count * 2 + 1)] = net;
    visit(gpu, step, rest, order);
    undo(gpu, topology_.net(net), part);
  }
}

void NcclSearch::go_on(int gpu, int step, Goal goal, Order order) {
  if (order == Order::kByNumber) return try_gpu(gpu, step + 1, step + 1, goal, order);
  if (order == Order::kAsBefore) return try_gpu(gpu, before(step + 1), step + 1, goal, order);
  const std::size_t first = stack_.size();
  push_next(gpu, goal, step);
  const std::size_t last = stack_.size();
  for (std::size_t i = first; i < last && steps_ > 0; ++i) try_gpu(gpu, stack_[i], step + 1, goal, order);
  stack_.resize(first);
}

void NcclSearch::close_ring(int gpu) {
  const int first = trial_.gpus[at(trial_.count * topology_.gpus())];
  if (!follow(gpu, first, 1.0)) return;
  finish();
  undo(gpu, first, 1.0);
}

// GPUs that the channel has not passed, in the search's order; in reverse if the network is far and all are equal.
void NcclSearch::push_next(int gpu, Goal goal, int step) {
  const std::size_t first = stack_.size();
  const int net = goal.net >= 0 ? trial_.nets[at(trial_.count * 2)] : -1;
  for (const int to : order_.after(gpu, net)) {
    if (!used(to)) stack_.push_back(to);
  }
  if (topology_.has_switch()) return push_neighbours(gpu, first);
  const bool far = goal.net >= 0 && goal.net != step + 1;
  if (far && order_.identical(gpu, std::span(stack_).subspan(first))) {
    std::reverse(stack_.begin() + static_cast<std::ptrdiff_t>(first), stack_.end());
  }
}

// Switches favour few peers: only the GPUs before and after this one are tried.
void NcclSearch::push_neighbours(int gpu, std::size_t first) {
  const int gpus = topology_.gpus();
  const int before = (gpu + gpus - 1) % gpus;
  const int after = (gpu + 1) % gpus;
  stack_.resize(first);
  const bool ring = trial_.pattern == NcclPattern::kRing;
  const bool tree = trial_.pattern == NcclPattern::kTree;
  const auto push = [&](int neighbour) {
    if (!used(neighbour) && neighbour != gpu) stack_.push_back(neighbour);
  };
  if (!tree) push(ring ? before : after);
  if (tree) push(after);
  if (!tree && before != after) push(ring ? after : before);
}

// The switch reads from and writes to all GPUs; the head's link carries the channel twice.
void NcclSearch::try_nvls(int head) {
  const int gpus = topology_.gpus();
  const int hub = topology_.nvswitch();
  const auto part = [&](int gpu) { return gpu == head ? 2.0 : 1.0; };
  int down = 0;
  while (down < gpus && follow(hub, down, part(down))) ++down;
  int up = 0;
  if (down == gpus) {
    while (up < gpus && follow(up, hub, part(up))) ++up;
    if (up == gpus) finish();
  }
  while (up-- > 0) undo(up, hub, part(up));
  while (down-- > 0) undo(hub, down, part(down));
}

// The head sends its share to every GPU and receives theirs.
void NcclSearch::try_collnet_direct(int head) {
  const int gpus = topology_.gpus();
  const double part = gpus > 1 ? 1.0 / (gpus - 1) : 1.0;
  int there = 0;
  while (there < gpus && follow(head, there, part)) ++there;
  int back = 0;
  if (there == gpus) {
    while (back < gpus && follow(back, head, part)) ++back;
    if (back == gpus) {
      int step = 1;
      for (int gpu = 0; gpu < gpus; ++gpu) {
        if (gpu != head) trial_.gpus[at(trial_.count * gpus + step++)] = gpu;
      }
      finish();
    }
  }
  while (back-- > 0) undo(back, head, part);
  while (there-- > 0) undo(head, there, part);
}

void NcclSearch::finish() {
  if (steps_ <= 0) return;
  --steps_;
  ++trial_.count;
  if (better()) {
    *best_ = trial_;
    if (trial_.count == trial_.most) steps_ = kPerfect;
  }
  if (trial_.count < trial_.most && steps_ > 0) next_channel();
  --trial_.count;
}

bool NcclSearch::better() const {
  if (trial_.count < trial_.least) return false;
  if (trial_.pattern == NcclPattern::kNvls) {  // every head is a GPU that reads from the switch: more heads are better
    return (trial_.count > best_->count && trial_.count <= topology_.gpus()) ||
           trial_.count * trial_.between > best_->count * best_->between;
  }
  const double found = trial_.count * trial_.inside;
  const double known = to_beat(*best_, trial_.cross_nic, topology_.crossing_gain());
  if (found > known) return true;
  if (found < known) return false;
  return trial_.pattern == best_->pattern && trial_.cross_nic == best_->cross_nic && trial_.hops < best_->hops;
}

}  // namespace ringwright::collectives
