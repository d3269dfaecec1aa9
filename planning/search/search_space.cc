#include "planning/search/search_space.h"

#include <algorithm>
#include <array>
#include <charconv>

#include <fmt/format.h>

#include "core/base/check.h"
#include "planning/search/axis_values.h"

namespace ringwright::planning {
namespace {

// The order in which axes are varied, the slowest first.
constexpr std::array<std::string_view, 12> kAxes{"tp",       "pp",           "virtual_stages", "cp",
                                                 "ep",       "etp",          "micro_batch",    "recompute",
                                                 "sharding", "stage_layers", "schedule",       "sequence_parallel"};
constexpr std::string_view kBatch = "training.global_batch";

std::int64_t number(const std::string& text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  CHECK(error == std::errc() && end == text.data() + text.size(), "axes of numbers hold numbers");
  return value;
}

void choose(std::string_view axis, const std::string& value, Layout& layout) {
  if (axis == "tp")
    layout.tp = number(value);
  else if (axis == "pp")
    layout.pp = number(value);
  else if (axis == "virtual_stages")
    layout.virtual_stages = number(value);
  else if (axis == "cp")
    layout.cp = number(value);
  else if (axis == "ep")
    layout.ep = number(value);
  else if (axis == "etp")
    layout.etp = value;
  else if (axis == "micro_batch")
    layout.micro_batch = number(value);
  else if (axis == "recompute")
    layout.recompute = value;
  else if (axis == "sharding")
    layout.sharding = value;
  else if (axis == "stage_layers")
    layout.stage_layers = value;
  else if (axis == "schedule")
    layout.schedule = value;
  else if (axis == "sequence_parallel")
    layout.sequence_parallel = value;
  else
    layout.others.emplace_back(axis, value);
}

// Whatever `virtual_stages` is, 1 or 2.
bool has_two_chunks(std::string_view schedule) {
  return workload::find_schedule(schedule).chunks == workload::ChunkSupport::kTwo;
}

// Layers of each model chunk by the simple rules; none where a rule gives none.
std::vector<std::int64_t> spread(std::string_view rule, std::int64_t layers, std::int64_t parts) {
  const bool trimmed = rule == "trim-ends";
  if (rule != "even" && !trimmed) return {};
  const std::int64_t counted = layers + (trimmed ? 2 : 0);
  if (counted % parts != 0 || parts < 2) return {};
  std::vector<std::int64_t> spread(static_cast<std::size_t>(parts), counted / parts);
  if (trimmed) {
    --spread.front();
    --spread.back();
  }
  return spread;
}

constexpr std::array<std::string_view, 21> kOfOneLayout{"megatron",
                                                        "training.deepspeed",
                                                        "parallel.fsdp_config",
                                                        "parallel.tp_comm_overlap_cfg",
                                                        "parallel.schedule_file",
                                                        "parallel.stages",
                                                        "parallel.plan_file",
                                                        "parallel.dp",
                                                        "parallel.layers_per_part",
                                                        "parallel.pipeline_model_parallel_layout",
                                                        "parallel.decoder_first_pipeline_num_layers",
                                                        "parallel.decoder_last_pipeline_num_layers",
                                                        "parallel.account_for_embedding_in_pipeline_split",
                                                        "parallel.account_for_loss_in_pipeline_split",
                                                        "parallel.microbatch_group_size_per_vp_stage",
                                                        "parallel.microbatches_per_replica",
                                                        "parallel.virtual_stages",
                                                        "parallel.stage_layers",
                                                        "parallel.sequence_parallel",
                                                        "parallel.etp",
                                                        "published"};

void change_recompute(const Layout& layout, ConfigChanges& changes) {
  changes.settings.push_back("training.recompute=" + layout.recompute);
  if (layout.recompute != "selective") changes.removed.emplace_back("training.recompute_modules");
  if (layout.recompute != "except-saved") changes.removed.emplace_back("training.recompute_saves");
  if (layout.recompute == "full") return;
  for (const std::string_view key :
       {"recompute_method", "recompute_num_layers", "distribute_saved_activations", "cpu_checkpointing"}) {
    changes.removed.push_back(fmt::format("training.{}", key));
  }
}

// All layouts train one model in one framework, with the loss of the scenario itself, whose default depends on fsdp.
void change_sharding(const Layout& layout, const configs::Scenario& scenario, ConfigChanges& changes) {
  const bool fsdp = layout.sharding == "fsdp";
  const bool was_fsdp = scenario.document.names("parallel.fsdp");
  if (fsdp != was_fsdp && !scenario.document.names("training.cross_entropy")) {
    changes.settings.push_back(
        fmt::format("training.cross_entropy={}", to_string(scenario.job.training.cross_entropy)));
  }
  if (fsdp) {
    changes.removed.emplace_back("parallel.zero");
    if (!was_fsdp) changes.settings.emplace_back("parallel.fsdp={}");
    return;
  }
  changes.removed.emplace_back("parallel.fsdp");
  const std::string stage = layout.sharding == "none" ? "0" : layout.sharding.substr(layout.sharding.size() - 1);
  changes.settings.push_back("parallel.zero.stage=" + stage);
}

}  // namespace

SearchSpace::SearchSpace(const configs::Scenario& scenario, const configs::SearchSettings& settings)
    : scenario_(scenario) {
  const auto given = [&settings](std::string_view name) {
    return std::ranges::find(settings.given, name, &configs::SearchAxis::name);
  };
  for (const std::string_view name : kAxes) {
    const auto found = given(name);
    axes_.push_back({.name = std::string(name),
                     .values = found == settings.given.end() ? axis_values(name, scenario, settings) : found->values});
  }
  const workload::ParallelOptions& own = scenario.job.parallel;
  pp_given_ = given("pp") != settings.given.end();
  gathers_in_pipelines_ = given("sharding") != settings.given.end() || (own.pp > 1 && own.zero_stage == 3);
  for (const configs::SearchAxis& axis : settings.given) {
    if (std::ranges::find(kAxes, axis.name) == kAxes.end()) axes_.push_back(axis);
  }
  for (const std::string_view key : kOfOneLayout) {
    if (scenario.document.names(key)) of_one_layout_.emplace_back(key);
  }
}

const std::vector<std::string>& SearchSpace::values(std::string_view axis) const {
  return std::ranges::find(axes_, axis, &configs::SearchAxis::name)->values;
}

std::size_t SearchSpace::size() const {
  std::size_t product = 1;
  for (const configs::SearchAxis& axis : axes_) product *= axis.values.size();
  return product;
}

Layout SearchSpace::layout(std::size_t index) const {
  Layout layout;
  std::vector<std::size_t> digits(axes_.size());
  for (std::size_t axis = axes_.size(); axis-- > 0;) {
    digits[axis] = index % axes_[axis].values.size();
    index /= axes_[axis].values.size();
  }
  for (std::size_t axis = 0; axis < axes_.size(); ++axis)
    choose(axes_[axis].name, axes_[axis].values[digits[axis]], layout);
  return layout;
}

Layout SearchSpace::essence(Layout layout) const {
  const auto has = [this](std::string_view axis, std::string_view value) {
    return std::ranges::find(values(axis), value) != values(axis).end();
  };
  if (layout.stage_layers == kAlpa) {
    for (const std::string_view axis : {"tp", "pp", "virtual_stages", "cp", "ep", "etp"}) {
      choose(axis, values(axis).front(), layout);
    }
    return layout;
  }
  if (layout.tp == 1) layout.sequence_parallel = values("sequence_parallel").front();
  if (layout.pp == 1) layout.stage_layers = values("stage_layers").front();
  if (layout.tp == 1 && layout.etp == "1" && has("etp", "tp")) layout.etp = "tp";
  if (has_one_replica(layout) && !matters_alone(layout)) layout.sharding = values("sharding").front();
  const bool interleaved = layout.schedule == "interleaved-1f1b" || layout.schedule == "dapple";
  if (interleaved && has("schedule", "1f1b")) layout.schedule = "1f1b";
  if (has_two_chunks(layout.schedule) && layout.virtual_stages == 2 && has("virtual_stages", "1")) {
    layout.virtual_stages = 1;
  }
  return layout;
}

// Of all parameters: ranks beyond those of one model hold copies of the dense ones, and tensor-parallel ranks that do
// not divide the experts hold copies of these.
bool SearchSpace::has_one_replica(const Layout& layout) const {
  if (layout.tp * layout.pp != scenario_.cluster.gpus()) return false;
  const std::int64_t etp = layout.etp == "tp" ? layout.tp : number(layout.etp);
  return !scenario_.job.model.experts || layout.ep * etp == layout.tp;
}

// What a kind of sharding brings besides sharding: offloading to the host, and linear operators in tiles.
bool SearchSpace::matters_alone(const Layout& layout) const {
  constexpr std::array<std::string_view, 4> kKeys{"parallel.zero.offload_optimizer", "parallel.zero.offload_param",
                                                  "parallel.zero.tiled_linear", "parallel.fsdp.cpu_offload"};
  return std::ranges::any_of(kKeys, [&](std::string_view key) {
    return scenario_.document.names(key) ||
           std::ranges::any_of(layout.others, [key](const auto& other) { return other.first.starts_with(key); });
  });
}

ConfigChanges SearchSpace::changes(const Layout& layout) const {
  ConfigChanges changes;
  changes.removed = of_one_layout_;
  const auto set = [&changes](std::string_view key, const auto& value) {
    changes.settings.push_back(fmt::format("{}={}", key, value));
  };
  if (layout.stages.empty()) {
    set("parallel.tp", layout.tp);
    set("parallel.pp", layout.pp);
  } else {
    changes.removed.insert(changes.removed.end(), {"parallel.tp", "parallel.pp"});
    set("parallel.stages", layout.stages);
  }
  set("parallel.cp", layout.cp);
  set("training.micro_batch", layout.micro_batch);
  if (layout.virtual_stages > 1) set("parallel.virtual_stages", layout.virtual_stages);
  set("parallel.schedule",
      layout.schedule == "1f1b" && layout.virtual_stages > 1 ? "interleaved-1f1b" : layout.schedule);
  if (layout.pp > 1 && layout.stages.empty()) set("parallel.stage_layers", layout.stage_layers);
  if (layout.tp > 1) set("parallel.sequence_parallel", layout.sequence_parallel);
  if (scenario_.job.model.experts) {
    set("parallel.ep", layout.ep);
    set("parallel.etp", layout.etp == "tp" ? std::to_string(layout.tp) : layout.etp);
  } else if (layout.ep > 1) {
    set("parallel.ep", layout.ep);
  }
  change_recompute(layout, changes);
  change_sharding(layout, scenario_, changes);
  for (const auto& [key, value] : layout.others) set(key, value);
  return changes;
}

std::optional<Refusal> SearchSpace::left_out(const Layout& layout) const {
  const bool gathers = layout.sharding == "fsdp" || layout.sharding == "zero-3";
  if (gathers_in_pipelines_ || !gathers || layout.pp == 1) return std::nullopt;
  return Refusal{"",
                 "left out unless values of sharding are set: parameters gathered for every microbatch of a pipeline",
                 fmt::format("{} with pp {}", layout.sharding, layout.pp)};
}

std::vector<std::int64_t> SearchSpace::tensor_sizes() const {
  std::vector<std::int64_t> sizes;
  for (const std::string& value : values("tp")) sizes.push_back(number(value));
  return sizes;
}

bool SearchSpace::allows_stages(std::size_t count) const {
  return !pp_given_ || std::ranges::find(values("pp"), std::to_string(count)) != values("pp").end();
}

bool SearchSpace::repeats_layers(const Layout& layout, const workload::ParallelOptions& parallel) const {
  if (layout.pp == 1 || !layout.stages.empty()) return false;
  for (const std::string& rule : values("stage_layers")) {
    if (rule == layout.stage_layers) return false;
    if (spread(rule, scenario_.job.model.layers, parallel.parts()) == parallel.layers_per_part) return true;
  }
  return false;
}

namespace {

std::string layers_word(const workload::ParallelOptions& parallel) {
  switch (parallel.stage_layers) {
    case workload::StageLayers::kEven: return parallel.embedding_counts || parallel.loss_counts ? "trim-ends" : "even";
    case workload::StageLayers::kFilled: return "filled";
    case workload::StageLayers::kListed: return "listed";
    case workload::StageLayers::kBalanced: return "balanced";
    case workload::StageLayers::kBalancedMemory: return "balanced-memory";
    case workload::StageLayers::kEnds: return "ends";
  }
  return {};
}

std::string value_read(const ConfigLog& log, std::string_view path) {
  const auto found = std::ranges::find(log.values(), path, &ValueRead::path);
  return found == log.values().end() ? std::string("-") : found->text;
}

}  // namespace

bool holds_for_one_layout(std::string_view key) {
  return std::ranges::find(kOfOneLayout, key) != kOfOneLayout.end();
}

Layout own_layout(const configs::Scenario& scenario, const std::vector<configs::SearchAxis>& axes) {
  const workload::ParallelOptions& own = scenario.job.parallel;
  const auto stages = std::ranges::find(axes, "virtual_stages", &configs::SearchAxis::name);
  const bool tries_one = stages != axes.end() && std::ranges::find(stages->values, "1") != stages->values.end();
  const bool implied = tries_one && !own.listed && has_two_chunks(own.schedule);
  Layout layout{.tp = own.tp,
                .pp = own.pp,
                .virtual_stages = implied ? 1 : own.virtual_stages,
                .cp = own.cp,
                .ep = own.experts.ep,
                .etp = std::to_string(own.experts.etp),
                .micro_batch = scenario.job.training.micro_batch,
                .recompute = recompute_word(scenario.job.training.recompute),
                .sharding = sharding_word(own, scenario.document),
                .schedule = own.listed                           ? "listed"
                            : own.schedule == "interleaved-1f1b" ? "1f1b"
                                                                 : own.schedule,
                .stage_layers = layers_word(own),
                .sequence_parallel = own.sequence_parallel ? "true" : "false",
                .others = {}};
  for (const configs::SearchAxis& axis : axes) {
    if (configs::axis_of(axis.name).empty())
      layout.others.emplace_back(axis.name, value_read(scenario.document.log(), axis.name));
  }
  return layout;
}

namespace {

// Whether each replica has the same share of the scenario's own batch.
bool shares_own_batch_evenly(const Layout& layout, const configs::Scenario& scenario) {
  const auto varies = [&layout](std::string_view key) {
    return std::ranges::find(layout.others, key, &std::pair<std::string, std::string>::first) != layout.others.end();
  };
  return scenario.job.parallel.microbatch_split != workload::MicrobatchSplit::kBalanced && !varies(kBatch) &&
         !varies("parallel.microbatch_split") && !varies("parallel.microbatches_per_replica");
}

}  // namespace

std::optional<Refusal> refuse_early(const Layout& layout, const configs::Scenario& scenario) {
  if (layout.stage_layers == kAlpa) return std::nullopt;  // its stages are not planned yet
  const std::int64_t gpus = scenario.cluster.gpus();
  const std::int64_t batch = scenario.job.training.global_batch;
  const std::int64_t ranks = layout.tp * layout.cp * layout.pp;
  if (gpus % ranks != 0) {
    return Refusal{"E130", "tp x cp x pp does not divide the GPUs",
                   fmt::format("tp {} x cp {} x pp {} = {} does not divide {} GPUs", layout.tp, layout.cp, layout.pp,
                               ranks, gpus)};
  }
  const std::int64_t dp = gpus / ranks;
  if (shares_own_batch_evenly(layout, scenario) && batch % (layout.micro_batch * dp) != 0) {
    return Refusal{"E136", "micro_batch x dp does not divide the global batch",
                   fmt::format("micro_batch {} x dp {} does not divide {} sequences", layout.micro_batch, dp, batch)};
  }
  if (layout.pp == 1 && layout.virtual_stages > 1) {
    return Refusal{"E137", "virtual stages without pipeline stages",
                   fmt::format("{} virtual stages with pp 1", layout.virtual_stages)};
  }
  return std::nullopt;
}

}  // namespace ringwright::planning
