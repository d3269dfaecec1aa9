#include "traces/text_workload/layer_loop.h"

#include <algorithm>
#include <array>
#include <map>
#include <utility>

#include <fmt/format.h>

namespace ringwright::traces {
namespace {

// Groups of the phases, as dimensions of the graph.
enum class TextDimension : std::uint8_t { kTensor, kExpert, kData, kExpertData };
constexpr std::array<std::string_view, 4> kTextDimensionNames{"tp", "ep", "dp", "dp_ep"};

// How many ranks apart the members of a group are, how many they are, and how many groups interleave: a rank with
// position i in its block of stride * size ranks has the index i / stride.
struct Grid {
  std::int64_t stride = 1;
  std::int64_t size = 1;
};

// Of each dimension.
struct TextGroups {
  std::array<Grid, 4> grids;
};

Diagnostics refused(const TextWorkload& workload, std::string message, std::string hint = {}) {
  return failure("E622", std::move(message), {.file = workload.file, .line = 1, .column = 1}, std::move(hint));
}

Result<TextGroups> transformer_groups(const TextWorkload& workload, std::int64_t ranks) {
  if (!workload.tensor) {
    return tl::unexpected(refused(workload, "the first line has no model_parallel_NPU_group",
                                  fmt::format("{} model_parallel_NPU_group: 8", to_string(workload.loop))));
  }
  const std::int64_t tensor = *workload.tensor;
  const std::int64_t pipeline = workload.pipeline.value_or(1);
  const std::int64_t expert = workload.expert.value_or(1);
  if (ranks % (tensor * pipeline) != 0) {
    return tl::unexpected(refused(workload, fmt::format("model_parallel_NPU_group {} times pp {} does not divide the "
                                                        "{} GPUs of the cluster",
                                                        tensor, pipeline, ranks)));
  }
  const std::int64_t replicas = ranks / (tensor * pipeline);
  if (replicas % expert != 0) {
    return tl::unexpected(refused(workload, fmt::format("ep {} does not divide the {} replicas", expert, replicas)));
  }
  const std::int64_t apart = tensor * pipeline;
  return TextGroups{.grids = {Grid{.stride = 1, .size = tensor}, Grid{.stride = apart, .size = expert},
                              Grid{.stride = apart, .size = replicas},
                              Grid{.stride = apart * expert, .size = replicas / expert}}};
}

Result<TextGroups> groups_of(const TextWorkload& workload, const TextMachine& machine) {
  if (workload.gpus && *workload.gpus != machine.ranks) {
    return tl::unexpected(
        refused(workload, fmt::format("all_gpus is {} and the cluster has {} GPUs", *workload.gpus, machine.ranks),
                "change cluster.nodes or cluster.node.gpus"));
  }
  const Grid all{.stride = 1, .size = machine.ranks};
  const Grid within{.stride = 1, .size = machine.gpus_per_host};
  const Grid across{.stride = machine.gpus_per_host, .size = machine.ranks / machine.gpus_per_host};
  switch (workload.loop) {
    case TextLoop::kTransformer:
    case TextLoop::kTransformerRecompute: return transformer_groups(workload, machine.ranks);
    case TextLoop::kHybridDataModel: return TextGroups{.grids = {within, Grid(), across, Grid()}};
    case TextLoop::kHybridModelData: return TextGroups{.grids = {across, Grid(), within, Grid()}};
    case TextLoop::kData:
    case TextLoop::kModel:
    case TextLoop::kInference: break;
  }
  return TextGroups{.grids = {all, Grid(), all, Grid()}};
}

Dimension dimension_of(const Grid& grid, std::string_view name, std::int64_t ranks) {
  Dimension dimension;
  dimension.name = name;
  const std::int64_t block = grid.stride * grid.size;
  for (std::int64_t first = 0; first < ranks; first += block) {
    for (std::int64_t offset = 0; offset < grid.stride; ++offset) {
      std::vector<RankId>& group = dimension.groups.emplace_back();
      for (std::int64_t i = 0; i < grid.size; ++i) {
        group.emplace_back(static_cast<std::size_t>(first + offset + i * grid.stride));
      }
    }
  }
  index_groups(dimension, static_cast<std::size_t>(ranks));
  return dimension;
}

// Writes the program of all ranks: computing waits for what the loop waits for.
class LoopWriter {
 public:
  LoopWriter(const TextWorkload& workload, const TextGroups& groups, std::int64_t ranks, double factor)
      : workload_(workload), groups_(groups), ranks_(ranks), factor_(factor) {
    graph_.programs.push_back({.name = "iteration"});
  }

  [[nodiscard]] TaskGraph write() && {
    const bool communicates = workload_.loop != TextLoop::kData;
    for (const TextLayer& layer : workload_.layers) forward(layer, communicates);
    if (workload_.loop != TextLoop::kInference) {
      for (std::size_t i = workload_.layers.size(); i-- > 0;) backward(i);
    }
    program().stream_count = 1 + static_cast<int>(graph_.dimensions.size());
    graph_.program_of.assign(static_cast<std::size_t>(ranks_), ProgramId(0));
    return std::move(graph_);
  }

 private:
  [[nodiscard]] Program& program() { return graph_.programs.front(); }

  void forward(const TextLayer& layer, bool communicates) {
    compute(layer, layer.forward);
    if (communicates) await(call(layer, layer.forward.call, TextDimension::kTensor));
  }

  void backward(std::size_t index) {
    const TextLayer& layer = workload_.layers[index];
    switch (workload_.loop) {
      case TextLoop::kData:
        weight_gradient(layer, true);
        if (index > 0) compute(layer, layer.input_gradient);
        return;
      case TextLoop::kTransformer:
      case TextLoop::kTransformerRecompute:
        recompute_before(index);
        compute(layer, layer.input_gradient);
        await(call(layer, layer.input_gradient.call, TextDimension::kTensor));
        weight_gradient(layer, true);
        return;
      case TextLoop::kModel:
      case TextLoop::kHybridDataModel:
      case TextLoop::kHybridModelData: break;
      case TextLoop::kInference: return;
    }
    compute(layer, layer.input_gradient);
    std::vector<std::uint32_t> pending;
    if (index > 0) pending = call(layer, layer.input_gradient.call, TextDimension::kTensor);
    weight_gradient(layer, workload_.loop != TextLoop::kModel);
    await(pending);
  }

  void weight_gradient(const TextLayer& layer, bool communicates) {
    compute(layer, layer.weight_gradient);
    if (communicates) static_cast<void>(call(layer, layer.weight_gradient.call, TextDimension::kData));
  }

  // The layers from the last checkpoint on, forward once more, where this layer initiates that.
  void recompute_before(std::size_t index) {
    if (!std::ranges::binary_search(workload_.initiates, index)) return;
    const auto after = std::ranges::upper_bound(workload_.checkpoints, index);
    for (std::size_t layer = *std::prev(after); layer < index; ++layer) forward(workload_.layers[layer], true);
  }

  void await(const std::vector<std::uint32_t>& tasks) { awaited_.insert(awaited_.end(), tasks.begin(), tasks.end()); }

  void compute(const TextLayer& layer, const TextPhase& phase) {
    newest_ = append(work_task(phase.compute, kComputeStream), layer, std::exchange(awaited_, {}));
  }

  // Begins when the computing before it has ended. What the loop may wait for: nothing where nothing is communicated.
  [[nodiscard]] std::vector<std::uint32_t> call(const TextLayer& layer, const TextCall& call, TextDimension phase) {
    if (call.bytes == Bytes(0)) return {};
    TextDimension which = phase;
    if (call.group == TextGroup::kExpert) which = TextDimension::kExpert;
    if (call.group == TextGroup::kExpertData) which = TextDimension::kExpertData;
    const Grid& grid = groups_.grids[static_cast<std::size_t>(which)];
    if (grid.size < 2) return {};
    const std::uint32_t dimension = dimension_for(which);
    const bool shard = call.kind == CollectiveKind::kAllGather && !workload_.is_of_simai();
    Task task{.kind = TaskKind::kCollective,
              .stream = static_cast<StreamIndex>(1 + dimension),
              .dimension = DimensionId(dimension)};
    task.detail = collective(call.kind, shard ? call.bytes * grid.size : call.bytes);
    std::uint32_t last = append(task, layer, {newest_});
    if (layer.update > Duration()) last = append(work_task(layer.update, kNoStream), layer, {last});
    return {last};
  }

  [[nodiscard]] std::uint32_t dimension_for(TextDimension which) {
    const auto at = static_cast<std::size_t>(which);
    const auto [known, is_new] = dimension_of_.try_emplace(which, static_cast<std::uint32_t>(graph_.dimensions.size()));
    if (is_new) graph_.dimensions.push_back(dimension_of(groups_.grids[at], kTextDimensionNames[at], ranks_));
    return known->second;
  }

  [[nodiscard]] std::uint32_t collective(CollectiveKind kind, Bytes bytes) {
    const auto [known, is_new] =
        collective_of_.try_emplace({kind, bytes}, static_cast<std::uint32_t>(graph_.collectives.size()));
    if (is_new) graph_.collectives.push_back({.kind = kind, .bytes = bytes});
    return known->second;
  }

  [[nodiscard]] Task work_task(Duration time, StreamIndex stream) {
    const bool changes = factor_ < 1.0 || factor_ > 1.0;  // times that are not scaled stay exact
    const Duration scaled = changes ? ringwright::scale(time, factor_) : time;
    const auto [known, is_new] = work_of_.try_emplace(scaled, static_cast<std::uint32_t>(graph_.works.size()));
    if (is_new) graph_.works.push_back({.name = "recorded", .kernels = {}, .recorded = scaled});
    return {.kind = TaskKind::kCompute, .stream = stream, .detail = known->second};
  }

  std::uint32_t append(Task task, const TextLayer& layer, const std::vector<std::uint32_t>& before) {
    Program& all = program();
    const auto [label, is_new] = label_of_.try_emplace(layer.name, static_cast<std::uint32_t>(graph_.labels.size()));
    if (is_new) graph_.labels.push_back(layer.name);
    task.label = label->second;
    task.first_dependency = static_cast<std::uint32_t>(all.dependencies.size());
    task.dependency_count = static_cast<std::uint32_t>(before.size());
    all.dependencies.insert(all.dependencies.end(), before.begin(), before.end());
    all.tasks.push_back(task);
    return static_cast<std::uint32_t>(all.tasks.size() - 1);
  }

  const TextWorkload& workload_;
  const TextGroups& groups_;
  std::int64_t ranks_;
  double factor_;
  TaskGraph graph_;
  std::uint32_t newest_ = 0;            // computing
  std::vector<std::uint32_t> awaited_;  // by the next computing
  std::map<TextDimension, std::uint32_t> dimension_of_;
  std::map<std::pair<CollectiveKind, Bytes>, std::uint32_t> collective_of_;
  std::map<Duration, std::uint32_t> work_of_;
  std::map<std::string, std::uint32_t> label_of_;
};

// Collectives of passes in which the loop does not communicate.
std::int64_t unused_calls(const TextWorkload& workload) {
  const auto given = [](const TextPhase& phase) { return phase.call.bytes > Bytes(0) ? 1 : 0; };
  std::int64_t count = 0;
  for (const TextLayer& layer : workload.layers) {
    if (workload.loop == TextLoop::kData) count += given(layer.forward) + given(layer.input_gradient);
    if (workload.loop == TextLoop::kModel) count += given(layer.weight_gradient);
  }
  return count;
}

// What the file says and this replay does not do.
Diagnostics left_out(const TextWorkload& workload) {
  Diagnostics warnings;
  const std::int64_t pipeline = workload.pipeline.value_or(1);
  if (pipeline > 1) {
    warnings.add({.severity = Severity::kWarning,
                  .code = "W623",
                  .place = {.file = workload.file, .line = 1, .column = 1},
                  .message = fmt::format(
                      "the {} pipeline stages run their rows at the same time: the file has no order of passes, so "
                      "bubbles and messages between stages (pp_comm) are not simulated",
                      pipeline)});
  }
  if (const std::int64_t unused = unused_calls(workload); unused > 0) {
    warnings.add({.severity = Severity::kWarning,
                  .code = "W623",
                  .place = {.file = workload.file, .line = 1, .column = 1},
                  .message = fmt::format("{} collective{} no effect: {}", unused, unused == 1 ? " has" : "s have",
                                         workload.loop == TextLoop::kData
                                             ? "DATA communicates after weight gradients only"
                                             : "MODEL does not communicate after weight gradients")});
  }
  return warnings;
}

}  // namespace

Result<TextReplay> replay_text_workload(const TextWorkload& workload, const TextMachine& machine, double scale) {
  const auto groups = groups_of(workload, machine);
  if (!groups) return tl::unexpected(groups.error());
  return TextReplay{.graph = LoopWriter(workload, *groups, machine.ranks, scale).write(),
                    .warnings = left_out(workload)};
}

}  // namespace ringwright::traces
