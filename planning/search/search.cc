#include "planning/search/search.h"

#include <algorithm>
#include <map>
#include <span>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "configs/simulation/known_overheads.h"
#include "configs/simulation/machine_overheads.h"
#include "core/base/json_text.h"
#include "planning/search/evaluator.h"
#include "planning/search/search_rank.h"
#include "planning/search/shortlist.h"
#include "planning/search/worker_pool.h"
#include "planning/study/known_keys.h"

namespace ringwright::planning {
namespace {

// Formulas, plus the extra time of kernels where the scenario's own models account for it.
ConfigChanges quick_rungs(const configs::Scenario& scenario) {
  ConfigChanges changes{.settings = {"collectives.model=closed_form", "simulate.network=alpha_beta"}};
  const bool kernels = scenario.collectives.kernel_overhead || scenario.collectives.rung == collectives::Rung::kChunks;
  changes.settings.emplace_back(kernels ? "collectives.overhead=kernels" : "collectives.overhead=none");
  return changes;
}

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

std::vector<Trial> predict_all(WorkerPool& pool, const Counted& counted) {
  std::vector<Trial> trials(counted.candidates.size());
  pool.each(trials.size(), {.all = trials.size()}, [&](Evaluator& evaluator, std::size_t item) {
    trials[item] = evaluator.evaluate(counted.candidates[item]);
  });
  return trials;
}

// Fewer are predicted in about a second.
constexpr std::size_t kPredictedAnyway = 500;

bool may_skip(const configs::SearchSettings& settings, const SearchOptions& options) {
  if (settings.skip_slower != configs::SkipSlower::kByNumber)
    return settings.skip_slower == configs::SkipSlower::kAlways;
  return !options.lists_all && settings.objective == configs::Objective::kStepTime;
}

// All are read; of those that fit only the ones that may be on the page.
std::vector<Trial> predict_some(WorkerPool& pool, const Counted& counted, const configs::SearchSettings& settings,
                                SearchResult& result) {
  std::vector<Trial> trials(counted.candidates.size());
  pool.each(trials.size(), {.all = trials.size()},
            [&](Evaluator& evaluator, std::size_t item) { trials[item] = evaluator.judge(counted.candidates[item]); });
  Shortlist shortlist(result.axes, static_cast<std::size_t>(std::max(settings.top, settings.replay)) + 1);
  std::vector<Trial*> fitting;
  std::vector<BoundedLayout> layouts;
  for (Trial& trial : trials) {
    if (trial.verdict == Verdict::kPredicted) shortlist.add(trial.configuration);
    if (trial.verdict != Verdict::kFits) continue;
    fitting.push_back(&trial);
    layouts.push_back({.configuration = &trial.configuration, .least = trial.least});
  }
  if (settings.skip_slower == configs::SkipSlower::kByNumber && layouts.size() <= kPredictedAnyway) {
    for (BoundedLayout& layout : layouts) layout.least.reset();
  }
  std::size_t done = 0;
  result.bounds_hold = predict_shortlist(layouts, std::move(shortlist), [&](std::span<const std::size_t> batch) {
    pool.each(batch.size(), {.done = done, .all = layouts.size()},
              [&](Evaluator& evaluator, std::size_t item) { evaluator.predict(*fitting[batch[item]]); });
    done += batch.size();
  });
  for (std::size_t i = 0; i < layouts.size(); ++i) {
    if (layouts[i].skipped) fitting[i]->verdict = Verdict::kSkipped;
  }
  return trials;
}

void evaluate_all(WorkerPool pool, const configs::SearchSettings& settings, const SearchOptions& options,
                  Counted& counted, SearchResult& result) {
  std::vector<Trial> trials = may_skip(settings, options) ? predict_some(pool, counted, settings, result)
                                                          : predict_all(pool, counted);
  for (Trial& trial : trials) {
    switch (trial.verdict) {
      case Verdict::kRefused: counted.refuse(std::move(trial.refusal)); break;
      case Verdict::kSame: ++counted.same; break;
      case Verdict::kTooLarge: result.misfits.push_back(std::move(trial.configuration)); break;
      case Verdict::kFits: break;
      case Verdict::kSkipped:
        result.skipped.push_back({.configuration = std::move(trial.configuration), .least = *trial.least});
        break;
      case Verdict::kPredicted: result.ranked.push_back(std::move(trial.configuration)); break;
    }
  }
  result.same = counted.same;
  for (auto& [key, entry] : counted.refusals) result.refusals.push_back(std::move(entry));
  std::ranges::stable_sort(result.refusals, std::ranges::greater(), &RefusalCount::count);
  std::ranges::stable_sort(result.misfits, {}, &Configuration::need);
  std::ranges::stable_sort(result.skipped, {}, &SkippedLayout::least);
}

// With the scenario's own models; a layout that cannot be simulated there keeps its rank by formulas.
void replay_best(WorkerPool pool, std::size_t most, configs::Objective objective, SearchResult& result) {
  std::vector<std::optional<configs::Prediction>> played(std::min(most, result.ranked.size()));
  pool.each(played.size(), {.all = played.size()}, [&](Evaluator& evaluator, std::size_t item) {
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
  const auto faster =
      std::ranges::count_if(result.ranked, [&](const Configuration& c) { return better(c, &Configuration::quick); });
  if (!own.played || static_cast<std::size_t>(faster) >= result.replayed) return static_cast<std::size_t>(faster) + 1;
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

// The same with GPUs of this memory at most: stages of `balanced-memory` are split for it.
Result<configs::Scenario> with_memory(const configs::Scenario& scenario, Bytes most) {
  auto limited = changed_scenario(scenario, {});
  if (!limited) return limited;
  configs::Cluster& cluster = limited->cluster;
  cluster.gpu.memory = std::min(cluster.gpu.memory, most);
  for (configs::HostGroup& group : cluster.groups) group.gpu.memory = std::min(group.gpu.memory, most);
  return limited;
}

// What is varied and is neither an axis nor a key.
Diagnostics unknown_keys(const configs::SearchSettings& settings) {
  Diagnostics unknown;
  const KnownKeys known;
  for (const configs::SearchAxis& axis : settings.given) {
    if (!configs::axis_of(axis.name).empty() || known.has(axis.name)) continue;
    unknown.add({.severity = Severity::kError,
                 .code = "E153",
                 .message = known.why_unknown(axis.name),
                 .hint = "`ringwright explain KEY` describes the keys of scenarios"});
  }
  return unknown;
}

}  // namespace

double Configuration::need() const {
  const double of_gpu = ratio(fullest.total, fullest.capacity);
  return overfull_host ? std::max(of_gpu, ratio(overfull_host->total, overfull_host->capacity)) : of_gpu;
}

Result<SearchResult> search(const configs::Scenario& scenario, const configs::SearchSettings& settings,
                            const SearchOptions& options) {
  if (const auto again = changed_scenario(scenario, {}); !again) return tl::unexpected(again.error());
  if (Diagnostics unknown = unknown_keys(settings); unknown.has_errors()) return tl::unexpected(std::move(unknown));
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
  if (options.store != nullptr) {
    estimates.retain_in(options.store, configs::machine_of(*quick));
    overheads.retain_in(options.store, configs::machine_of(scenario));
  }
  const auto limited_quick = with_memory(*quick, result.capacity);
  const auto limited = with_memory(scenario, result.capacity);
  if (!limited_quick || !limited) return tl::unexpected(limited ? limited_quick.error() : limited.error());
  evaluate_all(WorkerPool(*limited_quick, space, result.capacity, options, estimates), settings, options, counted,
               result);
  rank_by_formulas(result.ranked, settings.objective);
  replay_best(WorkerPool(*limited, space, result.capacity, options, overheads),
              static_cast<std::size_t>(settings.replay), settings.objective, result);
  result.front = pareto_front(result.ranked);
  if (options.own_problem.empty()) {
    result.own = evaluate_own(scenario, *quick, space, result, {.formulas = estimates, .simulation = overheads});
  } else {
    result.own.problem = options.own_problem;
  }
  if (result.own.fits && result.own.problem.empty()) {
    result.own.rank = rank_of(result.own.configuration, result, settings.objective);
    result.own.is_rank_known = result.is_rank_known(result.own.configuration);
  }
  return result;
}

ConfigChanges changes_of(const SearchSpace& space, const Configuration& configuration) {
  ConfigChanges changes = space.changes(configuration.layout);
  const std::string rule = "parallel.stage_layers=balanced-memory";
  if (std::erase(changes.settings, rule) > 0) {
    changes.settings.push_back(
        fmt::format("parallel.layers_per_part=[{}]", fmt::join(configuration.layers_per_part, ", ")));
  }
  return changes;
}

std::string written(const configs::Scenario& scenario, const SearchSpace& space, const Configuration& configuration) {
  ConfigChanges changes = changes_of(space, configuration);
  changes.removed.emplace_back("search");
  changes.settings.push_back("name=" + json_text(scenario.name + "-best"));
  return scenario.document.changed(changes).yaml();
}

}  // namespace ringwright::planning
