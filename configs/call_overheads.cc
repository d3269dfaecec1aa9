#include "configs/call_overheads.h"

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include "configs/free_compute.h"
#include "configs/pair_router.h"
#include "configs/rank_places.h"
#include "core/base/check.h"
#include "core/engine/engine.h"
#include "core/plan/task_graph.h"
#include "core/run/executor.h"
#include "core/symmetry/folding.h"

namespace ringwright::configs {
namespace {

// Choices are made by dimension; a call alone has one of its own.
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

class KernelsInDimension final : public ChannelChooser {
 public:
  KernelsInDimension(const ChannelChooser& chooser, DimensionId dimension) : chooser_(chooser), dimension_(dimension) {}
  [[nodiscard]] ChannelChoice choose(const CollectiveCall& call) const override {
    CollectiveCall asked = call;
    asked.dimension = dimension_;
    return chooser_.choose(asked);
  }
  [[nodiscard]] ChannelChoice choose_message(const MessageCall& call) const override {
    return chooser_.choose_message(call);
  }

 private:
  const ChannelChooser& chooser_;
  DimensionId dimension_;
};

// One group that lies as the call's does, on the network's first hosts; everybody else there does nothing.
TaskGraph graph_of(const CollectiveCall& call, int per_host) {
  const GroupLayout& layout = *call.layout;
  const auto ranks = static_cast<std::size_t>(layout.host_count()) * static_cast<std::size_t>(per_host);
  Dimension world{.name = "group", .group_of = {}, .index_in_group = {}, .groups = {{}}, .layout_of_group = {}};
  std::vector<bool> member(ranks, false);
  for (int index = 0; index < layout.size(); ++index) {
    const auto at = static_cast<std::size_t>(index);
    const RankId rank(static_cast<std::size_t>(layout.host_of[at]) * static_cast<std::size_t>(per_host) +
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
  lay_out_groups(graph, place_ranks(ranks, per_host));
  return graph;
}

// Rank 0 sends to rank 1, which lie as the message's ends do.
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

// What was chosen for a message of the run's graph.
class Chosen final : public ChannelChooser {
 public:
  explicit Chosen(ChannelChoice choice) : choice_(std::move(choice)) {}
  [[nodiscard]] ChannelChoice choose(const CollectiveCall& /*call*/) const override { return choice_; }
  [[nodiscard]] ChannelChoice choose_message(const MessageCall& /*call*/) const override { return choice_; }

 private:
  ChannelChoice choice_;
};

}  // namespace

Duration CallOverheads::alone(const CollectiveCall& call, const TaskGraph& graph, bool as_kernels) const {
  const InDimension steps(inputs_.steps, call.dimension);
  const KernelsInDimension kernels(inputs_.channels.chooser, call.dimension);
  const ChannelInputs channels{.chooser = kernels, .costs = inputs_.channels.costs};
  const Router& router = *inputs_.network.router;
  const Folding folding = fold(graph, {steps, as_kernels ? &kernels : nullptr}, router);
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
                                 .channels = as_kernels ? &channels : nullptr});
  CHECK(run.outcome == RunOutcome::kFinished, "a call alone on a whole network ends");
  return run.record.iteration_end.back().since_start();
}

// Rails are alike: of groups with one member a host it does not matter which.
KnownOverheads::Key CallOverheads::key_of(const CollectiveCall& call) const {
  const GroupLayout& layout = *call.layout;
  return {call.kind,
          call.bytes.count(),
          std::string(inputs_.steps.choose(call).name()) + (inputs_.formula != nullptr ? ", formula" : ""),
          layout.host_of,
          layout.largest_host > 1 ? layout.gpu_of : std::vector<int>(),
          inputs_.model.name};
}

Duration CallOverheads::of(const CollectiveCall& call) const {
  const KnownOverheads::Key key = key_of(call);
  if (const auto known = inputs_.known.find(key)) return *known;
  Duration overhead;
  if (inputs_.channels.chooser.choose(call).algorithm != nullptr) {
    const TaskGraph& graph = graphs_.emplace_back(graph_of(call, inputs_.per_host));
    const Duration own = inputs_.formula != nullptr ? inputs_.formula->time(call) : alone(call, graph, false);
    overhead = std::max(Duration(), alone(call, graph, true) - own);
  }
  inputs_.known.add(key, overhead);
  return overhead;
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
  CHECK(run.outcome == RunOutcome::kFinished, "a message alone arrives");
  return run.record.iteration_end.back().since_start();
}

Duration CallOverheads::of(const MessageBetween& message) const {
  const MessageCall& call = message.call;
  const ChannelChoice choice = inputs_.channels.chooser.choose_message(call);
  const PairRouter router(*inputs_.network.router, message.sender, message.receiver);
  const KnownOverheads::MessageKey key{call.bytes.count(),         choice.plan.channels,      choice.plan.chunk.count(),
                                       choice.plan.protocol,       choice.plan.by_peers_rail, router.signature(),
                                       inputs_.model.name};
  if (const auto known = inputs_.known.find(key)) return *known;
  const TaskGraph graph = graph_of(call);
  const Chosen kernels(choice);
  const Duration overhead = std::max(Duration(), alone(graph, router, &kernels) - alone(graph, router, nullptr));
  inputs_.known.add(key, overhead);
  return overhead;
}

std::optional<Duration> KnownOverheads::find(const Key& key) const {
  const std::scoped_lock lock(mutex_);
  const auto known = known_.find(key);
  return known == known_.end() ? std::nullopt : std::optional(known->second);
}

std::optional<Duration> KnownOverheads::find(const MessageKey& key) const {
  const std::scoped_lock lock(mutex_);
  const auto known = known_messages_.find(key);
  return known == known_messages_.end() ? std::nullopt : std::optional(known->second);
}

void KnownOverheads::add(const Key& key, Duration overhead) {
  const std::scoped_lock lock(mutex_);
  known_.emplace(key, overhead);
}

void KnownOverheads::add(const MessageKey& key, Duration overhead) {
  const std::scoped_lock lock(mutex_);
  known_messages_.emplace(key, overhead);
}

std::size_t KnownOverheads::size() const {
  const std::scoped_lock lock(mutex_);
  return known_.size() + known_messages_.size();
}

}  // namespace ringwright::configs
