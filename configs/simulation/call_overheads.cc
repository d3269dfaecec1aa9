#include "configs/simulation/call_overheads.h"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <span>
#include <utility>
#include <vector>

#include "configs/simulation/free_compute.h"
#include "configs/simulation/pair_router.h"
#include "configs/simulation/rank_positions.h"
#include "core/base/check.h"
#include "core/engine/engine.h"
#include "core/plan/task_graph.h"
#include "core/run/step/executor.h"
#include "core/symmetry/folding.h"

namespace ringwright::configs {
namespace {

// Choices are made by dimension; a call simulated alone has one of its own.
class InDimension final : public CollectiveChooser {
 public:
  InDimension(const CollectiveChooser& chooser, DimensionId dimension) : chooser_(chooser), dimension_(dimension) {}
  [[nodiscard]] const CollectiveAlgorithm& choose(const CollectiveCall& call) const override {
    CollectiveCall asked = call;
    asked.dimension = dimension_;
    return chooser_.choose(asked);
  }

 private:
  const CollectiveChooser& chooser_;
  DimensionId dimension_;
};

// One group with the layout of the call's, on these hosts of the network; all other ranks are idle.
TaskGraph graph_of(const CollectiveCall& call, int per_host, std::span<const std::size_t> hosts,
                   std::span<const int> nic_set_of_host) {
  const GroupLayout& layout = *call.layout;
  const std::size_t ranks = (*std::ranges::max_element(hosts) + 1) * static_cast<std::size_t>(per_host);
  Dimension world{.name = "group", .group_of = {}, .index_in_group = {}, .groups = {{}}, .layout_of_group = {}};
  std::vector<bool> member(ranks, false);
  for (int index = 0; index < layout.size(); ++index) {
    const auto at = static_cast<std::size_t>(index);
    const RankId rank(hosts[static_cast<std::size_t>(layout.host_of[at])] * static_cast<std::size_t>(per_host) +
                      static_cast<std::size_t>(layout.gpu_of[at]));
    member[rank.index()] = true;
    world.groups.front().push_back(rank);
  }
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    if (!member[rank]) world.groups.push_back({RankId(rank)});
  }
  index_groups(world, ranks);
  TaskGraph graph;
  graph.labels = {"call"};
  graph.collectives = {{.kind = call.kind, .bytes = call.bytes}};
  graph.programs = {
      Program{.name = "idle", .tasks = {}, .dependencies = {}},
      Program{.name = "member",
              .tasks = {{.kind = TaskKind::kCollective, .stream = 0, .dimension = DimensionId(0), .detail = 0}},
              .dependencies = {}}};
  graph.program_of.assign(ranks, ProgramId(0));
  for (const RankId rank : world.groups.front()) graph.program_of[rank.index()] = ProgramId(1);
  graph.dimensions = {std::move(world)};
  lay_out_groups(graph, place_ranks(ranks, per_host, nic_set_of_host));
  return graph;
}

// Rank 0 sends to rank 1; they have the positions of the message's ends.
TaskGraph graph_of(const MessageCall& call) {
  TaskGraph graph;
  graph.labels = {"message"};
  graph.messages = {{.peer = 1, .bytes = call.bytes}, {.peer = 0, .bytes = call.bytes}};
  const auto program = [](const char* name, TaskKind kind, std::uint32_t spec) {
    return Program{.name = name,
                   .tasks = {{.kind = kind, .stream = 0, .dimension = DimensionId(0), .detail = spec}},
                   .dependencies = {}};
  };
  graph.programs = {program("sender", TaskKind::kSend, 0), program("receiver", TaskKind::kReceive, 1)};
  graph.program_of = {ProgramId(0), ProgramId(1)};
  Dimension pair{
      .name = "pair", .group_of = {}, .index_in_group = {}, .groups = {{RankId(0), RankId(1)}}, .layout_of_group = {}};
  index_groups(pair, 2);
  graph.dimensions = {std::move(pair)};
  lay_out_groups(graph,
                 {{.host = 0, .gpu = 0}, {.host = call.leaves_host() ? 1 : 0, .gpu = call.leaves_host() ? 0 : 1}});
  return graph;
}

// The choice for the only call, or the only message, of a graph.
class Chosen final : public ChannelChooser {
 public:
  explicit Chosen(ChannelChoice choice) : choice_(std::move(choice)) {}
  [[nodiscard]] ChannelChoice choose(const CollectiveCall& /*call*/) const override { return choice_; }
  [[nodiscard]] ChannelChoice choose_message(const MessageCall& /*call*/) const override { return choice_; }

 private:
  ChannelChoice choice_;
};

// Below, a simulation costs little: few members, or few chunks.
constexpr int kManyMembers = 16;
constexpr Bytes kLeastInterpolated = literals::operator""_MiB(1);

// Neighbours among 1 and 1.5 times the powers of two.
struct SizeBracket {
  Bytes below;
  Bytes above;
};
SizeBracket bracket_of(Bytes bytes) {
  const auto size = static_cast<std::uint64_t>(bytes.count());
  const std::uint64_t power = std::bit_floor(size);
  const std::uint64_t middle = power + power / 2;
  const bool low = size < middle;
  return {.below = Bytes(static_cast<std::int64_t>(low ? power : middle)),
          .above = Bytes(static_cast<std::int64_t>(low ? middle : 2 * power))};
}

}  // namespace

Duration CallOverheads::alone(const CollectiveCall& call, const ChannelChooser* kernels) const {
  const TaskGraph& graph =
      graphs_.emplace_back(graph_of(call, inputs_.per_host, hosts_like(*call.layout), inputs_.nic_set_of_host));
  const InDimension steps(inputs_.steps, call.dimension);
  const std::optional<ChannelInputs> channels =
      kernels != nullptr ? std::optional(ChannelInputs{.chooser = *kernels, .costs = inputs_.channels.costs})
                         : std::nullopt;
  const Router& router = *inputs_.network.router;
  Choosers choosers(steps, kernels);
  choosers.members_together = kernels == nullptr && inputs_.progress == MemberProgress::kTogether;
  const Folding folding = fold(graph, choosers, router);
  const auto folded = make_folded_router(router, folding);
  Engine engine;
  const auto network = inputs_.model.make({.engine = engine, .router = *folded});
  const FreeCompute compute;
  const RunResult run = execute({.engine = engine,
                                 .graph = graph,
                                 .classes = folding.ranks,
                                 .network = *network,
                                 .chooser = steps,
                                 .compute = compute,
                                 .step_costs = inputs_.step_costs,
                                 .progress = inputs_.progress,
                                 .channels = channels ? &*channels : nullptr});
  if (run.outcome == RunOutcome::kClockRanOut) return kClockEnd;
  CHECK(run.outcome == RunOutcome::kFinished, "a call alone on a network without faults ends");
  return run.record.iteration_end.back().since_start();
}

Duration CallOverheads::kernel_time(const CollectiveCall& call, const KnownOverheads::Key& key) const {
  const bool exact = inputs_.known.accuracy() == OverheadAccuracy::kExact;
  if (exact || call.size() < kManyMembers || call.bytes < kLeastInterpolated) {
    const Chosen own(inputs_.channels.chooser.choose(call));
    return alone(call, &own);
  }
  const SizeBracket sizes = bracket_of(call.bytes);
  const Duration below = kernel_time_at(call, key, sizes.below);
  if (sizes.below == call.bytes) return below;
  const Duration above = kernel_time_at(call, key, sizes.above);
  return below + scale(above - below, ratio(call.bytes - sizes.below, sizes.above - sizes.below));
}

// Of a call of another size with the plan of this one.
Duration CallOverheads::kernel_time_at(const CollectiveCall& call, KnownOverheads::Key key, Bytes bytes) const {
  key.bytes = bytes;
  if (const auto known = inputs_.known.find_kernels(key)) return *known;
  CollectiveCall sized = call;
  sized.bytes = bytes;
  const Chosen own(inputs_.channels.chooser.choose(call));
  const Duration time = alone(sized, &own);
  inputs_.known.add_kernels(key, time);
  return time;
}

std::vector<std::size_t> CallOverheads::hosts_like(const GroupLayout& layout) const {
  std::vector<std::size_t> hosts;
  for (int host = 0; host < layout.host_count(); ++host) {
    const auto like = [&](std::size_t candidate) {
      if (inputs_.nic_set_of_host.empty()) return true;
      const int set = inputs_.nic_set_of_host[candidate];
      // Within one host NICs do not matter.
      return set == layout.nic_set_of(host) ||
             (layout.host_count() == 1 && kind_of_host(set) == kind_of_host(layout.nic_set_of(host)));
    };
    std::size_t next = 0;
    while (!like(next) || std::ranges::count(hosts, next) > 0) ++next;
    hosts.push_back(next);
  }
  return hosts;
}

int CallOverheads::first_rail_like(int gpu) const {
  const auto [entry, is_new] = rail_like_.try_emplace(gpu, gpu);
  if (!is_new) return entry->second;
  const auto paths = [&](int first) {
    const RankId here(static_cast<std::size_t>(first));
    return PairRouter(*inputs_.network.router, here, RankId(here.index() + static_cast<std::size_t>(inputs_.per_host)))
        .signature();
  };
  const auto own = paths(gpu);
  int& like = entry->second;
  for (like = 0; like < gpu && paths(like) != own;) ++like;
  return like;
}

// A group with one member per host is simulated on the first rail equivalent to its own.
const GroupLayout& CallOverheads::layout_to_play(const GroupLayout& layout) const {
  const auto [entry, is_new] = layout_to_play_.try_emplace(&layout, &layout);
  if (!is_new) return *entry->second;
  GroupLayout played = layout;
  const bool one_rail = std::ranges::all_of(layout.gpu_of, [&](int gpu) { return gpu == layout.gpu_of.front(); });
  if (layout.host_count() > 1 && layout.largest_host == 1 && one_rail && inputs_.nic_set_of_host.empty()) {
    std::ranges::fill(played.gpu_of, first_rail_like(layout.gpu_of.front()));
  }
  const auto known = std::ranges::find(layouts_, played);
  entry->second = known != layouts_.end() ? &*known : &layouts_.emplace_back(std::move(played));
  return *entry->second;
}

// Of a call whose layout is simulated.
KnownOverheads::Key CallOverheads::key_of(const CollectiveCall& call) const {
  return {.kind = call.kind,
          .bytes = call.bytes,
          .root = call.root,
          .algorithm = std::string(inputs_.steps.choose(call).name()),
          .step_costs = inputs_.step_costs,
          .progress = inputs_.progress,
          .plan = inputs_.channels.chooser.choose(call).plan,
          .host_of = call.layout->host_of,
          .gpu_of = call.layout->gpu_of,
          .nic_set = call.layout->nic_set,
          .model = inputs_.model.name};
}

Duration CallOverheads::known_kernel_time(const CollectiveCall& call, const KnownOverheads::Key& key) const {
  if (const auto known = inputs_.known.find_kernels(key)) return *known;
  const Duration time = kernel_time(call, key);
  inputs_.known.add_kernels(key, time);
  return time;
}

// A formula uses the wires of the job's own groups, so that its overhead is not that of all groups with such kernels.
Duration CallOverheads::of(const CollectiveCall& call) const {
  if (inputs_.channels.chooser.choose(call).algorithm == nullptr) return {};
  CollectiveCall played = call;
  played.layout = &layout_to_play(*call.layout);
  const GroupLayout* const layout = inputs_.formula != nullptr ? call.layout : played.layout;
  const auto [entry, is_new] = asked_.try_emplace({layout, call.dimension, call.kind, call.bytes, call.root});
  if (!is_new) return entry->second;
  const KnownOverheads::Key key = key_of(played);
  if (inputs_.formula != nullptr) {
    return entry->second = std::max(Duration(), known_kernel_time(played, key) - inputs_.formula->time(call));
  }
  if (const auto known = inputs_.known.find(key)) return entry->second = *known;
  entry->second = std::max(Duration(), kernel_time(played, key) - alone(played, nullptr));
  inputs_.known.add(key, entry->second);
  return entry->second;
}

Duration CallOverheads::alone(const TaskGraph& graph, const Router& router, const ChannelChooser* kernels) const {
  Engine engine;
  const auto network = inputs_.model.make({.engine = engine, .router = router});
  const FreeCompute compute;
  const RankClasses classes = identity_classes(graph.rank_count());
  const std::optional<ChannelInputs> channels =
      kernels != nullptr ? std::optional(ChannelInputs{.chooser = *kernels, .costs = inputs_.channels.costs})
                         : std::nullopt;
  const RunResult run = execute({.engine = engine,
                                 .graph = graph,
                                 .classes = classes,
                                 .network = *network,
                                 .chooser = inputs_.steps,
                                 .compute = compute,
                                 .channels = channels ? &*channels : nullptr});
  if (run.outcome == RunOutcome::kClockRanOut) return kClockEnd;
  CHECK(run.outcome == RunOutcome::kFinished, "a message alone arrives");
  return run.record.iteration_end.back().since_start();
}

Duration CallOverheads::of(const MessageBetween& message) const {
  const MessageCall& call = message.call;
  const ChannelChoice choice = inputs_.channels.chooser.choose_message(call);
  const PairRouter router(*inputs_.network.router, message.sender, message.receiver);
  const KnownOverheads::MessageKey key{
      .bytes = call.bytes, .plan = choice.plan, .paths = router.signature(), .model = inputs_.model.name};
  if (const auto known = inputs_.known.find(key)) return *known;
  const TaskGraph graph = graph_of(call);
  const Chosen kernels(choice);
  const Duration overhead = std::max(Duration(), alone(graph, router, &kernels) - alone(graph, router, nullptr));
  inputs_.known.add(key, overhead);
  return overhead;
}

namespace {

template <class Table, class Key>
std::optional<Duration> find_in(const Table& table, const Key& key) {
  const auto of_size = table.find(key.bytes);
  if (of_size == table.end()) return std::nullopt;
  const auto known = std::ranges::find(of_size->second, key, &std::pair<Key, Duration>::first);
  return known == of_size->second.end() ? std::nullopt : std::optional(known->second);
}

// Another thread may have found it in the meantime.
template <class Table, class Key>
void add_to(Table& table, const Key& key, Duration overhead) {
  if (!find_in(table, key)) table[key.bytes].emplace_back(key, overhead);
}

template <class Table>
std::size_t size_of(const Table& table) {
  std::size_t size = 0;
  for (const auto& [bytes, known] : table) size += known.size();
  return size;
}

}  // namespace

std::optional<Duration> KnownOverheads::find(const Key& key) const {
  const std::scoped_lock lock(mutex_);
  return find_in(known_, key);
}

std::optional<Duration> KnownOverheads::find(const MessageKey& key) const {
  const std::scoped_lock lock(mutex_);
  return find_in(known_messages_, key);
}

std::optional<Duration> KnownOverheads::find_kernels(const Key& key) const {
  const std::scoped_lock lock(mutex_);
  return find_in(known_kernels_, key);
}

void KnownOverheads::add_kernels(const Key& key, Duration time) {
  const std::scoped_lock lock(mutex_);
  add_to(known_kernels_, key, time);
}

void KnownOverheads::add(const Key& key, Duration overhead) {
  const std::scoped_lock lock(mutex_);
  add_to(known_, key, overhead);
}

void KnownOverheads::add(const MessageKey& key, Duration overhead) {
  const std::scoped_lock lock(mutex_);
  add_to(known_messages_, key, overhead);
}

std::size_t KnownOverheads::size() const {
  const std::scoped_lock lock(mutex_);
  return size_of(known_) + size_of(known_messages_);
}

}  // namespace ringwright::configs
