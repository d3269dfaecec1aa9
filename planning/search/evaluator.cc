#include "planning/search/evaluator.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "configs/scenario/host_rows.h"
#include "configs/simulation/simulation.h"
#include "core/base/check.h"
#include "planning/search/least_time.h"
#include "planning/search/planned_stages.h"
#include "planning/study/first_error.h"
#include "workload/builtin.h"

namespace ringwright::planning {
namespace {

std::string title_of(const std::string& code) {
  for (const ErrorCode& entry : workload::workload_error_codes()) {
    if (entry.code == code) return std::string(entry.title);
  }
  return "it cannot be simulated";
}

Refusal refusal_of(const Diagnostics& diagnostics) {
  const Diagnostic* const first = first_error(diagnostics);
  return {.code = first->code, .reason = title_of(first->code), .example = reason_of(*first)};
}

// The same once more; search() has checked that it can be read again.
configs::Scenario copy_of(const configs::Scenario& base) {
  auto copy = changed_scenario(base, {});
  CHECK(copy.has_value(), copy ? std::string() : render(copy.error()));
  return std::move(*copy);
}

}  // namespace

Evaluator::Evaluator(const configs::Scenario& base, const SearchSpace& space, Bytes capacity,
                     configs::KnownOverheads& overheads)
    : base_(base), space_(space), capacity_(capacity), planner_(base, &overheads), calls_(base, overheads) {}

configs::Scenario& Evaluator::mine() {
  if (!mine_) mine_.emplace(copy_of(base_));
  return *mine_;
}

Trial Evaluator::evaluate(std::size_t index) {
  const Layout layout = space_.layout(index);
  if (layout.stage_layers == kAlpa) return evaluate_plans(index, layout);
  return evaluate(index, layout);
}

Trial Evaluator::judge(std::size_t index) {
  const Layout layout = space_.layout(index);
  if (layout.stage_layers == kAlpa) return evaluate_plans(index, layout);
  Trial trial = read(index, layout);
  if (trial.verdict == Verdict::kFits) {
    trial.least = least_time({.machine = base_, .job = job_, .simulate = simulate_}, calls_, &known_of(layout).layouts);
  }
  return trial;
}

void Evaluator::predict(Trial& trial) {
  const Layout& layout = trial.configuration.layout;
  auto job = changed_job(base_, space_.changes(layout), &known_of(layout).layouts);
  CHECK(job.has_value(), "a layout that was read can be read again");
  take(std::move(*job), trial.configuration);
  predict_fitting(trial);
}

std::optional<Refusal> Evaluator::evaluate_own(Configuration& own, bool& fits) {
  auto job = changed_job(base_, {});
  CHECK(job.has_value(), "a scenario that was read can be read again");
  take(std::move(*job), own);
  fits = measure(own);
  return predict_taken(own.quick);
}

std::optional<configs::Prediction> Evaluator::replay(const Layout& layout) {
  auto job = changed_job(base_, space_.changes(layout), &known_of(layout).layouts);
  CHECK(job.has_value(), "a layout that is legal with one model is legal with another");
  Configuration ignored;
  take(std::move(*job), ignored);
  std::optional<configs::Prediction> prediction;
  static_cast<void>(predict_taken(prediction));
  return prediction;
}

Trial Evaluator::evaluate_plans(std::size_t index, const Layout& layout) {
  Trial best{.verdict = Verdict::kRefused,
             .refusal = {"", "no plan of stages with different numbers of ranks fits", "stage_layers alpa"},
             .configuration = {.index = index, .layout = layout}};
  for (const Layout& planned : with_planned_stages(
           {.base = base_, .space = space_, .mine = mine(), .planner = planner_, .capacity = capacity_}, layout)) {
    Trial trial = evaluate(index, planned);
    const bool first = best.configuration.layout.stages.empty() && trial.verdict != Verdict::kRefused;
    const bool fits = trial.verdict == Verdict::kPredicted;
    const bool faster = fits && best.verdict == Verdict::kPredicted &&
                         trial.configuration.quick->step_time.mean < best.configuration.quick->step_time.mean;
    if (first || faster || (fits && best.verdict != Verdict::kPredicted)) {
      best = std::move(trial);
    } else if (best.verdict == Verdict::kRefused) {
      best.refusal = std::move(trial.refusal);
    }
  }
  return best;
}

Trial Evaluator::evaluate(std::size_t index, const Layout& layout) {
  Trial trial = read(index, layout);
  if (trial.verdict == Verdict::kFits) predict_fitting(trial);
  return trial;
}

Trial Evaluator::read(std::size_t index, const Layout& layout) {
  Trial trial{.verdict = Verdict::kRefused, .refusal = {}, .configuration = {.index = index, .layout = layout}};
  auto job = changed_job(base_, space_.changes(layout), &known_of(layout).layouts);
  if (!job) {
    trial.refusal = refusal_of(job.error());
    return trial;
  }
  take(std::move(*job), trial.configuration);
  if (space_.repeats_layers(layout, job_.parallel)) {
    trial.verdict = Verdict::kSame;
  } else {
    trial.verdict = measure(trial.configuration) ? Verdict::kFits : Verdict::kTooLarge;
  }
  return trial;
}

void Evaluator::take(configs::ChangedJob changed, Configuration& configuration) {
  job_ = std::move(changed.job);
  simulate_ = changed.simulate;
  configuration.dp = job_.parallel.dp;
  configuration.layers_per_part = job_.parallel.layers_per_part;
}

bool Evaluator::measure(Configuration& configuration) {
  std::vector<MemoryRow> rows = memory_rows(base_.cluster, job_, &known_of(configuration.layout).memory);
  for (MemoryRow& row : rows) row.capacity = std::min(row.capacity, capacity_);
  const bool fits = std::ranges::all_of(rows, &MemoryRow::fits);
  configuration.fullest = std::move(*std::ranges::max_element(rows, {}, fill));
  for (HostRow& row : host_rows(base_.cluster, job_)) {
    const std::optional<HostRow>& known = configuration.overfull_host;
    if (row.fits() || (known && ratio(row.total, row.capacity) <= ratio(known->total, known->capacity))) continue;
    configuration.overfull_host = std::move(row);
  }
  return fits && !configuration.overfull_host;
}

std::optional<Refusal> Evaluator::predict_taken(std::optional<configs::Prediction>& prediction) {
  mine().job = std::move(job_);
  mine().simulate = simulate_;
  auto predicted = planner_.predict(mine());
  if (!predicted) return refusal_of(predicted.error());
  if (!*predicted) return Refusal{"", "ranks wait for each other forever", "the step does not end"};
  prediction = std::move(**predicted);
  return std::nullopt;
}

void Evaluator::predict_fitting(Trial& trial) {
  auto refusal = predict_taken(trial.configuration.quick);
  trial.verdict = refusal ? Verdict::kRefused : Verdict::kPredicted;
  if (refusal) trial.refusal = std::move(*refusal);
}

}  // namespace ringwright::planning
