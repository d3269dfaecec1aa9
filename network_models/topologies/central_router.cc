#include "network_models/topologies/central_router.h"

#include <algorithm>
#include <utility>

#include "network_models/builtin.h"

namespace ringwright::network_models {
namespace {

constexpr std::uint32_t kLabels = 128;            // paths that are tried for a pair
constexpr std::uint32_t kApart = 0x0100'0000;     // labels of one pair are so far apart
constexpr int kPasses = 12;
constexpr double kAllRoles = 1e-9;                // weight of the loads of all roles

std::uint32_t labelled(const RouteQuery& pair, std::uint32_t choice) { return pair.label + choice * kApart; }

double power(double load) {
  const double square = load * load;
  return square * square * square;
}

}  // namespace

CentralRouter::Key CentralRouter::key_of(const RouteQuery& query) {
  const auto bits = [](std::int16_t nic) { return static_cast<std::uint64_t>(static_cast<std::uint16_t>(nic)); };
  const std::uint64_t nics = (bits(query.nics.out) << 32U) | (bits(query.nics.in) << 16U) | bits(query.nics.relay);
  return {.ends = (std::uint64_t{query.from.value} << 32U) | query.to.value,
          .header = mix(nics, (std::uint64_t{query.label} << 8U) | static_cast<std::uint64_t>(query.route_kind))};
}

Duration CentralRouter::route(const RouteQuery& query, std::vector<Hop>& hops) const {
  const auto planned = label_of_.find(key_of(query));
  if (planned == label_of_.end()) return hashed_->route(query, hops);
  RouteQuery by_plan = query;
  by_plan.label = planned->second;
  return hashed_->route(by_plan, hops);
}

void CentralRouter::add_load(const RouteQuery& pair, std::uint32_t label, double sign) {
  RouteQuery query = pair;
  query.label = label;
  hashed_->route(query, hops_);
  for (const Hop& hop : hops_) {
    load_[hop.link.index()] += sign * hop.share;
    all_load_[hop.link.index()] += sign * hop.share;
  }
}

// By how much the sum rises, in flows of the fastest link: a slow one holds fewer.
double CentralRouter::rise(const RouteQuery& pair, std::uint32_t label) {
  RouteQuery query = pair;
  query.label = label;
  hashed_->route(query, hops_);
  double sum = 0.0;
  for (const Hop& hop : hops_) {
    const double unit = fastest_.count() / capacities()[hop.link.index()].count();
    const double load = load_[hop.link.index()] * unit;
    const double all = all_load_[hop.link.index()] * unit;
    sum += power(load + hop.share * unit) - power(load) + kAllRoles * ((all + unit) * (all + unit) - all * all);
  }
  return sum;
}

// `stay` unless another one is really better.
std::uint32_t CentralRouter::best_label(const RouteQuery& pair, std::uint32_t stay) {
  constexpr double kReally = 1.0 - 1e-9;
  std::uint32_t best = stay;
  double least = rise(pair, stay);
  for (std::uint32_t choice = 0; choice < kLabels; ++choice) {
    const double rises = rise(pair, labelled(pair, choice));
    if (rises >= least * kReally) continue;
    least = rises;
    best = labelled(pair, choice);
  }
  return best;
}

// Within a leaf there is one path.
bool CentralRouter::has_choice(const RouteQuery& pair) {
  constexpr std::uint32_t kSample = 8;
  std::vector<Hop> first;
  hashed_->route(pair, first);
  for (std::uint32_t choice = 1; choice < kSample; ++choice) {
    RouteQuery query = pair;
    query.label = labelled(pair, choice);
    hashed_->route(query, hops_);
    for (std::size_t h = 0; h < hops_.size(); ++h) {
      if (hops_.size() != first.size() || hops_[h].link != first[h].link) return true;
    }
  }
  return false;
}

bool CentralRouter::plan(std::span<const Pair> pairs) {
  if (pairs.size() > kMostPairs) return false;
  fastest_ = *std::ranges::max_element(capacities());
  load_.assign(capacities().size(), 0.0);
  all_load_.assign(capacities().size(), 0.0);
  std::unordered_map<std::uint64_t, std::size_t> number_of;
  std::vector<std::vector<RouteQuery>> roles;  // in the order in which they appear
  for (const Pair& pair : pairs) {
    if (pair.query.from == pair.query.to) continue;
    const std::size_t number = number_of.try_emplace(pair.role, roles.size()).first->second;
    if (number == roles.size()) roles.emplace_back();
    roles[number].push_back(pair.query);
  }
  for (const std::vector<RouteQuery>& role : roles) place(role);
  return true;
}

// Pairs that an earlier role has placed stay where they are.
void CentralRouter::place(std::span<const RouteQuery> role) {
  std::ranges::fill(load_, 0.0);
  std::vector<RouteQuery> open;
  for (const RouteQuery& pair : role) {
    const auto [entry, is_new] = label_of_.emplace(key_of(pair), pair.label);
    if (is_new && has_choice(pair)) {
      open.push_back(pair);
    } else {
      add_load(pair, entry->second, 1.0);
    }
  }
  for (const RouteQuery& pair : open) {
    std::uint32_t& label = label_of_.at(key_of(pair));
    label = best_label(pair, label);
    add_load(pair, label, 1.0);
  }
  for (int pass = 0; pass < kPasses; ++pass) {
    bool moved = false;
    for (const RouteQuery& pair : open) {
      std::uint32_t& label = label_of_.at(key_of(pair));
      add_load(pair, label, -1.0);
      const std::uint32_t better = best_label(pair, label);
      moved = moved || better != label;
      label = better;
      add_load(pair, label, 1.0);
    }
    if (!moved) break;
  }
}

Network with_central_routing(Network network, const Routing& routing) {
  if (!routing.planned) return network;
  auto central = std::make_unique<CentralRouter>(std::move(network.router));
  network.central = central.get();
  network.router = std::move(central);
  return network;
}

}  // namespace ringwright::network_models
