// What skewed access to embedding tables means for caches, checkpoints and recovery.
//
// Caches: share of lookups that the most popular rows meet, and rows that a step fetches (row_access.h).
// Checkpoints: rows that were looked up in n steps, the sum of 1 - (1 - p)^n, are those that changed; a saved row has
// its weights in `bits`, its state and its number, and, where it is quantised, a scale and an offset (Eisenman et al.,
// "Check-N-Run", NSDI 2022).
// Recovery: shares of time with checkpoints every T_save and failures every T_fail (Maeng et al., "CPR", MLSys 2021,
// section 3):
//
//     full       O_save / T_save + (O_load + T_save / 2 + O_restart) / T_fail,  T_save = sqrt(2 O_save T_fail)
//     partial    O_save / T_save + (O_load + O_restart) / T_fail,  T_save = 2 PLS N T_fail
//
// with the bytes that the chosen checkpoints write (O_save) and hold (O_load). Partial recovery loads one of N servers'
// tables and goes on with what the others have learnt. PLS is the expected portion of lost samples, T_save /
// (2 T_fail N).
// Erasure code: k + r servers of a group hold k parts of the tables and r of parity. An update is sent to r of them as
// a difference; a lost part is made anew from k others (Kosaian et al., "ECRM", arXiv 2104.01981).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "configs/scenario/scenario.h"
#include "core/base/diagnostic.h"
#include "core/base/units.h"

namespace ringwright::planning {

struct CacheRow {
  double rows = 0.0;     // share of each table's rows in GPU memory
  double hits = 0.0;     // share of lookups that they meet
  double fetched = 0.0;  // bytes of rows that a step of the whole job fetches
};

struct LookaheadRow {
  std::int64_t batches = 0;
  double held = 0.0;     // share of all rows in the window
  double fetched = 0.0;  // bytes, of a step
};

struct CheckpointRow {
  std::string policy;
  double first = 0.0;       // bytes of the first checkpoint after the full one
  double mean = 0.0;        // bytes written, a mean over a day
  double largest_kept = 0.0;  // bytes in storage to restore from, at most over the day
  double less_written = 1.0;  // than full checkpoints that are not quantised
  double less_kept = 1.0;
};

struct RecoveryRow {
  std::string kind;
  Duration interval;
  double overhead = 0.0;    // share of the time
  double pls = 0.0;         // expected portion of lost samples
};

struct EmbeddingsResult {
  std::string scenario;
  Duration step;
  double table_bytes = 0.0;    // weights and state
  double unique_rows = 0.0;    // distinct rows of a step, of all lookups
  std::vector<CacheRow> caches;
  std::vector<LookaheadRow> lookaheads;
  std::vector<CheckpointRow> checkpoints;
  std::vector<RecoveryRow> recoveries;
  // Erasure code.
  double memory_overhead = 0.0;     // r / k
  double parity_bytes = 0.0;        // of a step, that updates send besides
  double parity_overhead = 0.0;     // share of the step where nothing hides it
  Duration rebuild;                 // of a server's tables, while training goes on
};

// E554 where the scenario has no recommendation model; failures of its step's simulation.
[[nodiscard]] Result<EmbeddingsResult> study_embeddings(const configs::Scenario& scenario);

// What the scenario says in vain; `recommendation.upkeep`, which a step does not use, is not among it.
[[nodiscard]] Diagnostics embeddings_warnings(const configs::Scenario& scenario);

[[nodiscard]] std::string render_embeddings_text(const EmbeddingsResult& result);
// Schema "ringwright.embeddings/1" (docs/embeddings.md).
[[nodiscard]] std::string render_embeddings_json(const EmbeddingsResult& result);

}  // namespace ringwright::planning
