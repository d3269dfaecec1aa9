#include "planning/search/search.h"

#include <algorithm>
#include <map>
#include <span>
#include <thread>
#include <utility>

#include <fmt/format.h>

#include "configs/scenario/host_rows.h"
#include "configs/simulation/simulation.h"
#include "core/base/check.h"
#include "core/base/json_text.h"
#include "planning/search/planned_stages.h"
#include "planning/search/search_rank.h"
#include "planning/study/first_error.h"
#include "workload/builtin.h"
#include "workload/layout/known_layouts.h"

namespace ringwright::planning {
namespace {


// Formulas, plus the extra time of kernels where the scenario's own models account for it.
ConfigChanges quick_rungs(const configs::Scenario& scenario) {
  ConfigChanges changes{.settings = {"collectives.model=closed_form", "simulate.network=alpha_beta"}};
  const bool kernels = scenario.collectives.kernel_overhead || scenario.collectives.rung == collectives::Rung::kChunks;
  changes.settings.emplace_back(kernels ? "collectives.overhead=kernels" : "collectives.overhead=none");
  return changes;
}

enum class Verdict { kRefused, kSame, kTooLarge, kPredicted };

struct Trial {
  Verdict verdict = Verdict::kRefused;
  Refusal refusal;
  Configuration configuration;
};

std::string title_of(const std::string& code) {
  for (const ErrorCode& entry : workload::workload_error_codes()) {
    if (entry.code == code) return std::string(entry.title);
  }
  return "it cannot be simulated";
}

Refusal refusal_of(const Diagnostics& diagnostics) {
  const Diagnostic* const first = first_error(diagnostics);
  return {.code = first->code, .reason = title_of(first->code), .example = first->message};
}

// The same once more; search() has checked that it can be read again.
configs::Scenario copy_of(const configs::Scenario& base) {
  auto copy = changed_scenario(base, {});
  CHECK(copy.has_value(), copy ? std::string() : render(copy.error()));
  return std::move(*copy);
}

// What one thread evaluates layouts with: a scenario of its own whose job is exchanged, and a planner.
class Evaluator {
 public:
  Evaluator(const configs::Scenario& base, const SearchSpace& space, Bytes capacity, configs::KnownOverheads& overheads)
      : base_(base),
        space_(space),
        capacity_(capacity),
        mine_(copy_of(base)),
        planner_(mine_, &overheads) {}

  // With the models of `base`; memory is checked first, and a layout that does not fit is not predicted.
  [[nodiscard]] Trial evaluate(std::size_t index) {
    const Layout layout = space_.layout(index);
    if (layout.stage_layers == kAlpa) return evaluate_plans(index, layout);
    return evaluate(index, layout);
  }

  // The base's own job.
  [[nodiscard]] std::optional<Refusal> evaluate_own(Configuration& own, bool& fits) {
    auto job = changed_job(base_, {});
    CHECK(job.has_value(), "a scenario that was read can be read again");
    take(std::move(*job), own);
    fits = measure(own);
    return predict(own.quick);
  }

  // Only the prediction, of a layout that was evaluated before; nothing when it cannot be simulated here.
  [[nodiscard]] std::optional<configs::Prediction> replay(const Layout& layout) {
    auto job = changed_job(base_, space_.changes(layout), &known_);
    CHECK(job.has_value(), "a layout that is legal with one model is legal with another");
    Configuration ignored;
    take(std::move(*job), ignored);
    std::optional<configs::Prediction> prediction;
    static_cast<void>(predict(prediction));
    return prediction;
  }

 private:
  // The quickest of the plans that the dynamic program finds; of those that do not fit the first.
  [[nodiscard]] Trial evaluate_plans(std::size_t index, const Layout& layout) {
    Trial best{.verdict = Verdict::kRefused,
               .refusal = {"", "no plan of stages with ranks of their own fits", "stage_layers alpa"},
               .configuration = {.index = index, .layout = layout}};
    for (const Layout& planned : with_planned_stages(
             {.base = base_, .space = space_, .mine = mine_, .planner = planner_, .capacity = capacity_}, layout)) {
      Trial trial = evaluate(index, planned);
      const bool first = best.configuration.layout.stages.empty() && trial.verdict != Verdict::kRefused;
      const bool fits = trial.verdict == Verdict::kPredicted;
      const bool quicker = fits && best.verdict == Verdict::kPredicted &&
                           trial.configuration.quick->step_time.mean < best.configuration.quick->step_time.mean;
      if (first || quicker || (fits && best.verdict != Verdict::kPredicted)) {
        best = std::move(trial);
      } else if (best.verdict == Verdict::kRefused) {
        best.refusal = std::move(trial.refusal);
      }
    }
    return best;
  }

  [[nodiscard]] Trial evaluate(std::size_t index, const Layout& layout) {
    Trial trial{.verdict = Verdict::kRefused, .refusal = {}, .configuration = {.index = index, .layout = layout}};
    auto job = changed_job(base_, space_.changes(trial.configuration.layout), &known_);
    if (!job) {
      trial.refusal = refusal_of(job.error());
      return trial;
    }
    take(std::move(*job), trial.configuration);
    if (space_.repeats_layers(trial.configuration.layout, mine_.job.parallel)) {
      trial.verdict = Verdict::kSame;
    } else if (!measure(trial.configuration)) {
      trial.verdict = Verdict::kTooLarge;
    } else if (auto refusal = predict(trial.configuration.quick)) {
      trial.refusal = std::move(*refusal);
    } else {
      trial.verdict = Verdict::kPredicted;
    }
    return trial;
  }

  void take(configs::ChangedJob changed, Configuration& configuration) {
    mine_.job = std::move(changed.job);
    mine_.simulate = changed.simulate;
    configuration.dp = mine_.job.parallel.dp;
    configuration.layers_per_part = mine_.job.parallel.layers_per_part;
  }

  bool measure(Configuration& configuration) {
    std::vector<MemoryRow> rows = memory_rows(mine_);
    for (MemoryRow& row : rows) row.capacity = std::min(row.capacity, capacity_);
    configuration.fullest = *std::ranges::max_element(rows, {}, fill);
    return std::ranges::all_of(rows, &MemoryRow::fits) &&
           std::ranges::all_of(host_rows(mine_), &HostRow::fits);
  }

  std::optional<Refusal> predict(std::optional<configs::Prediction>& prediction) {
    auto predicted = planner_.predict(mine_);
    if (!predicted) return refusal_of(predicted.error());
    if (!*predicted) return Refusal{"", "ranks wait for each other forever", "the step does not end"};
    prediction = std::move(**predicted);
    return std::nullopt;
  }

  const configs::Scenario& base_;
  const SearchSpace& space_;
  Bytes capacity_;
  configs::Scenario mine_;
  configs::Planner planner_;
  workload::KnownLayouts known_;
};

struct Counted {
  std::vector<std::size_t> candidates;
  std::map<std::pair<std::string, std::string>, RefusalCount> refusals;
  std::size_t same = 0;

  void refuse(Refusal refusal) {
    RefusalCount& entry = refusals[{refusal.code, refusal.reason}];
    if (entry.count++ == 0) entry.refusal = std::move(refusal);
  }
};

// What follows from the numbers alone, before anything is read.
Counted first_look(const configs::Scenario& scenario, const SearchSpace& space) {
  Counted counted;
  for (std::size_t index = 0; index < space.size(); ++index) {
    const Layout layout = space.layout(index);
    if (auto refusal = refuse_early(layout, scenario))
      counted.refuse(std::move(*refusal));
    else if (!(space.essence(layout) == layout))
      ++counted.same;
    else if (auto left_out = space.left_out(layout))
      counted.refuse(std::move(*left_out));
    else
      counted.candidates.push_back(index);
  }
  return counted;
}

// Evaluates items 0 to `count` on all threads, each with an evaluator of its own.
class WorkerPool {
 public:
  WorkerPool(const configs::Scenario& base, const SearchSpace& space, Bytes capacity, const SearchOptions& options,
        configs::KnownOverheads& overheads)
      : base_(base), space_(space), capacity_(capacity), options_(options), overheads_(overheads) {}

  template <class Work>
  void each(std::size_t count, const Work& work) const {
    const int usual = static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
    const int asked = options_.threads > 0 ? options_.threads : usual;
    [[maybe_unused]] const int threads =
        static_cast<int>(std::clamp<std::size_t>(count, 1, static_cast<std::size_t>(asked)));
    std::size_t done = 0;
#pragma omp parallel if (count > 1) num_threads(threads)
    {
      Evaluator evaluator(base_, space_, capacity_, overheads_);
#pragma omp for schedule(dynamic)
      for (std::size_t item = 0; item < count; ++item) {
        work(evaluator, item);
#pragma omp critical(search_progress)
        if (options_.progress) options_.progress(++done, count);
      }
    }
  }

 private:
  const configs::Scenario& base_;
  const SearchSpace& space_;
  Bytes capacity_;
  const SearchOptions& options_;
  configs::KnownOverheads& overheads_;
};

void evaluate_all(const WorkerPool& pool, Counted& counted, SearchResult& result) {
  std::vector<Trial> trials(counted.candidates.size());
  pool.each(trials.size(), [&](Evaluator& evaluator, std::size_t item) {
    trials[item] = evaluator.evaluate(counted.candidates[item]);
  });
  for (Trial& trial : trials) {
    switch (trial.verdict) {
      case Verdict::kRefused: counted.refuse(std::move(trial.refusal)); break;
      case Verdict::kSame: ++counted.same; break;
      case Verdict::kTooLarge: result.misfits.push_back(std::move(trial.configuration)); break;
      case Verdict::kPredicted: result.ranked.push_back(std::move(trial.configuration)); break;
    }
  }
  result.same = counted.same;
  for (auto& [key, entry] : counted.refusals) result.refusals.push_back(std::move(entry));
  std::ranges::stable_sort(result.refusals, std::ranges::greater(), &RefusalCount::count);
  std::ranges::stable_sort(result.misfits, {}, [](const Configuration& c) { return c.fullest.total; });
}

// With the scenario's own models; a layout that cannot be simulated there keeps its rank by formulas.
void replay_best(const WorkerPool& pool, std::size_t most, configs::Objective objective, SearchResult& result) {
  std::vector<std::optional<configs::Prediction>> played(std::min(most, result.ranked.size()));
  pool.each(played.size(), [&](Evaluator& evaluator, std::size_t item) {
    played[item] = evaluator.replay(result.ranked[item].layout);
  });
  for (std::size_t i = 0; i < played.size(); ++i) result.ranked[i].played = std::move(played[i]);
  const auto end = result.ranked.begin() + static_cast<std::ptrdiff_t>(played.size());
  const auto rest =
      std::stable_partition(result.ranked.begin(), end, [](const Configuration& c) { return c.played.has_value(); });
  result.replayed = static_cast<std::size_t>(rest - result.ranked.begin());
  const std::span<Configuration> replayed(result.ranked.data(), result.replayed);
  result.agreement = agreement(replayed, objective);
  rank_replayed(replayed, objective);
}

// As if it had been in the space: simulated again with the best, if it is good enough by formulas to be one of them.
std::size_t rank_of(const Configuration& own, const SearchResult& result, configs::Objective objective) {
  const auto better = [&](const Configuration& other, const std::optional<configs::Prediction> Configuration::*rung) {
    return score(*(other.*rung), other.fullest.total, objective) < score(*(own.*rung), own.fullest.total, objective);
  };
  const auto quicker =
      std::ranges::count_if(result.ranked, [&](const Configuration& c) { return better(c, &Configuration::quick); });
  if (!own.played || static_cast<std::size_t>(quicker) >= result.replayed) return static_cast<std::size_t>(quicker) + 1;
  const auto replayed = std::span(result.ranked).first(result.replayed);
  return static_cast<std::size_t>(std::ranges::count_if(
             replayed, [&](const Configuration& c) { return better(c, &Configuration::played); })) +
         1;
}

// Of both rankings.
struct SearchOverheads {
  configs::KnownOverheads& formulas;
  configs::KnownOverheads& simulation;
};

OwnLayout evaluate_own(const configs::Scenario& scenario, const configs::Scenario& quick, const SearchSpace& space,
                       const SearchResult& result, const SearchOverheads& overheads) {
  OwnLayout own;
  own.configuration.layout = own_layout(scenario, result.axes);
  if (const auto refusal =
          Evaluator(quick, space, result.capacity, overheads.formulas).evaluate_own(own.configuration, own.fits)) {
    own.problem = refusal->example;
    return own;
  }
  Configuration played;
  bool ignored = false;
  if (!Evaluator(scenario, space, result.capacity, overheads.simulation).evaluate_own(played, ignored))
    own.configuration.played = std::move(played.quick);
  return own;
}

}  // namespace

Result<SearchResult> search(const configs::Scenario& scenario, const configs::SearchSettings& settings,
                            const SearchOptions& options) {
  if (const auto again = changed_scenario(scenario, {}); !again) return tl::unexpected(again.error());
  const SearchSpace space(scenario, settings);
  if (space.size() > kMostCombinations) {
    return tl::unexpected(failure(
        "E153", fmt::format("there are {} combinations, and at most {} are tried", space.size(), kMostCombinations), {},
        "narrow some axes: --vary tp=4,8 --fix cp=1"));
  }
  auto quick = changed_scenario(scenario, quick_rungs(scenario));
  if (!quick) return tl::unexpected(std::move(quick.error()));
  Bytes has = scenario.cluster.gpu.memory;  // of the largest GPU; a stage is compared with the smallest that holds it
  for (const configs::HostGroup& group : scenario.cluster.groups) has = std::max(has, group.gpu.memory);
  SearchResult result;
  result.axes = space.axes();
  result.combinations = space.size();
  result.capacity = settings.max_memory > Bytes(0) ? std::min(settings.max_memory, has) : has;
  Counted counted = first_look(scenario, space);
  configs::KnownOverheads estimates(configs::OverheadAccuracy::kInterpolated);
  configs::KnownOverheads overheads;
  evaluate_all(WorkerPool(*quick, space, result.capacity, options, estimates), counted, result);
  rank_by_formulas(result.ranked, settings.objective);
  replay_best(WorkerPool(scenario, space, result.capacity, options, overheads),
              static_cast<std::size_t>(settings.replay), settings.objective, result);
  result.front = pareto_front(result.ranked);
  if (options.own_problem.empty()) {
    result.own = evaluate_own(scenario, *quick, space, result, {.formulas = estimates, .simulation = overheads});
  } else {
    result.own.problem = options.own_problem;
  }
  if (result.own.fits && result.own.problem.empty()) {
    result.own.rank = rank_of(result.own.configuration, result, settings.objective);
  }
  return result;
}

std::string written(const configs::Scenario& scenario, const SearchSpace& space, const Layout& layout) {
  ConfigChanges changes = space.changes(layout);
  changes.removed.emplace_back("search");
  changes.settings.push_back("name=" + json_text(scenario.name + "-best"));
  return scenario.document.changed(changes).yaml();
}

}  // namespace ringwright::planning
