#include "workload/recommendation/recommendation_step.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>

#include <fmt/format.h>

#include "workload/program/gradient_buckets.h"
#include "workload/program/graph_tables.h"
#include "workload/program/program_writer.h"
#include "workload/recommendation/embedding_exchanges.h"
#include "workload/recommendation/recommendation_dimensions.h"
#include "workload/recommendation/recommendation_kernels.h"
#include "workload/recommendation/table_lookups.h"

namespace ringwright::workload {
namespace {

// Rows of tables in host memory; in both directions at once.
constexpr StreamIndex kFetchStream = 2;
constexpr StreamIndex kWriteBackStream = 3;
constexpr Bytes kUnlimited{std::numeric_limits<std::int64_t>::max()};
constexpr std::int64_t kFirstBucket = 1 << 20;  // dist._DEFAULT_FIRST_BUCKET_BYTES of PyTorch

std::size_t ranks_in(const TablePlacement& placement) {
  return placement.role_of_rank.size();
}

GradientBuckets buckets_of(const RecommendationModel& model) {
  if (traits_of(model.framework).one_all_reduce) return {kUnlimited, kUnlimited};
  return {model.bucket, std::min(model.bucket, Bytes(kFirstBucket))};
}

// Writes the program of one role.
class RoleWriter {
 public:
  RoleWriter(const RecommendationModel& model, const TablePlacement& placement, GraphTables& tables, std::uint32_t role)
      : model_(model),
        placement_(placement),
        traits_(traits_of(model.framework)),
        tables_(tables),
        writer_(tables, fmt::format("tables {}", role)),
        exchanges_(writer_, model, placement),
        shares_{.placed = placed_tables(model, placement, placement.roles[role]),
                .row_wise = row_wise_tables(model, placement, placement.roles[role]),
                .replicated = replicated_tables(model, placement)},
        host_bytes_(exchanged_with_host()),
        samples_(model.global_batch / static_cast<std::int64_t>(ranks_in(placement))),
        gradients_{.buckets = buckets_of(model), .calls = {}, .late = {}, .sent = {}} {}

  [[nodiscard]] Program write(std::vector<Bytes>& sent) && {
    const bool ahead = model_.cache.lookahead > 0;
    if (host_bytes_ > Bytes(0)) fetch();
    if (host_bytes_ > Bytes(0) && ahead) write_back({});
    const std::vector<TaskIndex> pooled = look_up();
    const std::vector<DenseLayer> bottom = bottom_layers(model_);
    forward("bottom MLP", bottom);
    if (traits_.prepares_ahead && !model_.forward_only) sort();
    for (const TaskIndex task : pooled) writer_.wait(task);
    forward_top();
    if (!model_.forward_only) learn(bottom);
    if (host_bytes_ > Bytes(0) && !ahead) write_back(writer_.last_computation());
    sent = {exchanges_.sent(), gradients_.sent};
    for (const Bytes more : exchanges_.sent_for_hosts()) sent.push_back(more);
    if (model_.cache.on()) {
      sent.push_back(host_bytes_ * 2);
      return writer_.finish(kWriteBackStream + 1);
    }
    return writer_.finish(ranks_in(placement_) > 1 ? 2 : 1);
  }

 private:
  // The backward pass and the update.
  void learn(const std::vector<DenseLayer>& bottom) {
    backward_top();
    const std::vector<TaskIndex> returned = exchanges_.return_gradients();
    name("bottom MLP backward");
    backward(bottom, InputGradient::kNotNeeded);
    late_weight_gradients();
    replicated_gradients();
    reduce(gradients_.buckets.close());
    for (const TaskIndex task : returned) writer_.wait(task);
    update();
  }

  void name(const std::string& text) { writer_.name_work({.label = text, .work = text}); }
  void run(std::vector<Kernel> kernels) {
    for (Kernel& kernel : kernels) kernel.host_paced = waits_for_sizes();
    writer_.compute(tables_.add_section(std::move(kernels)));
  }

  // Ranks exchange how many indices each will send, and the host reads these numbers before it exchanges the indices
  // (TorchRec's KJTAllToAll; in traces the host waits in a copy of so many numbers). It issues all else after that.
  [[nodiscard]] bool waits_for_sizes() const { return exchanges_.sends_indices() && !prefetches(); }
  [[nodiscard]] bool prefetches() const { return model_.prefetch_indices || traits_.prepares_ahead; }

  // Weights and optimizer state of the rows that a step exchanges with host memory, in one direction.
  [[nodiscard]] Bytes exchanged_with_host() const {
    double bytes = 0.0;
    for (const std::vector<TableShare>* shares : {&shares_.placed, &shares_.row_wise}) {
      for (const TableShare& share : *shares) {
        const double weights = row_weight_bytes(model_, share.columns);
        bytes += static_cast<double>(share.tables) * fetched_rows(model_, share) *
                 (weights + row_state_bytes(model_, share.columns));
      }
    }
    return as_bytes(bytes);
  }

  // With a lookahead the rows are those of a later batch; otherwise lookups wait for them.
  void fetch() {
    const TaskIndex fetched = writer_.send_after(
        own_host(kFetchStream), {.bytes = host_bytes_, .path = DmaPath::kFromMemory}, "rows from host memory", {});
    if (model_.cache.lookahead == 0) writer_.wait(fetched);
  }

  // Rows leave the cache for those that enter it; with a lookahead, those that an earlier step was the last to use.
  void write_back(const std::vector<TaskIndex>& after) {
    static_cast<void>(writer_.send_after(own_host(kWriteBackStream),
                                         {.bytes = host_bytes_, .path = DmaPath::kToMemory}, "rows to host memory",
                                         after));
  }

  [[nodiscard]] CommStream own_host(StreamIndex stream) const {
    return {.dimension = DimensionId(recommendation_dimensions(placement_).size()), .stream = stream};
  }

  // Indices, lookups, and the exchanges of pooled rows.
  [[nodiscard]] std::vector<TaskIndex> look_up() {
    std::vector<TaskIndex> calls;
    if (waits_for_sizes()) {
      name("sizes of exchanges");
      run(size_kernels(model_, placement_));
    }
    if (!traits_.prepares_ahead) exchange_indices();
    name("lookup");
    run(lookup_kernels(model_, "lookup", shares_.placed));
    exchanges_.pooled_rows(calls);
    name("lookup of split tables");
    run(lookup_kernels(model_, "lookup of split tables", shares_.row_wise));
    exchanges_.partial_sums(calls);
    if (traits_.prepares_ahead) exchange_indices();
    name("lookup of copies");
    run(lookup_kernels(model_, "lookup of copies", shares_.replicated));
    return calls;
  }

  // Of this batch, or of the next one.
  void exchange_indices() {
    const std::optional<TaskIndex> indices = exchanges_.indices();
    if (indices && !prefetches()) writer_.wait(*indices);
  }

  void forward(const std::string& text, const std::vector<DenseLayer>& layers) {
    name(text);
    for (const DenseLayer& layer : layers) run(layer_forward(model_, layer, samples_));
  }

  void forward_top() {
    name("interaction");
    run(interaction_forward(model_, samples_));
    const std::vector<DenseLayer> cross = cross_layers(model_);
    for (std::size_t i = 0; i < cross.size(); ++i) {
      run(layer_forward(model_, cross[i], samples_));
      if (i % 2 == 1) run(cross_forward(model_, samples_));
    }
    forward("top MLP", top_layers(model_));
    run(loss_kernels(model_, samples_));
  }

  void backward_top() {
    name("top MLP backward");
    backward(top_layers(model_), InputGradient::kNeeded);
    name("interaction backward");
    const std::vector<DenseLayer> cross = cross_layers(model_);
    for (std::size_t i = cross.size(); i-- > 0;) {
      if (i % 2 == 1) run(cross_backward(model_, samples_));
      backward_layer(cross[i], InputGradient::kNeeded);
    }
    run(interaction_backward(model_, samples_));
  }

  // `first`: of the first layer's input.
  void backward(const std::vector<DenseLayer>& layers, InputGradient first) {
    for (std::size_t i = layers.size(); i-- > 0;) backward_layer(layers[i], i > 0 ? InputGradient::kNeeded : first);
  }

  void backward_layer(const DenseLayer& layer, InputGradient input) {
    run(input_gradient_kernels(model_, layer, samples_, input));
    if (traits_.late_wgrad)
      gradients_.late.push_back(layer);
    else
      weight_gradient(layer);
  }

  void late_weight_gradients() {
    if (gradients_.late.empty()) return;
    name("weight gradients");
    for (const DenseLayer& layer : gradients_.late) weight_gradient(layer);
  }

  void weight_gradient(const DenseLayer& layer) {
    run(weight_gradient_kernels(model_, layer, samples_));
    add_to_bucket(static_cast<double>(layer.parameters()) * gradient_bytes(model_));
  }

  void add_to_bucket(double bytes) { reduce(gradients_.buckets.add(as_bytes(bytes))); }

  void reduce(Bytes bytes) {
    if (bytes == Bytes(0) || ranks_in(placement_) < 2) return;
    gradients_.sent += bytes;
    gradients_.calls.push_back(writer_.collective(kGradientStream, {.kind = CollectiveKind::kAllReduce, .bytes = bytes},
                                                  fmt::format("gradients {}", gradients_.calls.size())));
  }

  void replicated_gradients() {
    if (shares_.replicated.empty()) return;
    name("gradients of copies");
    run(dense_gradient_kernels(model_, shares_.replicated));
    for (const TableShare& share : shares_.replicated) {
      const double bytes = share.rows * static_cast<double>(share.columns) * gradient_bytes(model_);
      for (std::int64_t table = 0; table < share.tables; ++table) add_to_bucket(bytes);
    }
  }

  // Of indices by row, for the update.
  void sort() {
    name("sort of indices");
    run(sort_kernels(model_, "table", shares_.placed));
    run(sort_kernels(model_, "split table", shares_.row_wise));
  }

  void update() {
    if (!traits_.prepares_ahead) sort();
    name("table update");
    run(sparse_update_kernels(model_, "table", shares_.placed));
    run(sparse_update_kernels(model_, "split table", shares_.row_wise));
    name("dense update");
    for (const TaskIndex task : gradients_.calls) writer_.wait(task);
    run(dense_update(model_, all_reduced_parameters(model_, placement_)));
  }

  const RecommendationModel& model_;
  const TablePlacement& placement_;
  FrameworkTraits traits_;
  GraphTables& tables_;
  ProgramWriter writer_;
  EmbeddingExchanges exchanges_;
  struct Shares {
    std::vector<TableShare> placed, row_wise, replicated;
  };
  Shares shares_;
  Bytes host_bytes_;      // fetched from host memory, and written back, in a step
  std::int64_t samples_;  // of this rank
  struct Gradients {
    GradientBuckets buckets;
    std::vector<TaskIndex> calls;  // all-reduces
    std::vector<DenseLayer> late;  // whose weights have no gradients yet
    Bytes sent;
  };
  Gradients gradients_;
};

// Of what the mathematics of a rank needs; kernels say how many of their FLOPs run.
Flops flops_of(const TaskGraph& graph, const Program& program) {
  Flops sum;
  for (const Task& task : program.tasks) {
    if (task.kind == TaskKind::kCompute) sum += total_flops(graph.works[task.detail]);
  }
  return sum;
}

void count_work(const RecommendationModel& model, const TablePlacement& placement, StepPlan& plan) {
  const auto ranks = static_cast<double>(ranks_in(placement));
  plan.parameters = as_bytes(parameter_count(model)).count();
  plan.tokens = model.global_batch;
  for (const Program& program : plan.graph.programs) {
    plan.stage_flops.push_back(flops_of(plan.graph, program));
    plan.stage_parameters.push_back(dense_parameters(model));
  }
  // The dense part is the same on all ranks, and tables have no FLOPs that count.
  plan.hardware_flops = plan.stage_flops.front() * ranks;
  plan.model_flops = plan.hardware_flops;
  plan.model_flops_full_attention = plan.hardware_flops;
  for (std::size_t role = 0; role < placement.roles.size(); ++role) {
    const PlacementRole& of = placement.roles[role];
    double held = 0.0;
    for (std::size_t g = 0; g < model.tables.size(); ++g) {
      const GroupPlacement& group = placement.groups[g];
      const double split = static_cast<double>(group.row_wise * model.tables[g].dim) / ranks;
      const double on_host = static_cast<double>(of.host_parts[g] * model.tables[g].dim) /
                             static_cast<double>(placement.ranks_of_host * group.host_parts);
      const auto copied = static_cast<double>(group.replicated * model.tables[g].dim);
      const auto placed = static_cast<double>(of.parts[g] * group.columns);
      held += static_cast<double>(model.tables[g].rows) * (split + on_host + copied + placed);
    }
    plan.stage_parameters[role] += as_bytes(held).count();
  }
}

}  // namespace

double all_reduced_parameters(const RecommendationModel& model, const TablePlacement& placement) {
  auto sum = static_cast<double>(dense_parameters(model));
  for (std::size_t g = 0; g < model.tables.size(); ++g) {
    sum += static_cast<double>(placement.groups[g].replicated) * static_cast<double>(model.tables[g].rows) *
           static_cast<double>(model.tables[g].dim);
  }
  return sum;
}

StepPlan build_recommendation_step(const RecommendationModel& model, const TablePlacement& placement) {
  StepPlan plan;
  GraphTables tables;
  for (std::uint32_t role = 0; role < placement.roles.size(); ++role) {
    plan.graph.programs.push_back(RoleWriter(model, placement, tables, role).write(plan.communication.emplace_back()));
  }
  for (const std::uint32_t role : placement.role_of_rank) plan.graph.program_of.emplace_back(role);
  if (ranks_in(placement) > 1 || model.cache.on()) {
    plan.graph.dimensions = placed_dimensions(placement, model.cache.on());
  } else {
    for (std::vector<Bytes>& row : plan.communication) row.clear();
  }
  tables.move_into(plan.graph);
  count_work(model, placement, plan);
  return plan;
}

}  // namespace ringwright::workload
