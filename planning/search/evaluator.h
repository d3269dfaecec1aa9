// What one thread of a search evaluates layouts with: the job of the current one on the machine of the search, and for
// predictions a scenario of its own and a planner.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "configs/scenario/scenario.h"
#include "configs/simulation/least_calls.h"
#include "configs/simulation/planner.h"
#include "planning/search/search.h"
#include "planning/search/search_space.h"
#include "workload/layout/known_layouts.h"
#include "workload/memory/known_memory.h"

namespace ringwright::planning {

enum class Verdict { kRefused, kSame, kTooLarge, kFits, kPredicted, kSkipped };

struct Trial {
  Verdict verdict = Verdict::kRefused;
  Refusal refusal;
  Configuration configuration;
  std::optional<Duration> least = {};  // of a layout that fits: a lower bound of its step, where one is known
};

// With the models of `base`. References outlive it.
class Evaluator {
 public:
  Evaluator(const configs::Scenario& base, const SearchSpace& space, Bytes capacity,
            configs::KnownOverheads& overheads);

  // Memory is checked first, and a layout that does not fit is not predicted.
  [[nodiscard]] Trial evaluate(std::size_t index);
  // The same without the prediction, which a layout that fits has a bound instead of. Plans of stages are predicted,
  // since that chooses the plan.
  [[nodiscard]] Trial judge(std::size_t index);
  // Of a layout that fits.
  void predict(Trial& trial);
  // The base's own job.
  [[nodiscard]] std::optional<Refusal> evaluate_own(Configuration& own, bool& fits);
  // Only the prediction, of a layout that was evaluated before; nothing when it cannot be simulated here.
  [[nodiscard]] std::optional<configs::Prediction> replay(const Layout& layout);

 private:
  // The fastest of the plans that the dynamic program finds; of those that do not fit the first.
  [[nodiscard]] Trial evaluate_plans(std::size_t index, const Layout& layout);
  [[nodiscard]] Trial evaluate(std::size_t index, const Layout& layout);
  // Up to its memory.
  [[nodiscard]] Trial read(std::size_t index, const Layout& layout);
  void take(configs::ChangedJob changed, Configuration& configuration);
  [[nodiscard]] bool measure(Configuration& configuration);
  [[nodiscard]] std::optional<Refusal> predict_taken(std::optional<configs::Prediction>& prediction);
  // Of the job that is taken, which is then gone.
  void predict_fitting(Trial& trial);

  // What layouts have found.
  struct Known {
    workload::KnownLayouts layouts;
    workload::KnownMemory memory{layouts.order};
  };
  // Of layouts with the same values of other keys, which a compute model may depend on.
  [[nodiscard]] Known& known_of(const Layout& layout) { return known_[layout.others]; }
  // The base once more, for predictions.
  [[nodiscard]] configs::Scenario& mine();

  const configs::Scenario& base_;
  const SearchSpace& space_;
  Bytes capacity_;
  configs::Job job_;  // of the current layout
  configs::SimulateSettings simulate_;
  std::optional<configs::Scenario> mine_;
  configs::Planner planner_;
  configs::LeastCalls calls_;
  std::map<std::vector<std::pair<std::string, std::string>>, Known> known_;
};

}  // namespace ringwright::planning
