#include "traces/chakra/check.h"

#include <algorithm>
#include <queue>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "traces/chakra/problem_list.h"

namespace ringwright::traces {
namespace {

// A position in the trace for each id, by binary search: a hash table would take three times the memory.
class IdIndex {
 public:
  explicit IdIndex(const ChakraTrace& trace) : trace_(trace) {
    by_id_.reserve(trace.nodes.size());
    for (std::uint32_t at = 0; at < trace.nodes.size(); ++at) by_id_.push_back(at);
    std::ranges::stable_sort(by_id_, {}, [&](std::uint32_t at) { return trace.nodes[at].id; });
  }

  // Null: no node has it.
  [[nodiscard]] const std::uint32_t* find(std::uint64_t id) const {
    // Most writers number nodes one by one.
    const std::uint64_t place = id - (by_id_.empty() ? 0 : trace_.nodes[by_id_.front()].id);
    if (place < by_id_.size() && trace_.nodes[by_id_[place]].id == id) return &by_id_[place];
    const auto found = std::ranges::lower_bound(by_id_, id, {}, [&](std::uint32_t at) { return trace_.nodes[at].id; });
    return found != by_id_.end() && trace_.nodes[*found].id == id ? &*found : nullptr;
  }
  [[nodiscard]] const std::vector<std::uint32_t>& by_id() const { return by_id_; }

 private:
  const ChakraTrace& trace_;
  std::vector<std::uint32_t> by_id_;
};

void find_duplicates(const ChakraTrace& trace, const IdIndex& index, ProblemList& problems) {
  const std::vector<std::uint32_t>& by_id = index.by_id();
  for (std::size_t i = 1; i < by_id.size() && !problems.is_full(); ++i) {
    const ChakraNode& earlier = trace.nodes[by_id[i - 1]];
    const ChakraNode& node = trace.nodes[by_id[i]];
    if (earlier.id != node.id) continue;
    problems.error("E249", fmt::format("two nodes have id {}: '{}' (node {} of the file) and '{}' (node {})", node.id,
                                       trace.name_of(earlier), by_id[i - 1] + 1, trace.name_of(node), by_id[i] + 1));
  }
}

// Also what a node lists twice, which is no mistake.
ChakraOrder resolve_dependencies(const ChakraTrace& trace, const IdIndex& index, ProblemList& problems) {
  ChakraOrder order;
  order.first_dependency.reserve(trace.nodes.size() + 1);
  order.dependencies.reserve(trace.dependencies.size());
  for (const ChakraNode& node : trace.nodes) {
    const auto first = static_cast<std::uint32_t>(order.dependencies.size());
    order.first_dependency.push_back(first);
    for (const std::uint64_t id : trace.dependencies_of(node)) {
      if (const std::uint32_t* at = index.find(id); at != nullptr) {
        order.dependencies.push_back(*at);
      } else {
        problems.error("E249",
                       fmt::format("{} depends on node {}, which is not in the trace", describe(trace, node), id));
      }
    }
    const auto own = order.dependencies.begin() + first;
    std::sort(own, order.dependencies.end());
    order.dependencies.erase(std::unique(own, order.dependencies.end()), order.dependencies.end());
  }
  order.first_dependency.push_back(static_cast<std::uint32_t>(order.dependencies.size()));
  return order;
}

// Kahn's algorithm; among those that are ready, the smallest id comes first. Nodes on cycles, and those that depend on
// them, stay out.
void sort_nodes(const ChakraTrace& trace, const IdIndex& index, ChakraOrder& order) {
  const std::size_t count = trace.nodes.size();
  std::vector<std::uint32_t> position_by_id(count);  // ids are replaced by their order, which is shorter
  for (std::uint32_t i = 0; i < count; ++i) position_by_id[index.by_id()[i]] = i;
  std::vector<std::uint32_t> waits(count);
  std::vector<std::uint32_t> first_user(count + 1, 0);
  for (std::size_t at = 0; at < count; ++at) waits[at] = order.first_dependency[at + 1] - order.first_dependency[at];
  for (const std::uint32_t before : order.dependencies) ++first_user[before + 1];
  for (std::size_t at = 0; at < count; ++at) first_user[at + 1] += first_user[at];
  std::vector<std::uint32_t> users(order.dependencies.size());
  std::vector<std::uint32_t> next(first_user.begin(), first_user.end() - 1);
  for (std::uint32_t at = 0; at < count; ++at) {
    for (std::uint32_t d = order.first_dependency[at]; d < order.first_dependency[at + 1]; ++d) {
      users[next[order.dependencies[d]]++] = at;
    }
  }
  std::priority_queue<std::uint32_t, std::vector<std::uint32_t>, std::greater<>> ready;
  for (std::size_t at = 0; at < count; ++at) {
    if (waits[at] == 0) ready.push(position_by_id[at]);
  }
  while (!ready.empty()) {
    const std::uint32_t at = index.by_id()[ready.top()];
    ready.pop();
    order.nodes.push_back(at);
    for (std::uint32_t u = first_user[at]; u < first_user[at + 1]; ++u) {
      if (--waits[users[u]] == 0) ready.push(position_by_id[users[u]]);
    }
  }
}

// From any node that was not ordered, dependencies that were not ordered either lead to a cycle. Positions in
// ChakraTrace::nodes.
std::vector<std::uint32_t> walk_cycle(const ChakraTrace& trace, const ChakraOrder& order) {
  std::vector<bool> is_ordered(trace.nodes.size(), false);
  for (const std::uint32_t at : order.nodes) is_ordered[at] = true;
  auto at = static_cast<std::uint32_t>(std::ranges::find(is_ordered, false) - is_ordered.begin());
  std::vector<std::uint32_t> walk;
  std::vector<bool> seen(trace.nodes.size(), false);
  while (!seen[at]) {
    seen[at] = true;
    walk.push_back(at);
    for (std::uint32_t d = order.first_dependency[at]; d < order.first_dependency[at + 1]; ++d) {
      if (is_ordered[order.dependencies[d]]) continue;
      at = order.dependencies[d];
      break;
    }
  }
  walk.erase(walk.begin(), std::ranges::find(walk, at));
  return walk;
}

std::string describe_cycle(const ChakraTrace& trace, const ChakraOrder& order) {
  const std::vector<std::uint32_t> walk = walk_cycle(trace, order);
  constexpr std::size_t kShown = 16;
  std::string text = walk.size() == 1 ? describe(trace, trace.nodes[walk.front()]) + " waits for itself: "
                                      : fmt::format("{} nodes wait for each other: ", walk.size());
  for (std::size_t i = 0; i < std::min(walk.size(), kShown); ++i)
    text += fmt::format("{} -> ", trace.nodes[walk[i]].id);
  if (walk.size() > kShown) text += "... -> ";
  return text + std::to_string(trace.nodes[walk.front()].id);
}

}  // namespace

Result<ChakraOrder> order_nodes(const ChakraTrace& trace) {
  ProblemList problems(trace.file);
  const IdIndex index(trace);
  find_duplicates(trace, index, problems);
  ChakraOrder order = resolve_dependencies(trace, index, problems);
  sort_nodes(trace, index, order);
  if (order.nodes.size() < trace.nodes.size()) {
    problems.error("E249", describe_cycle(trace, order), "no node may depend on itself, directly or through others");
  }
  if (problems.has_errors()) return tl::unexpected(std::move(problems).take());
  return order;
}

std::vector<std::uint64_t> find_cycle(const ChakraTrace& trace) {
  ProblemList problems(trace.file);
  const IdIndex index(trace);
  ChakraOrder order = resolve_dependencies(trace, index, problems);
  sort_nodes(trace, index, order);
  std::vector<std::uint64_t> ids;
  if (order.nodes.size() == trace.nodes.size()) return ids;
  for (const std::uint32_t at : walk_cycle(trace, order)) ids.push_back(trace.nodes[at].id);
  return ids;
}

}  // namespace ringwright::traces
