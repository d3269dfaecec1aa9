#include "validation/training/scenario.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

#include <fmt/format.h>

#include "validation/tables/yaml_text.h"
#include "validation/training/cell_words.h"
#include "validation/training/model_choice.h"
#include "validation/training/recompute.h"
#include "validation/training/unknown_cells.h"

namespace ringwright::validation {
namespace {

std::string stated_version(const TrainingRow& r) {
  return fmt::format("{} {} {} {} {} {}", r.where, r.notes, r.schedule, r.gpu, r.precision,
                     r.experts.value_or(0) > 0 ? "MoE" : "dense");
}

class ScenarioMaker {
 public:
  ScenarioMaker(const TrainingRow& row, const TrainingConventions& conventions)
      : row_(row),
        conventions_(conventions),
        source_(conventions.find_source(row.source(), row.model)),
        words_(conventions.vocabulary),
        version_(source_ != nullptr ? source_->version_of(stated_version(row)) : nullptr),
        overlap_(read_overlap(words_, row.overlap)),
        sharding_(read_sharding(words_, row.sharding)) {}

  tl::expected<TrainingScenario, Unplayable> make() {
    constexpr std::array kSteps = {&ScenarioMaker::stack, &ScenarioMaker::machine, &ScenarioMaker::model,
                                   &ScenarioMaker::layout, &ScenarioMaker::batch};
    constexpr std::array kColumns = {"framework", "gpu", "model", "tp", "gbs"};  // columns that reasons refer to
    for (std::size_t i = 0; i < kSteps.size(); ++i) {
      if (std::string why = (this->*kSteps[i])(); !why.empty()) return tl::unexpected(Unplayable{why, kColumns[i]});
    }
    pipeline();
    sharding();
    training();
    for (const UnknownCell& cell : unknown_cells(row_, words_)) {
      assume(fmt::format("the stack's settings: the words '{}' in column {} are not known", cell.text, cell.column));
    }
    for (const std::string& remark : row_.remarks) assume("the source states for " + remark);
    return TrainingScenario{.yaml = yaml_.text(), .assumed = std::move(assumed_)};
  }

 private:
  void assume(std::string what) { assumed_.push_back(std::move(what)); }
  template <class T>
  void set(std::string_view path, const T& value) {
    yaml_.set(path, fmt::format("{}", value));
  }
  void set_if(std::string_view path, const std::optional<std::int64_t>& value) {
    if (value) set(path, *value);
  }
  void set_all(const std::vector<Setting>& settings) {
    for (const Setting& setting : settings) yaml_.set(setting.path, setting.value);
  }

  // Each of these returns why the row cannot be simulated, or nothing.
  std::string stack();
  std::string machine();
  std::string model();
  std::string layout();
  std::string batch();
  void hosts(const MachineRule& machine);
  void nics(const MachineRule& machine);
  [[nodiscard]] bool trains_adapters() const;
  void spread_experts();
  void pipeline();
  void spread_layers(std::int64_t parts);
  [[nodiscard]] std::optional<std::string> stated_layout() const;
  void sharding();
  void gradients();
  void fsdp();
  void overlap();
  void tensor_overlap(std::optional<bool> said);
  void training();

  const TrainingRow& row_;
  const TrainingConventions& conventions_;
  const SourceRule* source_;  // null: no rule for the source
  const Vocabulary& words_;
  const VersionRule* version_;  // null: nothing differs
  Overlap overlap_;
  Sharding sharding_;
  YamlText yaml_;
  std::vector<std::string> assumed_;
  bool adapters_ = false;  // low-rank ones are all that is trained
  std::int64_t gpus_ = 1, per_host_ = 1, tray_ = 1, tp_ = 1, pp_ = 1, cp_ = 1, dp_ = 1;
};

std::string ScenarioMaker::stack() {
  std::string file = source_ != nullptr ? source_->stack : std::string();
  if (version_ != nullptr && !version_->stack.empty()) file = version_->stack;
  if (file.empty()) {
    const StackRule* const rule = find_rule(conventions_.frameworks, row_.framework);
    if (rule == nullptr) return why_unknown_framework(row_.framework);
    file = rule->stack;
  }
  yaml_.set("extends", yaml_quoted(conventions_.folder + "/" + file));
  return {};
}

std::string ScenarioMaker::machine() {
  if (!row_.gpus || *row_.gpus < 1) return "the source does not state the number of GPUs";
  if (row_.gpus_per_node == 0) return "the source states 0 GPUs per node";
  gpus_ = *row_.gpus;
  const auto fits = [&](const MachineRule& rule) {
    return rule.fits(row_.gpu) && (rule.host == 0 || rule.host == row_.gpus_per_node.value_or(8));
  };
  const auto machine = std::ranges::find_if(conventions_.machines, fits);
  if (machine == conventions_.machines.end()) return fmt::format("there is no preset for the GPU '{}'", row_.gpu);
  yaml_.set("cluster.node.preset", machine->node);
  yaml_.set("cluster.node.gpu.preset", machine->gpu);
  hosts(*machine);
  if (gpus_ > per_host_) nics(*machine);
  // A rack's cards are rails of its trays, not one rail per card.
  if (tray_ > 1 && gpus_ > per_host_) set("cluster.fabric.rails", std::min(tray_, per_host_));
  return {};
}

// GPUs of a host, or of an NVLink domain where there is one: as many of it as divide the job evenly.
void ScenarioMaker::hosts(const MachineRule& machine) {
  const bool rack = machine.domain > 0;
  const std::int64_t most = rack ? machine.domain : row_.gpus_per_node.value_or(8);
  const std::int64_t step = rack ? machine.tray : 1;
  if (!rack && !row_.gpus_per_node) assume("8 GPUs a host");
  per_host_ = std::min(gpus_, most);
  while (gpus_ % per_host_ != 0 || (per_host_ % step != 0 && per_host_ > step)) --per_host_;
  if (gpus_ > most && per_host_ != most) assume(fmt::format("{} GPUs of each NVLink domain are used", per_host_));
  set("cluster.nodes", gpus_ / per_host_);
  set("cluster.node.gpus", per_host_);
  if (rack) {
    tray_ = machine.tray;
    set("cluster.node.nic.count", std::max<std::int64_t>(1, per_host_ * machine.cards / tray_));
    set("cluster.node.pcie.sockets", std::max<std::int64_t>(1, per_host_ * machine.sockets / tray_));
  }
}

// Hosts of four GPUs are one site's presets, whose transport another site's need not be.
void ScenarioMaker::nics(const MachineRule& machine) {
  const TransportRule* const transport = find_rule(conventions_.transports, row_.nic);
  if (transport != nullptr) yaml_.set("cluster.node.nic.transport", transport->transport);
  if (transport == nullptr && machine.host > 0) yaml_.set("cluster.node.nic.transport", "infiniband");
  const auto nics = read_cards(words_, row_.nic);
  if (!nics || nics->count == 0) {
    assume("network cards as the host's preset has them");
    return;
  }
  if (nics->divided) assume(fmt::format("the node's sum is {} network cards", nics->count));
  // A rack's table names the cards of one tray.
  set("cluster.node.nic.count",
      tray_ > 1 ? std::max<std::int64_t>(1, nics->count * per_host_ / tray_) : std::int64_t{nics->count});
  double gbps = nics->gbps;
  if (const NicRule* const rule = find_rule(conventions_.nics, row_.nic)) {
    gbps = std::min(gbps, rule->host_gbps / nics->count);
    assume(
        fmt::format("{:.4g} Gb/s from host to host, the rate of '{}'", rule->host_gbps, fmt::join(rule->words, " ")));
  }
  yaml_.set("cluster.node.nic.bandwidth", fmt::format("{:.6g}Gbps", gbps));
}

// Training adapters is another model, in whichever column it is stated.
bool ScenarioMaker::trains_adapters() const {
  return std::ranges::any_of(words_.adapters, [&](const AdapterRule& rule) {
    return rule.fits(rule.column == AdapterColumn::kModel ? row_.model : row_.notes);
  });
}

std::string ScenarioMaker::model() {
  adapters_ = trains_adapters();
  const auto choice = choose_model(row_, conventions_, adapters_);
  if (!choice) return choice.error();
  set_all(choice->settings);
  for (const std::string& what : choice->assumed) assume(what);
  return {};
}

std::string ScenarioMaker::layout() {
  tp_ = row_.tp.value_or(1);
  pp_ = row_.pp.value_or(1);
  cp_ = row_.cp.value_or(1);
  if (!row_.tp && !row_.pp && !row_.dp && gpus_ > 1) return "the source gives no parallel layout";
  const std::int64_t model = std::max<std::int64_t>(1, tp_ * pp_ * cp_);
  if (gpus_ % model != 0) {
    return fmt::format("tp {} x pp {} x cp {} does not divide {} GPUs", tp_, pp_, cp_, gpus_);
  }
  dp_ = gpus_ / model;
  if (row_.dp && *row_.dp != dp_)
    assume(fmt::format("dp is {}, what remains of the GPUs; the source prints {}", dp_, *row_.dp));
  set("parallel.tp", tp_);
  set("parallel.pp", pp_);
  if (cp_ > 1) set("parallel.cp", cp_);
  if (row_.ep.value_or(1) > 1) set("parallel.ep", *row_.ep);
  if (row_.etp && (row_.experts || *row_.etp > 1)) set("parallel.etp", *row_.etp);
  if (tp_ > 1 && row_.sequence_parallel) set("parallel.sequence_parallel", *row_.sequence_parallel != 0);
  if (row_.experts) spread_experts();
  return {};
}

// What a layout with experts requires, as in Megatron.
void ScenarioMaker::spread_experts() {
  if (tp_ > 1 && !row_.sequence_parallel) {
    set("parallel.sequence_parallel", true);
    assume("sequence parallelism, which experts with tensor parallelism need");
  }
  if (!row_.etp && (gpus_ / pp_) % (tp_ * row_.ep.value_or(1)) != 0) {
    set("parallel.etp", 1);
    assume("whole experts on each rank: tp x ep would be more than the ranks of a stage");
  }
}

// Of micro-batch, global batch and accumulation, two determine the third.
std::string ScenarioMaker::batch() {
  std::int64_t micro = row_.micro_batch.value_or(0);
  std::int64_t global = row_.global_batch.value_or(0);
  if (global == 0 && micro > 0 && row_.accumulation) global = micro * dp_ * *row_.accumulation;
  if (global == 0 && micro > 0 && pp_ == 1) {
    global = micro * dp_;
    assume("one microbatch in a step, since the source does not state the global batch");
  }
  if (global == 0) return "the source does not state the global batch";
  if (micro == 0 && row_.accumulation.value_or(0) > 0)
    micro = std::max<std::int64_t>(1, global / dp_ / *row_.accumulation);
  if (micro == 0) {
    micro = 1;
    assume("one sequence a microbatch");
  }
  if (global % (micro * dp_) != 0 && row_.accumulation) {
    assume(fmt::format("{} sequences, by microbatch, ranks and accumulation; the source prints {}",
                       micro * dp_ * *row_.accumulation, global));
    global = micro * dp_ * *row_.accumulation;
  }
  if (global % (micro * dp_) != 0 && global >= micro * dp_) {
    const std::int64_t whole = global / (micro * dp_) * micro * dp_;
    assume(fmt::format("{} of the {} sequences, whole microbatches", whole, global));
    global = whole;
  }
  set("training.global_batch", global);
  set("training.micro_batch", micro);
  return {};
}

void ScenarioMaker::pipeline() {
  const std::int64_t chunks = row_.virtual_stages.value_or(1);
  if (pp_ == 1) return;
  const ScheduleRule* const rule = find_rule(words_.schedules, row_.schedule);
  std::string schedule = rule != nullptr ? rule->schedule : std::string();
  if (chunks > 1 && (schedule.empty() || schedule == "1f1b")) schedule = "interleaved-1f1b";
  if (chunks == 1 && schedule == "interleaved-1f1b") schedule = "1f1b";
  if (!schedule.empty()) yaml_.set("parallel.schedule", schedule);
  if (chunks > 1) set("parallel.virtual_stages", chunks);
  spread_layers(pp_ * chunks);
}

// Of the recipe.
std::optional<std::string> ScenarioMaker::stated_layout() const {
  const std::vector<Setting> recipe = read_recipe(words_, row_.recipe);
  const auto found = std::ranges::find(recipe, "parallel.pipeline_model_parallel_layout", &Setting::path);
  return found == recipe.end() ? std::nullopt : std::optional(found->value);
}

// Even where possible; else one layer less at both ends, which hold embedding and logits; else as in the source's
// software, or the ends get what the middle leaves.
void ScenarioMaker::spread_layers(std::int64_t parts) {
  const std::int64_t layers = *row_.layers;
  if (layers % parts == 0 || stated_layout()) return;
  if ((layers + 2) % parts == 0) {
    yaml_.set("parallel.stage_layers", "trim-ends");
    assume("one layer less on the first and the last chunk");
    return;
  }
  if (source_ != nullptr && !source_->uneven_layers.empty()) {
    yaml_.set("parallel.stage_layers", source_->uneven_layers);
    return assume("layers are spread as stage_layers: " + source_->uneven_layers);
  }
  std::vector<std::int64_t> list(static_cast<std::size_t>(parts), layers / parts);
  const std::size_t more = static_cast<std::size_t>(layers % parts);
  const std::size_t first = (list.size() - more) / 2;
  for (std::size_t i = 0; i < more; ++i) ++list[first + i];
  yaml_.set("parallel.layers_per_part", fmt::format("[{}]", fmt::join(list, ", ")));
  assume(fmt::format("layers do not divide evenly: {}", fmt::join(list, " ")));
}

void ScenarioMaker::sharding() {
  overlap();
  if (dp_ * cp_ == 1) return;
  if (sharding_.offloads_optimizer) yaml_.set("parallel.zero.offload_optimizer.device", "cpu");
  switch (sharding_.kind) {
    case ShardingKind::kUnstated: return;
    case ShardingKind::kNone: return yaml_.set("parallel.zero.stage", "0");
    case ShardingKind::kOptimizer: return yaml_.set("parallel.zero.stage", "1");
    case ShardingKind::kGradients: return gradients();
    case ShardingKind::kParameters: return yaml_.set("parallel.zero.stage", "3");
    case ShardingKind::kFullShard:
    case ShardingKind::kShardGradOp: return fsdp();
  }
}

// Sharded gradients are reduced for every microbatch, which nobody does in a pipeline: DeepSpeed refuses it
// (runtime/pipe/engine.py), Megatron's and MegaScale's optimizers reduce once.
void ScenarioMaker::gradients() {
  yaml_.set("parallel.zero.stage", pp_ > 1 ? "1" : "2");
  if (pp_ > 1) assume("gradients are reduced once a step, as with ZeRO-1, since there are pipeline stages");
}

void ScenarioMaker::fsdp() {
  const bool keeps = sharding_.kind == ShardingKind::kShardGradOp;
  yaml_.set("parallel.fsdp.sharding_strategy", keeps ? "shard_grad_op" : "full_shard");
  if (const FsdpRule* const rule = find_rule(conventions_.fsdp, row_.framework)) {
    set_all(rule->set);
    if (pp_ > 1) set_all(rule->set_pipeline);
  }
  if (sharding_.degree && *sharding_.degree < dp_ * cp_) {
    yaml_.set("parallel.fsdp.sharding_strategy", "hybrid_shard");
    set("parallel.fsdp.shard_degree", *sharding_.degree);
  }
}

void ScenarioMaker::overlap() {
  const auto set_flag = [&](std::string_view path, const std::optional<bool>& flag) {
    if (flag) set(path, *flag);
  };
  if (dp_ > 1) {
    set_flag("parallel.zero.overlap_grad_reduce", overlap_.grad_reduce);
    if (sharding_.kind == ShardingKind::kOptimizer) {
      set_flag("parallel.zero.overlap_param_gather", overlap_.param_gather);
    }
    if (overlap_.bucket_mb && overlap_.grad_reduce.value_or(false)) {
      yaml_.set("parallel.zero.bucket", fmt::format("{}MB", *overlap_.bucket_mb));
    }
  }
  if (pp_ > 1) set_flag("parallel.overlap_p2p_comm", overlap_.p2p);
  tensor_overlap(overlap_.tensor);
}

// A switch without effect where the sequence is not split, and on GEMMs with adapters.
void ScenarioMaker::tensor_overlap(std::optional<bool> said) {
  const bool by_default = version_ != nullptr && version_->tensor_overlap;
  if (!said.value_or(by_default) || tp_ == 1 || row_.sequence_parallel.value_or(0) == 0 || adapters_) return;
  set("parallel.tp_comm_overlap", true);
  if (!said) assume("tensor-parallel exchanges concurrent with GEMMs, as the source's software does by default");
}

void ScenarioMaker::training() {
  set_all(overlap_.set);
  set_all(read_recipe(words_, row_.recipe));
  const auto layout = stated_layout();
  if (layout && row_.experts && layout->find('m') == std::string::npos) {
    set("model.mtp_num_layers", std::int64_t{0});
    assume("no multi-token prediction: the layout of the pipeline has no layer for it");
  }
  set_all(read_precision(words_, row_.precision, row_.framework));
  const std::int64_t parts = pp_ * std::max<std::int64_t>(1, row_.virtual_stages.value_or(1));
  if (source_ == nullptr || source_->recompute.empty()) {
    return write_recompute(row_, read_recomputation(words_, row_.recompute), parts, yaml_);
  }
  assume(fmt::format("recompute is {}, as the times of the source show; its column states: {}", source_->recompute,
                     row_.recompute));
  yaml_.set("training.recompute", source_->recompute);
}

}  // namespace

tl::expected<TrainingScenario, Unplayable> make_scenario(const TrainingRow& row,
                                                         const TrainingConventions& conventions) {
  return ScenarioMaker(row, conventions).make();
}

}  // namespace ringwright::validation
