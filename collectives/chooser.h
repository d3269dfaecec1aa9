// Which algorithm plays a call: the user's choice for the dimension, else a few rules by kind, size and layout.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/units.h"
#include "core/config/config_map.h"
#include "core/plan/step_costs.h"
#include "core/ports/channel_algorithm.h"
#include "core/ports/collective_algorithm.h"

namespace ringwright::collectives {

struct DimensionChoice {
  std::string dimension;                           // "dp"
  const CollectiveAlgorithm* algorithm = nullptr;  // null: by rule
  Bytes from;                                      // smaller collectives are left to the rule
};

// How faithfully collectives are played: the rung of the fidelity ladder.
enum class Rung { kClosedForm, kSteps, kChunks };
[[nodiscard]] std::string_view to_string(Rung rung);  // "steps", as in `collectives.model`

enum class Tuner { kSimple, kNccl };

struct ChooserSettings {
  Tuner tuner = Tuner::kSimple;
  Rung rung = Rung::kSteps;
  bool use_nvls = true;  // `collectives.nvls`: use in-switch reduction where the hosts have it
  std::vector<DimensionChoice> choices;
  StepCosts step_costs;  // of Rung::kSteps
  // Rung::kSteps: a call takes as long, while it has the network to itself, as the kernels of Rung::kChunks.
  bool kernel_overhead = false;
};

// Reads the `collectives` map; mistakes are recorded there. `dimensions`: those that may have a choice of their own;
// `rung`: where the map names none; libraries with step costs go in steps.
[[nodiscard]] ChooserSettings read_chooser_settings(ConfigMap collectives, std::span<const std::string> dimensions,
                                                    Rung rung = Rung::kSteps);

// What the chooser must know besides the settings.
struct ChooserFacts {
  std::vector<std::string> dimensions;  // names in DimensionId order
  bool hosts_have_nvls = false;         // switches in the hosts reduce and multicast (NVLink SHARP)
  const ChannelTuner* nccl = nullptr;   // asked where the user chose `tuner: nccl`; outlives the chooser
};

class SimpleChooser final : public CollectiveChooser {
 public:
  SimpleChooser(const ChooserSettings& settings, const ChooserFacts& facts);

  [[nodiscard]] const CollectiveAlgorithm& choose(const CollectiveCall& call) const override;
  // Why the user's choice cannot play this call, for planning time; empty when it can.
  [[nodiscard]] std::string check(const CollectiveCall& call) const;

 private:
  [[nodiscard]] const CollectiveAlgorithm* chosen(const CollectiveCall& call) const;

  std::vector<DimensionChoice> by_dimension_;  // by dimension id
  bool nvls_;
  const ChannelTuner* nccl_ = nullptr;  // null: by the simple rules
};

}  // namespace ringwright::collectives
