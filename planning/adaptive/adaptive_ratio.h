// Compression whose ratio follows measured delays: how long steps take while the network changes.
//
// After each step the exchange that it exposed is known, d. Its bytes are in proportion to the ratio r of the gradients
// that are sent, so that r d_0 / d keeps the exchange at d_0, the one of the first phase with the scenario's ratio,
// which is the most that is sent. The next step has that ratio, between the bounds. (The paper behind it, Modern
// Electronics Technique 48(13), weighs samples by their importance, too, which concerns convergence and not time.) A
// step is simulated once for each phase and ratio, of which there are kRatiosPerOctave from one to its double.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "configs/scenario/scenario.h"
#include "core/base/diagnostic.h"
#include "core/base/units.h"

namespace ringwright::planning {

inline constexpr int kRatiosPerOctave = 16;

// The network for so many steps: settings of the scenario.
struct RatioPhase {
  std::int64_t steps = 1;
  std::vector<std::string> settings;
};
// "20 cluster.node.nic.bandwidth=2Gbps". E522 for another text.
[[nodiscard]] Result<RatioPhase> parse_phase(const std::string& text);

struct AdaptivePhase {
  RatioPhase phase;
  double mean_ratio = 0.0;
  Duration adaptive;  // of all its steps
  Duration fixed;     // with the scenario's ratio
  Duration least;     // with the least ratio
};

struct AdaptiveRatio {
  std::string scenario;
  double most = 0.0;
  double least = 0.0;
  Duration exchange;  // what the ratio holds, d_0
  std::vector<AdaptivePhase> phases;

  // Time with the scenario's ratio over time with one that follows delays.
  [[nodiscard]] double gain() const;
};

using RatioScenario = std::function<Result<configs::Scenario>(const std::vector<std::string>& more)>;

struct AdaptiveQuestion {
  RatioScenario load;
  std::vector<RatioPhase> phases;
  std::string least = "0.1%";
};
// E522 where the scenario's codec has no ratio, or the least one is above it.
[[nodiscard]] Result<AdaptiveRatio> adapt_ratio(const AdaptiveQuestion& question);

[[nodiscard]] std::string render_adaptive_text(const AdaptiveRatio& result);
// Schema "ringwright.adaptive/1" (docs/compression.md).
[[nodiscard]] std::string render_adaptive_json(const AdaptiveRatio& result);

}  // namespace ringwright::planning
