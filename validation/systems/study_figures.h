// Figures of studies that simulate more than one step: several jobs, parameter servers, embedding tables.
//
//   slowdown JOB                        of a job together with the others, against alone (ringwright jobs)
//   samples_per_s MODE, staleness MODE  of parameter servers: sync, async, "ssp 3"; samples_per_s ring (servers)
//   plan_gain                           samples per second of the best number of servers over the scenario's (servers)
//   hits SHARE                          of lookups, by so many of the most popular rows: `hits 0.01` (embeddings)
//   less_written POLICY, less_kept POLICY    of checkpoints, than full ones in fp32
//   overhead KIND                       of recovery: full, partial
//   memory_overhead                     of an erasure code
//   waiting_s, completion_s [POLICY]    means of the jobs of a cluster over days, of the first or of the named policy
//   makespan_s, peak_gpus, utilisation, productive [POLICY]   of the cluster; productive: of the GPU time in use
//   gain                                of compression that follows delays, over the fixed ratio (adapt)
//   localised, wrong_cables, missed_cables   of probing: the share of faults found, healthy cables reported, faulty not
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/base/diagnostic.h"
#include "validation/systems/system_rows.h"

namespace ringwright::validation {

[[nodiscard]] std::vector<std::string_view> study_figure_names(SystemRun run);
[[nodiscard]] bool is_study_figure(SystemRun run, std::string_view name);
// E561 where the study has no such figure.
[[nodiscard]] Result<double> study_figure(const SystemRow& row, const std::vector<std::string>& settings);

}  // namespace ringwright::validation
