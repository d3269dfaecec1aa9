// Which algorithm runs a call: the user's choice for the dimension, else a few rules by kind, size and layout.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "collectives/libraries/profile.h"
#include "collectives/steps/library_rings.h"
#include "core/base/units.h"
#include "core/config/config_map.h"
#include "core/plan/step_costs.h"
#include "core/ports/channel_algorithm.h"
#include "core/ports/collective_algorithm.h"

namespace ringwright::collectives {

struct DimensionChoice {
  std::string dimension;                           // "dp"
  const CollectiveAlgorithm* algorithm = nullptr;  // null: by rule
  Bytes from;                                      // smaller collectives follow the rules
};

// How faithfully collectives are simulated: the rung of the fidelity ladder. kAuto: kSteps, or kCoupled where steps
// would be too many messages.
enum class Rung { kClosedForm, kCoupled, kSteps, kChunks, kAuto };
[[nodiscard]] std::string_view to_string(Rung rung);  // "steps", as in `collectives.model`

enum class Tuner { kSimple, kNccl };

struct ChooserSettings {
  Tuner tuner = Tuner::kSimple;  // when read: NCCL's where its kernels are modelled, in all rungs
  Rung rung = Rung::kSteps;
  bool use_nvls = true;  // `collectives.nvls`: use in-switch reduction where the hosts have it
  std::vector<DimensionChoice> choices;
  StepCosts step_costs;  // of Rung::kSteps
  LibrarySettings library = {};  // whose rules and costs apply, `comm.library`
  // Not in Rung::kChunks: an isolated call takes as long as the kernels of Rung::kChunks.
  bool kernel_overhead = false;

  // Whether calls are messages of an algorithm's steps, by whichever of their rungs.
  [[nodiscard]] bool in_steps() const { return rung == Rung::kSteps || rung == Rung::kCoupled || rung == Rung::kAuto; }
  [[nodiscard]] bool heeds_kernels() const { return rung == Rung::kChunks || kernel_overhead; }
};

// Reads the `collectives` map; mistakes are recorded there. `dimensions`: those that may have an override; `rung`: the
// default of `model`; libraries with step costs use steps. E563 for what a library without NCCL's kernels lacks.
[[nodiscard]] ChooserSettings read_chooser_settings(ConfigMap collectives, std::span<const std::string> dimensions,
                                                    Rung rung = Rung::kSteps, const LibrarySettings& library = {});

// Inputs of the chooser besides the settings.
struct ChooserFacts {
  std::vector<std::string> dimensions;  // names in DimensionId order
  bool hosts_have_nvls = false;         // NVSwitches in the hosts reduce and multicast (NVLink SHARP)
  // The library's choice, used with `tuner: nccl`; outlives the chooser.
  const ChannelChooser* library = nullptr;
  // For groups whose hosts fill a box of a torus: its sides.
  std::map<const GroupLayout*, std::vector<int>> boxes = {};
  // For groups whose hosts have NICs of different speeds: those of each host, in bytes/s.
  std::map<const GroupLayout*, std::vector<double>> host_speeds = {};
};

class SimpleChooser final : public CollectiveChooser {
 public:
  SimpleChooser(const ChooserSettings& settings, const ChooserFacts& facts);

  [[nodiscard]] const CollectiveAlgorithm& choose(const CollectiveCall& call) const override;
  // Why the user's choice does not support this call, for planning time; empty when it does.
  [[nodiscard]] std::string check(const CollectiveCall& call) const;
  // The user's choice for this call, where it supports the call; null: none.
  [[nodiscard]] const CollectiveAlgorithm* named(const CollectiveCall& call) const;
  // Along the sides of a torus; null elsewhere, or for kinds that are not split over its sides.
  [[nodiscard]] const CollectiveAlgorithm* on_torus(const CollectiveCall& call) const;
  [[nodiscard]] bool by_rule() const { return library_ == nullptr; }
  // The rule of a library other than NCCL that applies; null: none, or the user names the algorithm.
  [[nodiscard]] const AlgorithmRule* rule_of(const CollectiveCall& call) const;
  // The user's choices as the report shows them: "world".
  [[nodiscard]] std::string_view dimension(const CollectiveCall& call) const;

 private:
  using Asked = std::tuple<const GroupLayout*, CollectiveKind, std::int64_t>;

  [[nodiscard]] const CollectiveAlgorithm* chosen(const CollectiveCall& call) const;
  // Algorithms that follow the speeds of a group's hosts know them; others are as they were.
  [[nodiscard]] const CollectiveAlgorithm& measured(const CollectiveAlgorithm& algorithm,
                                                    const CollectiveCall& call) const;
  [[nodiscard]] const CollectiveAlgorithm& as_library(const CollectiveCall& call) const;

  std::vector<DimensionChoice> by_dimension_;  // by dimension id
  bool nvls_;
  const ChannelChooser* library_ = nullptr;  // null: by the simple rules
  LibrarySettings rules_;
  std::map<const GroupLayout*, std::vector<int>> boxes_;
  std::map<const GroupLayout*, std::vector<double>> host_speeds_;
  mutable std::mutex mutex_;                 // of what follows
  mutable std::map<Asked, const CollectiveAlgorithm*> answers_;
  mutable LibraryAlgorithms made_;
};

}  // namespace ringwright::collectives
