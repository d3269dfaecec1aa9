#include "validation/training/cases.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <map>
#include <memory>
#include <mutex>
#include <string_view>

#include <fmt/format.h>

#include "configs/simulation/simulate.h"
#include "validation/training/scenario.h"

namespace ringwright::validation {
namespace {

// The result of one scenario; several rows may share it.
struct Prediction {
  std::string reason;
  StepKind kind;
  bool fits = true;  // into the GPU's memory
  double seconds = 0.0;
  double tokens = 0.0;
  double model_flops = 0.0;
  double hardware_flops = 0.0;
  double peak_flop_rate = 0.0;  // of all GPUs, in their narrowest type
  double bottleneck_compute = 0.0;
  std::vector<TermSeconds> terms;
  double gib[3] = {0.0, 0.0, 0.0};  // by MemoryMeaning, of the fullest stage
};

// The first message of the output, on one line.
std::string first_error(const Diagnostics& diagnostics) {
  for (const Diagnostic& diagnostic : diagnostics.all()) {
    if (diagnostic.severity == Severity::kError) return diagnostic.message;
  }
  return "refused without a reason";
}

double gib(Bytes bytes) {
  return static_cast<double>(bytes.count()) / (1024.0 * 1024.0 * 1024.0);
}

void add_memory(const Report& report, Prediction& result) {
  for (const MemoryRow& row : report.facts.memory) {
    double overhead = 0.0;
    double fragmentation = 0.0;
    for (const MemoryItem& item : row.items) {
      if (item.name == "CUDA context" || item.name == "communicators") overhead += gib(item.size);
      if (item.name == "fragmentation") fragmentation += gib(item.size);
    }
    const double total = gib(row.total);
    const double by_meaning[3] = {total - overhead - fragmentation, total - overhead, total};
    for (std::size_t i = 0; i < 3; ++i) result.gib[i] = std::max(result.gib[i], by_meaning[i]);
    result.fits = result.fits && row.total <= row.capacity;
  }
}

void add_terms(const Report& report, Prediction& result) {
  const TimeBreakdown& all = report.everywhere;
  result.terms.push_back({.name = "compute", .seconds = to_seconds(all.computing)});
  for (const DimensionTime& dimension : all.dimensions) {
    result.terms.push_back({.name = dimension.name, .seconds = to_seconds(dimension.exposed)});
  }
  result.terms.push_back({.name = "idle", .seconds = to_seconds(all.idle)});
  const TimeBreakdown& slowest = report.slowest_stage ? *report.slowest_stage : all;
  result.bottleneck_compute = to_seconds(slowest.computing);
}

// What a machine's collectives cost beyond their messages, found once for all rows on it. Rows are on one machine if
// everything is equal that does not belong to the model, its training and its layout.
class MachineOverheads {
 public:
  [[nodiscard]] configs::KnownOverheads& of(const configs::Scenario& scenario) {
    constexpr std::array<std::string_view, 5> kOfJob = {"name", "model.", "training.", "parallel.", "compute."};
    std::string machine;
    for (const ValueRead& value : scenario.document.log().values()) {
      if (std::ranges::any_of(kOfJob, [&](std::string_view key) { return value.path.starts_with(key); })) continue;
      machine += value.path + '=' + value.text + '\n';
    }
    const std::scoped_lock lock(mutex_);
    auto& known = known_[std::move(machine)];
    if (known == nullptr) known = std::make_unique<configs::KnownOverheads>();
    return *known;
  }

 private:
  std::mutex mutex_;
  std::map<std::string, std::unique_ptr<configs::KnownOverheads>> known_;
};

Prediction predict(const std::string& name, const std::string& yaml, const CaseOptions& options,
                   MachineOverheads& machines) {
  Prediction result;
  const auto scenario = configs::load_scenario_text(name, yaml, {.overrides = options.overrides});
  if (!scenario) {
    result.reason = first_error(scenario.error());
    return result;
  }
  const auto outcome = configs::simulate(*scenario, configs::FoldMode::kFold, {.overheads = &machines.of(*scenario)});
  if (!outcome) {
    result.reason = first_error(outcome.error());
    return result;
  }
  if (!outcome->report) {
    result.reason = "the step never ends";
    return result;
  }
  const Report& report = *outcome->report;
  result.kind = step_kind_of(*scenario);
  result.seconds = to_seconds(report.step_time.mean);
  result.tokens = static_cast<double>(report.facts.tokens_per_step);
  result.model_flops = report.facts.model_flops.count();
  result.hardware_flops = report.facts.hardware_flops.count();
  for (const FlopRate peak : scenario->cluster.gpu.peak) {
    result.peak_flop_rate = std::max(result.peak_flop_rate, peak.count() * static_cast<double>(report.gpus));
  }
  add_memory(report, result);
  add_terms(report, result);
  return result;
}

// A row's seconds of a step: as measured, or from its rate.
void take_measured(const Prediction& prediction, const SourceRule* source, PlayedRow& played) {
  const TrainingRow& row = played.row;
  const auto gpus = static_cast<double>(row.gpus.value_or(1));
  if (row.step_seconds.value_or(0.0) > 0.0) {
    played.measured_as = MeasuredAs::kStepTime;
    played.measured_seconds = *row.step_seconds;
  } else if (row.tokens_per_gpu.value_or(0.0) > 0.0) {
    played.measured_as = MeasuredAs::kTokens;
    played.measured_seconds = prediction.tokens / (*row.tokens_per_gpu * gpus);
  } else if (row.tflops_per_gpu.value_or(0.0) > 0.0) {
    const bool hardware = source != nullptr && source->flops_with_recompute;
    played.measured_as = MeasuredAs::kFlops;
    played.measured_seconds =
        (hardware ? prediction.hardware_flops : prediction.model_flops) / (*row.tflops_per_gpu * 1e12 * gpus);
  } else {
    played.reason = "the source gives neither a time nor a rate";
    played.reason_column = "step_time_s";
  }
  if (source != nullptr && row.memory_gib) {
    played.measured_gib = *row.memory_gib * source->gib_per_unit;
    played.predicted_gib = prediction.gib[static_cast<std::size_t>(source->memory)];
  }
}

// The column behind the key that a message of the scenario's reader names.
std::string column_of(std::string_view message) {
  struct KeyColumn {
    std::string_view key;
    std::string_view column;
  };
  static constexpr std::array kColumns = {KeyColumn{"parallel.tp", "tp"},
                                          KeyColumn{"parallel.pp", "pp"},
                                          KeyColumn{"parallel.cp", "cp"},
                                          KeyColumn{"parallel.ep", "ep"},
                                          KeyColumn{"parallel.etp", "etp"},
                                          KeyColumn{"parallel.dp", "dp"},
                                          KeyColumn{"training.micro_batch", "mbs"},
                                          KeyColumn{"training.global_batch", "gbs"},
                                          KeyColumn{"num_layers", "layers"},
                                          KeyColumn{"hidden_size", "hidden"},
                                          KeyColumn{"num_attention_heads", "heads"},
                                          KeyColumn{"num_query_groups", "kv_heads"}};
  for (const KeyColumn& known : kColumns) {
    const std::size_t at = message.find(known.key);
    if (at == std::string_view::npos) continue;
    const std::size_t end = at + known.key.size();
    const bool whole =
        end == message.size() || (std::isalnum(static_cast<unsigned char>(message[end])) == 0 && message[end] != '_');
    if (whole) return std::string(known.column);
  }
  return {};
}

void take(const Prediction& prediction, const TrainingConventions& conventions, PlayedRow& played) {
  if (!prediction.reason.empty()) {
    played.reason = prediction.reason;
    played.reason_column = column_of(prediction.reason);
    return;
  }
  played.kind = prediction.kind;
  played.predicted_seconds = prediction.seconds;
  played.tokens = prediction.tokens;
  played.terms = prediction.terms;
  played.bottleneck_compute = prediction.bottleneck_compute;
  take_measured(prediction, conventions.find_source(played.source), played);
  // Batch, GPUs and time of such a row cannot all be right; there is nothing to compare a prediction with.
  if (played.played() && prediction.model_flops > prediction.peak_flop_rate * played.measured_seconds) {
    played.reason = "the source contradicts itself: its batch in its time is more than the GPUs' peak";
  }
}

// Identical scenarios are simulated once.
class ScenarioPool {
 public:
  std::size_t add(const std::string& yaml, const Place& place) {
    const auto [entry, is_new] = known_.emplace(yaml, scenarios_.size());
    if (is_new) {
      scenarios_.push_back(yaml);
      names_.push_back(fmt::format("{}:{}", place.file.substr(place.file.rfind('/') + 1), place.line));
    }
    return entry->second;
  }

  [[nodiscard]] std::vector<Prediction> predict_all(const CaseOptions& options) const {
    std::vector<Prediction> predictions(scenarios_.size());
    MachineOverheads machines;
    std::size_t done = 0;
#pragma omp parallel for schedule(dynamic)
    for (std::size_t i = 0; i < scenarios_.size(); ++i) {
      predictions[i] = predict(names_[i], scenarios_[i], options, machines);
#pragma omp critical(training_rows_done)
      if (options.progress) options.progress(++done, scenarios_.size());
    }
    return predictions;
  }

 private:
  std::map<std::string, std::size_t> known_;
  std::vector<std::string> names_, scenarios_;
};

struct Variant {
  std::size_t scenario = 0;
  std::vector<std::string> assumed;
};

// The micro-batches that a row may have meant.
std::vector<std::int64_t> micro_batches_of(const TrainingRow& row) {
  if (row.micro_batch || row.accumulation || !row.global_batch) return {};
  const std::int64_t model = row.tp.value_or(1) * row.pp.value_or(1) * row.cp.value_or(1);
  const std::int64_t replicas = std::max<std::int64_t>(1, row.gpus.value_or(1) / std::max<std::int64_t>(1, model));
  std::vector<std::int64_t> candidates = {1};
  const std::int64_t most = row.pp.value_or(1) > 1 ? 4 : 16;  // larger ones only enlarge a pipeline's bubble
  for (std::int64_t more = 2; more <= most; more *= 2) {
    if (*row.global_batch % (more * replicas) == 0) candidates.push_back(more);
  }
  return candidates;
}

// Model chunks that a stage may have: as few as possible and as many as are common; or one, where the source does not
// even state that there are several.
std::vector<std::int64_t> parts_of(const TrainingRow& row, const Vocabulary& vocabulary) {
  const std::int64_t stages = row.pp.value_or(1);
  if (!row.tuned_parts || stages == 1 || !row.layers || *row.layers % stages != 0) return {};
  const ScheduleRule* const schedule = find_rule(vocabulary.schedules, row.schedule);
  const bool several = schedule != nullptr && schedule->schedule == "interleaved-1f1b";
  std::vector<std::int64_t> divisors;
  for (std::int64_t parts = several ? 2 : 1; parts <= 8; ++parts) {
    if (*row.layers / stages % parts == 0) divisors.push_back(parts);
  }
  if (divisors.empty()) return {};
  if (several) return {divisors.front()};
  return {divisors.front(), divisors.back()};
}

// One scenario, or several where the source does not state the micro-batch or the model chunks of a stage: published
// figures are tuned in both.
std::vector<Variant> variants_of(const TrainingConventions& conventions, ScenarioPool& pool, PlayedRow& played) {
  const TrainingRow& row = played.row;
  std::vector<std::int64_t> micro_batches = micro_batches_of(row);
  std::vector<std::int64_t> parts = parts_of(row, conventions.vocabulary);
  const bool tunes_batch = micro_batches.size() > 1;
  const bool tunes_parts = !parts.empty();
  if (!tunes_batch) micro_batches = {0};
  if (!tunes_parts) parts = {0};
  std::vector<Variant> variants;
  for (const std::int64_t micro_batch : micro_batches) {
    for (const std::int64_t part : parts) {
      TrainingRow variant = row;
      if (tunes_batch) variant.micro_batch = micro_batch;
      if (tunes_parts) variant.virtual_stages = part;
      auto scenario = make_scenario(variant, conventions);
      if (!scenario) {
        played.reason = scenario.error().reason;
        played.reason_column = scenario.error().column;
        continue;
      }
      if (tunes_batch)
        scenario->assumed.push_back(fmt::format("{} sequences a microbatch, the fastest that fits", micro_batch));
      if (tunes_parts) scenario->assumed.push_back(fmt::format("{} model chunks a stage, the fastest that fits", part));
      variants.push_back({.scenario = pool.add(scenario->yaml, row.place), .assumed = std::move(scenario->assumed)});
    }
  }
  if (!variants.empty()) played.reason.clear();
  return variants;
}

// Of those that can be simulated, the fastest that fits; the first when none fits.
const Variant& best_of(const std::vector<Variant>& variants, const std::vector<Prediction>& predictions) {
  const Variant* best = &variants.front();
  const auto usable = [&](const Variant& variant) {
    return predictions[variant.scenario].reason.empty() && predictions[variant.scenario].fits;
  };
  for (const Variant& variant : variants) {
    const bool better = !usable(*best) || predictions[variant.scenario].seconds < predictions[best->scenario].seconds;
    if (usable(variant) && better) best = &variant;
  }
  return *best;
}

}  // namespace

std::string_view to_string(MeasuredAs quantity) {
  switch (quantity) {
    case MeasuredAs::kNothing: return "nothing";
    case MeasuredAs::kStepTime: return "step time";
    case MeasuredAs::kTokens: return "tokens/s";
    case MeasuredAs::kFlops: return "FLOP/s";
  }
  return "";
}

std::vector<PlayedRow> play_rows(const std::vector<TrainingRow>& rows, const TrainingConventions& conventions,
                                 const CaseOptions& options) {
  std::vector<PlayedRow> result;
  ScenarioPool pool;
  std::vector<std::vector<Variant>> variants;  // by result
  for (const TrainingRow& row : rows) {
    if (!row.scored()) continue;
    const SourceRule* const rule = conventions.find_source(row.source(), row.model);
    PlayedRow& played =
        result.emplace_back(PlayedRow{.row = row, .source = rule != nullptr ? rule->key() : row.source()});
    if (options.large == LargeRows::kLeftOut && rule != nullptr && rule->most_gpus > 0 &&
        row.gpus.value_or(0) > rule->most_gpus) {
      played.reason = fmt::format("more than {} GPUs: simulated when the table is given as a file", rule->most_gpus);
      variants.emplace_back();
      continue;
    }
    variants.push_back(variants_of(conventions, pool, played));
  }
  const std::vector<Prediction> predictions = pool.predict_all(options);
  for (std::size_t i = 0; i < result.size(); ++i) {
    if (variants[i].empty()) continue;
    const Variant& best = best_of(variants[i], predictions);
    result[i].assumed = best.assumed;
    take(predictions[best.scenario], conventions, result[i]);
  }
  return result;
}

}  // namespace ringwright::validation
