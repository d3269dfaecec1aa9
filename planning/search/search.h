// The search for the best layout: every legal one is predicted by formulas, the best are simulated again.
//
// 1. A layout that model, batch or machine do not allow is counted by its reason; one that is simulated like another is
//    counted as such.
// 2. The memory ledger decides whether it fits; what does not fit is retained, with the items that fill it.
//    `skip_slower` leaves out of the following what a lower bound of its step excludes from the page; if it is not
//    given, where many layouts fit and only tables are asked for.
// 3. What fits is predicted with formulas for collectives on a network without sharing (`closed_form` on `alpha_beta`).
// 4. The best of these are predicted again with the scenario's own models, and ranked by that.
// The result does not depend on the number of threads: each layout is evaluated by one of them, alone.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "configs/scenario/scenario.h"
#include "configs/simulation/overhead_store.h"
#include "configs/simulation/planner.h"
#include "planning/search/search_space.h"

namespace ringwright::planning {

// A layout after its job was read: with the derived values.
struct Configuration {
  std::size_t index = 0;  // in the space
  Layout layout;
  std::int64_t dp = 1;
  std::vector<std::int64_t> layers_per_part;
  MemoryRow fullest;                 // of the stage that fills its GPU most
  std::optional<HostRow> overfull_host;  // whose memory or drives cannot hold what its GPUs leave there
  std::optional<configs::Prediction> quick;   // by formulas
  std::optional<configs::Prediction> played;  // with the scenario's own models

  [[nodiscard]] const configs::Prediction& best_known() const { return played ? *played : *quick; }
  // What it needs of its fullest GPU or host, relative to what that has.
  [[nodiscard]] double need() const;
};

struct RefusalCount {
  Refusal refusal;  // the example is that of the first such layout
  std::size_t count = 0;
};

// A layout that fits and was not predicted, since it cannot be on the page (planning/search/shortlist.h).
struct SkippedLayout {
  Configuration configuration;
  Duration least;  // its step takes longer than that
};

// The scenario's own layout compared with the others.
struct OwnLayout {
  Configuration configuration;
  bool fits = false;
  // It would have among all that fit, counted from 1; none where it has no step, or does not fit. Where a layout that
  // was skipped may be faster, the rank is that or a later one.
  std::optional<std::size_t> rank;
  bool is_rank_known = true;
  std::string problem;              // why it was not predicted
};

struct SearchResult {
  std::vector<configs::SearchAxis> axes;
  std::size_t combinations = 0;
  std::size_t same = 0;                // simulated like another one that is counted
  std::vector<RefusalCount> refusals;  // most frequent first
  std::vector<Configuration> ranked;   // best first: those simulated again, then the others
  std::size_t replayed = 0;
  std::vector<SkippedLayout> skipped;  // ascending by bound
  bool bounds_hold = true;             // false: a prediction was below its bound, so that nothing was skipped
  std::vector<Configuration> misfits;  // legal and too large, the closest first
  std::vector<std::size_t> front;      // of `ranked`, by formulas: no other is both faster and smaller; smallest first
  std::optional<double> agreement;     // Kendall's tau of both rankings of those simulated again
  Bytes capacity;
  OwnLayout own;

  [[nodiscard]] std::size_t legal() const { return ranked.size() + skipped.size() + misfits.size(); }
  [[nodiscard]] std::size_t fitting() const { return ranked.size() + skipped.size(); }
  // Whether no layout that was skipped can be faster than this one.
  [[nodiscard]] bool is_rank_known(const Configuration& predicted) const {
    return skipped.empty() || skipped.front().least > predicted.quick->step_time.mean;
  }
};

struct SearchOptions {
  int threads = 0;  // 0: one per core
  std::function<void(std::size_t done, std::size_t all)> progress = {};
  bool lists_all = true;  // layouts are written one by one, not only in tables
  configs::OverheadStore* store = nullptr;  // where overheads of calls are retained; null: nowhere
  std::string own_problem = {};  // why the scenario's layout differs from its file's (planning/search/search_base.h)
};

// Mistakes where the space is too large to try.
[[nodiscard]] Result<SearchResult> search(const configs::Scenario& scenario, const configs::SearchSettings& settings,
                                          const SearchOptions& options = {});

// What gives a layout that was found, wherever it is read: stages that were split for a limit of memory are listed.
[[nodiscard]] ConfigChanges changes_of(const SearchSpace& space, const Configuration& configuration);
// The scenario with this layout, as YAML that `load_scenario` takes.
[[nodiscard]] std::string written(const configs::Scenario& scenario, const SearchSpace& space,
                                  const Configuration& configuration);

}  // namespace ringwright::planning
