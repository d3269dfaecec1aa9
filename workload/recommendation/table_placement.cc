#include "workload/recommendation/table_placement.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <map>
#include <numeric>
#include <set>
#include <utility>

#include "workload/recommendation/host_placement.h"

namespace ringwright::workload {
namespace {

constexpr double kRoom = 0.85;
// Of a byte of a looked up row against one that is exchanged (mem_comm_work_ratio of HugeCTR's planner).
constexpr double kWorkRatio = 4.0;
// A table that does not fit on so many of the least loaded ranks is split.
constexpr int kRanksToTry = 64;

// One table, or a part of its columns.
struct Part {
  std::uint32_t group = 0;
  double cost = 0.0;
  double bytes = 0.0;
  bool may_split = false;
};

double cost_of_columns(const TableGroup& group, std::int64_t columns) {
  return static_cast<double>(columns) * (group.pooling + 1.0);
}

// Places parts one by one.
class Placer {
 public:
  Placer(const RecommendationModel& model, const PlacementMachine& machine) : model_(model), machine_(machine) {
    const auto ranks = static_cast<std::size_t>(machine.ranks);
    cost_.resize(ranks);
    bytes_.resize(ranks);
    parts_of_.resize(ranks);
    for (std::uint32_t rank = 0; rank < ranks; ++rank) order_.emplace(0.0, rank);
  }

  [[nodiscard]] TablePlacement place() && {
    const bool alone = machine_.ranks == machine_.ranks_of_host;
    result_.ranks_of_host =
        alone && model_.framework == RecommenderFramework::kHugeCtr ? 1 : machine_.ranks_of_host;
    divide_groups();
    place_on_hosts();
    std::ranges::stable_sort(parts_, std::greater(), &Part::cost);
    for (const Part& part : parts_) place(part);
    number_roles();
    result_.largest_cost = std::ranges::max(cost_);
    result_.mean_cost = std::accumulate(cost_.begin(), cost_.end(), 0.0) / static_cast<double>(machine_.ranks);
    return std::move(result_);
  }

 private:
  [[nodiscard]] double cost_of_split(const TableGroup& group) const {
    return static_cast<double>(group.dim) * (group.pooling / static_cast<double>(machine_.ranks) + 1.0);
  }

  // Of groups whose sharding is left to us, those to split: the costliest ones, so many that the busiest rank has
  // least to do.
  [[nodiscard]] std::vector<bool> groups_to_split() const {
    std::vector<bool> split(model_.tables.size());
    if (machine_.ranks == 1) return split;
    std::vector<std::size_t> order;
    double whole = 0.0;
    for (std::size_t g = 0; g < model_.tables.size(); ++g) {
      const TableGroup& group = model_.tables[g];
      if (group.sharding != Sharding::kAuto || replicates(group) || goes_to_host(group)) continue;
      order.push_back(g);
      whole += static_cast<double>(group.count) * cost_of_columns(group, group.dim);
    }
    const auto cost = [this](std::size_t g) { return cost_of_columns(model_.tables[g], model_.tables[g].dim); };
    std::ranges::stable_sort(order, std::greater(), cost);
    double split_cost = 0.0, least = std::numeric_limits<double>::infinity();
    std::size_t best = 0;
    for (std::size_t count = 0; count <= order.size(); ++count) {
      const double largest = count < order.size() ? cost(order[count]) : 0.0;
      const double busiest = split_cost + std::max(largest, whole / static_cast<double>(machine_.ranks));
      if (busiest < least) {
        least = busiest;
        best = count;
      }
      if (count == order.size()) break;
      const TableGroup& next = model_.tables[order[count]];
      split_cost += static_cast<double>(next.count) * cost_of_split(next);
      whole -= static_cast<double>(next.count) * cost(order[count]);
    }
    for (std::size_t i = 0; i < best; ++i) split[order[i]] = true;
    return split;
  }

  [[nodiscard]] bool replicates(const TableGroup& group) const {
    return group.sharding == Sharding::kAuto && machine_.ranks > 1 &&
           table_bytes(model_, group, group.dim) < static_cast<double>(model_.replicate_below.count());
  }

  [[nodiscard]] std::int64_t hosts() const { return machine_.ranks / result_.ranks_of_host; }
  [[nodiscard]] bool goes_to_host(const TableGroup& group) const {
    if (group.sharding == Sharding::kTableRowWise) return true;
    return group.sharding == Sharding::kAuto && model_.framework == RecommenderFramework::kHugeCtr &&
           machine_.ranks > 1 && !replicates(group);
  }

  void place_on_hosts() {
    std::vector<HostTables> tables;
    std::vector<std::uint32_t> groups;
    const bool alone = machine_.ranks == machine_.ranks_of_host;
    const double memory_per_byte = alone ? machine_.memory_per_link : machine_.memory_per_network;
    HostPlacementRules rules{.hosts = hosts(), .exchange_cost = memory_per_byte / kWorkRatio};
    for (std::uint32_t g = 0; g < model_.tables.size(); ++g) {
      const TableGroup& group = model_.tables[g];
      if (!goes_to_host(group)) continue;
      tables.push_back({.count = group.count,
                        .columns = static_cast<double>(group.dim),
                        .pooling = group.pooling,
                        .bytes = table_bytes(model_, group, group.dim),
                        .may_split = group.sharding == Sharding::kAuto});
      groups.push_back(g);
    }
    if (tables.empty()) return;
    const auto own_ranks = static_cast<double>(result_.ranks_of_host);
    rules.room = (kRoom * static_cast<double>(machine_.memory.count()) - everywhere_) * own_ranks;
    const HostPlacement placement = workload::place_on_hosts(tables, rules);
    for (std::size_t i = 0; i < groups.size(); ++i) {
      result_.groups[groups[i]].host_wise = tables[i].count;
      result_.groups[groups[i]].host_parts = placement.parts_of_table[i];
    }
    for (std::size_t rank = 0; rank < cost_.size(); ++rank) {
      const std::size_t host = rank / static_cast<std::size_t>(result_.ranks_of_host);
      auto& own = host_parts_of_.emplace_back(model_.tables.size());
      for (std::size_t i = 0; i < groups.size(); ++i) {
        const std::int64_t parts = placement.parts_on_host[host][i];
        own[groups[i]] = parts;
        bytes_[rank] += static_cast<double>(parts) * tables[i].bytes /
                        (static_cast<double>(placement.parts_of_table[i]) * own_ranks);
      }
      order_.erase({cost_[rank], static_cast<std::uint32_t>(rank)});
      cost_[rank] += placement.cost_of_host[host] / own_ranks;
      order_.emplace(cost_[rank], static_cast<std::uint32_t>(rank));
    }
  }

  void divide_groups() {
    const std::vector<bool> split = groups_to_split();
    for (std::uint32_t g = 0; g < model_.tables.size(); ++g) {
      const TableGroup& group = model_.tables[g];
      GroupPlacement& placed = result_.groups.emplace_back();
      const std::int64_t shards = group.sharding == Sharding::kColumnWise ? group.column_shards : 1;
      placed.columns = group.dim / shards;
      const bool is_auto = group.sharding == Sharding::kAuto;
      if (group.sharding == Sharding::kDataParallel || replicates(group)) {
        placed.replicated = group.count;
      } else if (group.sharding == Sharding::kRowWise || split[g]) {
        placed.row_wise = group.count;
        add_split(group, group.count);
      } else if (!goes_to_host(group)) {
        const Part part{.group = g,
                        .cost = cost_of_columns(group, placed.columns),
                        .bytes = table_bytes(model_, group, placed.columns),
                        .may_split = is_auto && machine_.ranks > 1};
        parts_.insert(parts_.end(), static_cast<std::size_t>(group.count * shards), part);
      }
      if (placed.replicated > 0)
        everywhere_ += static_cast<double>(group.count) * table_bytes(model_, group, group.dim);
    }
  }

  // Every rank holds a share of the rows.
  void add_split(const TableGroup& group, std::int64_t tables) {
    result_.split_cost += static_cast<double>(tables) * cost_of_split(group);
    everywhere_ += static_cast<double>(tables) * table_bytes(model_, group, group.dim) /
                   static_cast<double>(machine_.ranks);
  }

  [[nodiscard]] bool fits(std::uint32_t rank, const Part& part) const {
    const double room = kRoom * static_cast<double>(machine_.memory.count());
    return bytes_[rank] + everywhere_ + part.bytes <= room;
  }

  void place(const Part& part) {
    int tried = 0;
    for (const auto& [cost, rank] : order_) {
      if (part.may_split && !fits(rank, part)) {
        if (++tried == kRanksToTry) break;
        continue;
      }
      return give(part, rank);
    }
    result_.groups[part.group].row_wise += 1;
    add_split(model_.tables[part.group], 1);
  }

  void give(const Part& part, std::uint32_t rank) {
    order_.erase({cost_[rank], rank});
    cost_[rank] += part.cost;
    bytes_[rank] += part.bytes;
    order_.emplace(cost_[rank], rank);
    parts_of_[rank][part.group] += 1;
    result_.groups[part.group].placed += 1;
  }

  void number_roles() {
    using Parts = std::map<std::uint32_t, std::int64_t>;
    std::map<std::pair<Parts, std::vector<std::int64_t>>, std::uint32_t> role_of;
    host_parts_of_.resize(parts_of_.size(), std::vector<std::int64_t>(model_.tables.size()));
    for (std::size_t rank = 0; rank < parts_of_.size(); ++rank) {
      const Parts& parts = parts_of_[rank];
      const auto [known, is_new] =
          role_of.try_emplace({parts, host_parts_of_[rank]}, static_cast<std::uint32_t>(result_.roles.size()));
      if (is_new) {
        PlacementRole& role = result_.roles.emplace_back();
        role.host_parts = host_parts_of_[rank];
        role.parts.resize(model_.tables.size());
        for (const auto& [group, count] : parts) role.parts[group] = count;
      }
      result_.role_of_rank.push_back(known->second);
    }
  }

  const RecommendationModel& model_;
  PlacementMachine machine_;
  TablePlacement result_;
  std::vector<Part> parts_;
  std::vector<double> cost_;   // by rank, as the next two
  std::vector<double> bytes_;  // of placed parts
  std::vector<std::map<std::uint32_t, std::int64_t>> parts_of_;
  std::vector<std::vector<std::int64_t>> host_parts_of_;  // by rank, then by group
  std::set<std::pair<double, std::uint32_t>> order_;  // ranks by cost
  double everywhere_ = 0.0;                           // bytes that every rank holds
};

}  // namespace

bool TablePlacement::uses_hosts() const {
  const auto on_hosts = [](const GroupPlacement& group) { return group.host_wise > 0; };
  return ranks_of_host > 1 && std::ranges::any_of(groups, on_hosts);
}

TablePlacement place_tables(const RecommendationModel& model, const PlacementMachine& machine) {
  return Placer(model, machine).place();
}

double ranks_of(const TablePlacement& placement) {
  return static_cast<double>(placement.role_of_rank.size());
}

std::int64_t placed_columns(const TablePlacement& placement, const PlacementRole& role) {
  std::int64_t columns = 0;
  for (std::size_t g = 0; g < role.parts.size(); ++g) columns += role.parts[g] * placement.groups[g].columns;
  return columns;
}

std::int64_t most_placed_columns(const TablePlacement& placement) {
  std::int64_t most = 0;
  for (const PlacementRole& role : placement.roles) most = std::max(most, placed_columns(placement, role));
  return most;
}

std::int64_t host_columns(const RecommendationModel& model, const PlacementRole& role) {
  std::int64_t columns = 0;
  for (std::size_t g = 0; g < role.host_parts.size(); ++g) columns += role.host_parts[g] * model.tables[g].dim;
  return columns;
}

std::int64_t most_host_columns(const RecommendationModel& model, const TablePlacement& placement) {
  std::int64_t most = 0;
  for (const PlacementRole& role : placement.roles) most = std::max(most, host_columns(model, role));
  return most;
}

}  // namespace ringwright::workload
