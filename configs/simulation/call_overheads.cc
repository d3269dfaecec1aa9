#include "configs/simulation/call_overheads.h"

#include <algorithm>
#include <cstddef>
#include <set>
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
#include "core/symmetry/lone_folding.h"

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

// Kernels depend on the hosts of a message's ends only where it changes its rail (PXN): below 0 where they do not.
std::pair<int, int> ends_for_kernels(const MessageCall& call) {
  const auto gpu = [&](int index) { return call.layout->gpu_of[static_cast<std::size_t>(index)]; };
  if (!call.leaves_host()) return {-1, -1};
  if (gpu(call.from) == gpu(call.to)) return {-2, -2};
  return {call.from, call.to};
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

// Of a run in which so much time is left out.
Duration end_of(const RunResult& run, Duration left_out) {
  const Duration end = run.record.iteration_end.back().since_start();
  return left_out < kClockEnd - end ? end + left_out : kClockEnd;
}

}  // namespace

CallOverheads::CallOverheads(const Inputs& inputs)
    : inputs_(inputs),
      interpolated_({.known = inputs.known,
                     .router = *inputs.network.router,
                     .per_host = inputs.per_host,
                     .alone = [this](const CollectiveCall& call, const ChannelChoice& choice,
                                     const std::vector<int>& hosts) {
                       const Chosen kernels(choice);
                       return alone(call, &kernels, {hosts.begin(), hosts.end()});
                     }}) {}

Duration CallOverheads::alone(const CollectiveCall& call, const ChannelChooser* kernels,
                              std::vector<std::size_t> hosts) const {
  if (hosts.empty()) hosts = hosts_like(*call.layout);
  const TaskGraph& graph = graphs_.emplace_back(graph_of(call, inputs_.per_host, hosts, inputs_.nic_set_of_host));
  const InDimension steps(inputs_.steps, call.dimension);
  Duration left_out;
  const std::optional<ChannelInputs> channels =
      kernels != nullptr
          ? std::optional(ChannelInputs{.chooser = *kernels, .costs = inputs_.channels.costs, .left_out = &left_out})
          : std::nullopt;
  const Router& router = *inputs_.network.router;
  Choosers choosers(steps, kernels);
  choosers.members_together = kernels == nullptr && inputs_.progress == MemberProgress::kTogether;
  const Folding folding = fold_alone(graph, choosers, router);
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
  return end_of(run, left_out);
}

Duration CallOverheads::kernel_time(const CollectiveCall& call, const KnownOverheads::Key& key) const {
  const ChannelChoice choice = inputs_.channels.chooser.choose(call);
  const bool interpolates = inputs_.known.accuracy() == OverheadAccuracy::kInterpolated;
  if (interpolates && InterpolatedKernels::save_time(call, choice.plan)) {
    return interpolated_.time(call, choice, key);
  }
  if (const auto line = interpolated_.of_thousands(call, choice, key)) return *line;
  const Chosen own(choice);
  return alone(call, &own);
}

std::vector<std::size_t> CallOverheads::hosts_like(const GroupLayout& layout) const {
  std::vector<std::size_t> hosts;
  std::vector<bool> taken;
  const auto is_taken = [&](std::size_t host) { return host < taken.size() && taken[host]; };
  std::size_t first_free = 0;
  for (int host = 0; host < layout.host_count(); ++host) {
    const auto like = [&](std::size_t candidate) {
      if (inputs_.nic_set_of_host.empty()) return true;
      const int set = inputs_.nic_set_of_host[candidate];
      // Within one host NICs do not matter.
      return set == layout.nic_set_of(host) ||
             (layout.host_count() == 1 && kind_of_host(set) == kind_of_host(layout.nic_set_of(host)));
    };
    while (is_taken(first_free)) ++first_free;
    std::size_t next = first_free;
    while (is_taken(next) || !like(next)) ++next;
    taken.resize(std::max(taken.size(), next + 1));
    taken[next] = true;
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

// The same GPUs of every host are simulated as the first ones of a host, so many in the same distances, between which
// all paths are equal, in a host and from one to the next. Zero: they are these.
int CallOverheads::first_gpus_like(const GroupLayout& layout) const {
  const std::set<int> gpus(layout.gpu_of.begin(), layout.gpu_of.end());
  const int shift = *gpus.begin();
  const bool same_on_all = gpus.size() * static_cast<std::size_t>(layout.host_count()) == layout.gpu_of.size();
  if (shift == 0 || !same_on_all || layout.host_count() < 2) return 0;
  const auto paths = [&](int gpu, int other) {
    return inputs_.known.paths_between(*inputs_.network.router, RankId(static_cast<std::size_t>(gpu)),
                                       RankId(static_cast<std::size_t>(other)));
  };
  for (const int gpu : gpus) {
    for (const int other : gpus) {
      const int next = other + inputs_.per_host;
      if (paths(gpu, next) != paths(gpu - shift, next - shift)) return 0;
      if (gpu != other && paths(gpu, other) != paths(gpu - shift, other - shift)) return 0;
    }
  }
  return shift;
}

// A group with one member per host is simulated on the first rail equivalent to its own.
const GroupLayout& CallOverheads::layout_to_play(const GroupLayout& layout) const {
  const auto [entry, is_new] = layout_to_play_.try_emplace(&layout, &layout);
  if (!is_new) return *entry->second;
  GroupLayout played = layout;
  const bool one_rail = std::ranges::all_of(layout.gpu_of, [&](int gpu) { return gpu == layout.gpu_of.front(); });
  if (layout.host_count() > 1 && layout.largest_host == 1 && one_rail && inputs_.nic_set_of_host.empty()) {
    std::ranges::fill(played.gpu_of, first_rail_like(layout.gpu_of.front()));
  } else if (inputs_.known.accuracy() == OverheadAccuracy::kInterpolated && inputs_.nic_set_of_host.empty()) {
    const int shift = first_gpus_like(layout);
    for (int& gpu : played.gpu_of) gpu -= shift;
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
  return inputs_.known.kernels(key, [&] { return kernel_time(call, key); });
}

// A formula uses the wires of the job's own groups, so that its overhead is not that of all groups with such kernels.
Duration CallOverheads::beyond_formula(const CollectiveCall& call) const {
  const auto [overhead, is_new] = (inputs_.asked != nullptr ? *inputs_.asked : asked_).ask(call);
  if (!is_new || inputs_.channels.chooser.choose(call).algorithm == nullptr) return overhead;
  CollectiveCall played = call;
  played.layout = &layout_to_play(*call.layout);
  const Duration kernels = known_kernel_time(played, key_of(played));
  return overhead = std::max(Duration(), kernels - inputs_.formula->time(call));
}

Duration CallOverheads::of(const CollectiveCall& call) const {
  if (inputs_.formula != nullptr) return beyond_formula(call);
  if (inputs_.channels.chooser.choose(call).algorithm == nullptr) return {};
  CollectiveCall played = call;
  played.layout = &layout_to_play(*call.layout);
  const auto [overhead, is_new] = asked_.ask(played);
  if (!is_new) return overhead;
  const KnownOverheads::Key key = key_of(played);
  return overhead = inputs_.known.overhead(key, [&] {
    return std::max(Duration(), kernel_time(played, key) - alone(played, nullptr));
  });
}

Duration CallOverheads::alone(const TaskGraph& graph, const Router& router, const ChannelChooser* kernels) const {
  Engine engine;
  const auto network = inputs_.model.make({.engine = engine, .router = router});
  const FreeCompute compute;
  const RankClasses classes = identity_classes(graph.rank_count());
  Duration left_out;
  const std::optional<ChannelInputs> channels =
      kernels != nullptr
          ? std::optional(ChannelInputs{.chooser = *kernels, .costs = inputs_.channels.costs, .left_out = &left_out})
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
  return end_of(run, left_out);
}

PairPaths::Pair CallOverheads::pair_between(RankId sender, RankId receiver) const {
  FarthestPairs::Ends ends{.from = sender, .to = receiver};
  if (inputs_.known.accuracy() == OverheadAccuracy::kInterpolated && inputs_.nic_set_of_host.empty()) {
    ends = inputs_.known.farthest().like({.router = *inputs_.network.router,
                                          .gpus = inputs_.network.fabric.gpus().size(),
                                          .per_host = static_cast<std::size_t>(inputs_.per_host)},
                                         ends);
  }
  return {.to = receiver,
          .like = ends,
          .paths = inputs_.known.paths_between(*inputs_.network.router, ends.from, ends.to)};
}

PairPaths::Pair CallOverheads::known_pair(const MessageBetween& message) const {
  const auto look_up = [&] { return pair_between(message.sender, message.receiver); };
  return inputs_.pairs != nullptr ? inputs_.pairs->between(message.sender, message.receiver, look_up) : look_up();
}

CallOverheads::Ends CallOverheads::ends_of(const MessageCall& call, const PairPaths::Pair& pair) {
  const auto [from, to] = ends_for_kernels(call);
  return {call.layout, from, to, pair.paths};
}

std::uint64_t CallOverheads::ends(const MessageBetween& message) const {
  return number_of_ends_.try_emplace(ends_of(message.call, known_pair(message)), number_of_ends_.size()).first->second;
}

Duration CallOverheads::of(const MessageBetween& message) const {
  const MessageCall& call = message.call;
  const PairPaths::Pair pair = known_pair(message);
  const auto [entry, is_new] = asked_messages_.try_emplace({ends_of(call, pair), call.bytes});
  if (!is_new) return entry->second;
  const ChannelChoice choice = inputs_.channels.chooser.choose_message(call);
  const KnownOverheads::MessageKey key{
      .bytes = call.bytes, .plan = choice.plan, .paths = pair.paths, .model = inputs_.model.name};
  return entry->second = inputs_.known.overhead(key, [&] {
    const PairRouter router(*inputs_.network.router, pair.like.from, pair.like.to);
    const TaskGraph graph = graph_of(call);
    const Chosen kernels(choice);
    return std::max(Duration(), alone(graph, router, &kernels) - alone(graph, router, nullptr));
  });
}

}  // namespace ringwright::configs
