// The formula stage of a search: each candidate is read, its memory measured, and a bound of its step found, before
// anything is predicted.
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include <benchmark/benchmark.h>

#include "configs/scenario/scenario.h"
#include "configs/simulation/known_overheads.h"
#include "core/base/check.h"
#include "planning/search/evaluator.h"
#include "planning/search/search_space.h"
#include "tests/bench/figures.h"
#include "tests/paths.h"

namespace ringwright::bench {
namespace {

struct SearchCase {
  std::string scenario;
  std::vector<std::string> changes;
  std::vector<configs::SearchAxis> axes = {};
};

configs::Scenario read_on_formulas(const SearchCase& which) {
  std::vector<std::string> settings = which.changes;
  for (const char* rung : {"collectives.model=closed_form", "simulate.network=alpha_beta",
                           "collectives.overhead=kernels"}) {
    settings.emplace_back(rung);
  }
  auto scenario = configs::load_scenario(share_dir() + "/scenarios/" + which.scenario + ".yaml",
                                         {.overrides = settings, .share_folders = {}});
  CHECK(scenario.has_value(), "a shipped scenario can be read");
  return std::move(*scenario);
}

// Those that the numbers alone do not exclude.
std::vector<std::size_t> candidates_of(const planning::SearchSpace& space, const configs::Scenario& scenario) {
  std::vector<std::size_t> candidates;
  for (std::size_t index = 0; index < space.size(); ++index) {
    const planning::Layout layout = space.layout(index);
    const bool new_one = !planning::refuse_early(layout, scenario) && space.essence(layout) == layout;
    if (new_one && !space.left_out(layout)) candidates.push_back(index);
  }
  return candidates;
}

struct Verdicts {
  std::size_t measured = 0;  // legal, so that memory is known
  std::size_t fitting = 0;   // with a bound
};

Verdicts judge_all(planning::Evaluator& evaluator, const std::vector<std::size_t>& candidates) {
  Verdicts verdicts;
  for (const std::size_t index : candidates) {
    const planning::Verdict verdict = evaluator.judge(index).verdict;
    if (verdict == planning::Verdict::kFits) ++verdicts.fitting;
    if (verdict == planning::Verdict::kFits || verdict == planning::Verdict::kTooLarge) ++verdicts.measured;
  }
  return verdicts;
}

// Collectives that are simulated alone for their kernels' overhead are known from a first pass: they are not part of
// the stage. Everything else is found anew, as in a search of its own.
void judge(benchmark::State& state, const SearchCase& which) {
  const configs::Scenario scenario = read_on_formulas(which);
  configs::SearchSettings settings = scenario.search;
  settings.given.insert(settings.given.end(), which.axes.begin(), which.axes.end());
  const planning::SearchSpace space(scenario, settings);
  const std::vector<std::size_t> candidates = candidates_of(space, scenario);
  configs::KnownOverheads overheads(configs::OverheadAccuracy::kInterpolated);
  const Bytes capacity = scenario.cluster.gpu.memory;
  planning::Evaluator first(scenario, space, capacity, overheads);
  Verdicts verdicts = judge_all(first, candidates);
  for (auto _ : state) {
    planning::Evaluator evaluator(scenario, space, capacity, overheads);
    verdicts = judge_all(evaluator, candidates);
  }
  report(state, {.ranks = static_cast<std::uint64_t>(scenario.cluster.gpus())});
  state.counters["candidates"] = static_cast<double>(candidates.size());
  state.counters["measured"] = static_cast<double>(verdicts.measured);
  state.counters["fitting"] = static_cast<double>(verdicts.fitting);
  state.SetItemsProcessed(static_cast<std::int64_t>(candidates.size()) * state.iterations());
}

void as_case(benchmark::internal::Benchmark* benchmark) {
  benchmark->Unit(benchmark::kMillisecond)->MeasureProcessCPUTime();
}

BENCHMARK_CAPTURE(judge, gpt3_175b_4096,
                  {.scenario = "gpt3-175b-1024-a100", .changes = {"cluster.nodes=512", "training.global_batch=1536"}})
    ->Apply(as_case);
BENCHMARK_CAPTURE(judge, llama3_70b_64, {.scenario = "llama3-70b-search-64-h100", .changes = {}})->Apply(as_case);
BENCHMARK_CAPTURE(judge, mixtral_8x7b_64,
                  {.scenario = "mixtral-8x7b-64-h100",
                   .changes = {},
                   .axes = {{.name = "tp", .values = {"1", "2", "4"}},
                            {.name = "pp", .values = {"1", "2"}},
                            {.name = "ep", .values = {"1", "2", "8"}}}})
    ->Apply(as_case);

}  // namespace
}  // namespace ringwright::bench
