// What a search tries: the values of each axis, and the layouts in their Cartesian product.
//
// An axis without given values has those that model and machine allow. A layout is a choice on every axis; as changes
// of the scenario it also drops what only holds for another layout (dp, lists of layers, files of schedules).
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "configs/scenario/scenario.h"
#include "configs/scenario/search_settings.h"

namespace ringwright::planning {

// The value of stage_layers with which stages get ranks and layers of their own (planning/search/planned_stages.h);
// such a layout has no single tp and pp.
inline constexpr std::string_view kAlpa = "alpa";

constexpr std::size_t kMostCombinations = 20'000'000;  // at most as many are tried

struct Layout {
  std::int64_t tp = 1;
  std::int64_t pp = 1;
  std::int64_t virtual_stages = 1;
  std::int64_t cp = 1;
  std::int64_t ep = 1;
  std::string etp = "1";  // or "tp"
  std::int64_t micro_batch = 1;
  std::string recompute;
  std::string sharding;
  std::string schedule;
  std::string stage_layers;
  std::string sequence_parallel;
  std::string stages;  // parallel.stages, once planned; tp is then the largest and pp their number
  std::vector<std::pair<std::string, std::string>> others;  // keys and values

  friend bool operator==(const Layout&, const Layout&) = default;
};

// Why a layout is not possible; many layouts share one reason.
struct Refusal {
  std::string code;     // "E130"
  std::string reason;   // "the layout does not fill the cluster"
  std::string example;  // the message for this layout
};

class SearchSpace {
 public:
  SearchSpace(const configs::Scenario& scenario, const configs::SearchSettings& settings);

  // All of them, with given values or not.
  [[nodiscard]] const std::vector<configs::SearchAxis>& axes() const { return axes_; }
  [[nodiscard]] std::size_t size() const;
  // The first axis changes slowest.
  [[nodiscard]] Layout layout(std::size_t index) const;
  // The layout of the space that is simulated identically, since choices of this one have no effect; itself where none
  // is.
  [[nodiscard]] Layout essence(Layout layout) const;
  [[nodiscard]] ConfigChanges changes(const Layout& layout) const;
  // Not tried by default, since it takes most of the time: parameters that are gathered anew for every microbatch of a
  // pipeline. They are tried where values of `sharding` are given, or where the scenario itself does so.
  [[nodiscard]] std::optional<Refusal> left_out(const Layout& layout) const;
  // Stages that are planned: tensor-parallel sizes of one, and whether the number of stages is one of the values given.
  [[nodiscard]] std::vector<std::int64_t> tensor_sizes() const;
  [[nodiscard]] bool allows_stages(std::size_t count) const;
  // Whether an earlier distribution of layers gives the same model chunks.
  [[nodiscard]] bool repeats_layers(const Layout& layout, const workload::ParallelOptions& parallel) const;

 private:
  [[nodiscard]] const std::vector<std::string>& values(std::string_view axis) const;
  [[nodiscard]] bool has_one_replica(const Layout& layout) const;
  [[nodiscard]] bool matters_alone(const Layout& layout) const;

  const configs::Scenario& scenario_;
  std::vector<configs::SearchAxis> axes_;
  std::vector<std::string> of_one_layout_;  // keys of the scenario that only hold for another layout
  bool pp_given_ = false;
  bool gathers_in_pipelines_ = false;  // whether such layouts are tried
};

// Keys that a search does not take over from the scenario, since they hold for its own layout alone.
[[nodiscard]] bool holds_for_one_layout(std::string_view key);

// What the scenario itself sets on each axis, in the words of the axes where they have one.
[[nodiscard]] Layout own_layout(const configs::Scenario& scenario, const std::vector<configs::SearchAxis>& axes);

// What can be checked without reading the job again; a job that is refused here is refused there, too.
[[nodiscard]] std::optional<Refusal> refuse_early(const Layout& layout, const configs::Scenario& scenario);

}  // namespace ringwright::planning
