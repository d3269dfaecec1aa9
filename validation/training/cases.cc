#include "validation/training/cases.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <limits>
#include <map>
#include <string_view>

#include <fmt/format.h>

#include "validation/training/scenario.h"

namespace ringwright::validation {
namespace {

// A row's seconds of a step: as measured, or from its rate.
void take_measured(const StepPrediction& prediction, const SourceRule* source, PlayedRow& played) {
  const TrainingRow& row = played.row;
  const auto gpus = static_cast<double>(row.gpus.value_or(1));
  if (row.step_seconds.value_or(0.0) > 0.0) {
    played.measured_as = MeasuredAs::kStepTime;
    played.measured_seconds = *row.step_seconds;
    const double rate = row.tokens_per_gpu.value_or(0.0) * gpus;
    if (rate > 0.0) played.tokens_seconds = prediction.tokens / rate;
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
  if (row.memory_gib) {
    const SourceRule unknown;  // of users' own tables: GiB that the allocator reserved
    const SourceRule& meaning = source != nullptr ? *source : unknown;
    played.measured_gib = *row.memory_gib * meaning.gib_per_unit;
    played.predicted_gib = prediction.gib[static_cast<std::size_t>(meaning.memory)];
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

void take(const StepPrediction& prediction, const TrainingConventions& conventions, PlayedRow& played) {
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
  played.shortage = prediction.shortage;
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

  // Those that are wanted; the others are left empty.
  [[nodiscard]] std::vector<StepPrediction> predict(const std::vector<bool>& wanted, const CaseOptions& options) const {
    std::vector<StepPrediction> predictions(scenarios_.size());
    const auto all = static_cast<std::size_t>(std::ranges::count(wanted, true));
    KnownMachines machines;
    std::size_t done = 0;
#pragma omp parallel for schedule(dynamic)
    for (std::size_t i = 0; i < scenarios_.size(); ++i) {
      if (!wanted[i]) continue;
      predictions[i] = predict_step({names_[i], scenarios_[i], options.overrides}, machines);
#pragma omp critical(training_rows_done)
      if (options.progress) options.progress(++done, all);
    }
    return predictions;
  }
  [[nodiscard]] std::vector<StepPrediction> by_formulas(const std::vector<bool>& wanted,
                                                        const CaseOptions& options) const {
    std::vector<StepPrediction> predictions(scenarios_.size());
    KnownMachines machines;
#pragma omp parallel for schedule(dynamic)
    for (std::size_t i = 0; i < scenarios_.size(); ++i) {
      if (wanted[i]) predictions[i] = predict_by_formulas({names_[i], scenarios_[i], options.overrides}, machines);
    }
    return predictions;
  }
  [[nodiscard]] std::size_t size() const {
    return scenarios_.size();
  }
  [[nodiscard]] const std::string& yaml(std::size_t scenario) const {
    return scenarios_[scenario];
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

// The scenarios of rows with at least so many variants.
std::vector<bool> scenarios_of(const std::vector<std::vector<Variant>>& rows, std::size_t at_least, std::size_t all) {
  std::vector<bool> wanted(all, false);
  for (const std::vector<Variant>& variants : rows) {
    if (variants.size() < at_least) continue;
    for (const Variant& variant : variants) wanted[variant.scenario] = true;
  }
  return wanted;
}

// Variants whose steps by formulas differ by less are all simulated.
constexpr double kFormulaMargin = 0.01;

// Of variants that fit, the fastest by formulas and those that are nearly as fast. All stay where formulas predict none
// that fits.
void keep_fastest(const std::vector<StepPrediction>& by_formulas, std::vector<Variant>& variants) {
  double least = std::numeric_limits<double>::infinity();
  for (const Variant& variant : variants) {
    const StepPrediction& prediction = by_formulas[variant.scenario];
    if (prediction.usable()) least = std::min(least, prediction.seconds);
  }
  if (std::isinf(least)) return;
  std::erase_if(variants, [&](const Variant& variant) {
    const StepPrediction& prediction = by_formulas[variant.scenario];
    return !prediction.usable() || prediction.seconds > least * (1.0 + kFormulaMargin);
  });
}

// Of those that can be simulated, the fastest that fits; the first when none fits.
const Variant& best_of(const std::vector<Variant>& variants, const std::vector<StepPrediction>& predictions) {
  const Variant* best = &variants.front();
  const auto usable = [&](const Variant& variant) { return predictions[variant.scenario].usable(); };
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
  const std::vector<StepPrediction> by_formulas = pool.by_formulas(scenarios_of(variants, 2, pool.size()), options);
  for (std::vector<Variant>& of_row : variants) {
    if (of_row.size() > 1) keep_fastest(by_formulas, of_row);
  }
  const std::vector<StepPrediction> predictions = pool.predict(scenarios_of(variants, 1, pool.size()), options);
  for (std::size_t i = 0; i < result.size(); ++i) {
    if (variants[i].empty()) continue;
    const Variant& best = best_of(variants[i], predictions);
    result[i].assumed = best.assumed;
    result[i].scenario = pool.yaml(best.scenario);
    take(predictions[best.scenario], conventions, result[i]);
  }
  return result;
}

}  // namespace ringwright::validation
