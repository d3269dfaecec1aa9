// How soon probes find links that are down or lose packets, and what they report by mistake: NetBouncer on the fabric
// of a scenario, with the probes that arrive drawn at random.
//
// A round sends `probes_per_path` over every path, one probe of each path after another, and ends with an analysis. A
// fault begins at a random time of the first round. It is localised by the first round that reports all of its cables.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "configs/scenario/probing.h"
#include "configs/scenario/scenario.h"
#include "core/base/diagnostic.h"

namespace ringwright::configs {

struct ProbeStudy {
  std::string fabric;
  std::size_t cables = 0;      // of the fabric, both directions
  std::size_t paths = 0;
  std::size_t uncovered = 0;   // cables on no path
  double round_seconds = 0.0;
  std::vector<std::string> faults;  // those listed; empty: cables were tried one by one
  std::size_t tried = 0;            // faults times repetitions
  std::size_t localised = 0;        // of these
  std::vector<double> seconds;      // of the localised, from the fault to the report, ascending
  std::size_t missed_cables = 0;    // faulty, not reported by the last round: false negatives
  std::size_t wrong_cables = 0;     // healthy, reported by some round up to the localisation: false positives
  std::size_t switches = 0;         // reported as lossy as a whole, over all rounds
  std::size_t degraded = 0;         // listed links that lose bandwidth but no packets, which probes do not find

  [[nodiscard]] double mean_seconds() const;
  // At or below which a share of the localised lie.
  [[nodiscard]] double quantile_seconds(double share) const;
};

// `scenario` has the settings that it was read with in `probing`.
[[nodiscard]] Result<ProbeStudy> study_probes(const Scenario& scenario, const ProbingSettings& probing);

[[nodiscard]] std::string render_text(const ProbeStudy& study, const ProbingSettings& probing);
[[nodiscard]] std::string render_json(const ProbeStudy& study, const ProbingSettings& probing);

}  // namespace ringwright::configs
