// The fastest setting of NCCL for each collective and size on one machine: algorithm, protocol and channels, by
// simulation of NCCL's kernels.
//
// For every size each algorithm is tried with each protocol, first with the number of channels that NCCL takes. From
// there channels are halved and doubled as long as that is faster: the descent along one coordinate of AutoCCL (NSDI
// 2025), whose premise, time with one minimum over the number of channels, holds here by construction. With `kernels`
// threads and the size of buffers, an eighth of which is a chunk, are coordinates of the descent as well. NCCL's own
// choice stays where nothing is faster by more than `least_gain`.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "configs/scenario/scenario.h"
#include "configs/simulation/collective_run.h"
#include "core/base/diagnostic.h"
#include "core/base/units.h"
#include "planning/study/workers.h"
#include "planning/tune/call_setting.h"

namespace ringwright::planning {

// The machine with further settings ("comm.env.NCCL_ALGO=ring").
using LoadMachine = std::function<Result<configs::Scenario>(const std::vector<std::string>& settings)>;

struct TunedCall {
  configs::CollectiveOperation operation = configs::CollectiveOperation::kAllReduce;
  Bytes size;
  CallSetting own;  // of NCCL
  Duration own_time;
  CallSetting best;
  Duration best_time;
  int tried = 0;                         // settings that were simulated
  std::vector<TriedSetting> candidates;  // those that NCCL takes, in the order in which they were tried

  [[nodiscard]] bool is_faster() const { return best_time < own_time; }
};

struct TuneOptions {
  std::vector<configs::CollectiveOperation> operations;
  std::vector<Bytes> sizes;  // ascending
  double least_gain = 0.01;  // of NCCL's time; less is noise of a real machine
  int most_channels = 32;
  bool kernels = false;  // threads and buffers, too
  Workers workers;
};

struct TuneResult {
  int ranks = 0;
  std::int64_t hosts = 0;
  std::vector<TunedCall> calls;  // by operation, then by size
  bool measured = false;         // times are those of logs
  Diagnostics warnings;          // about these logs
};

// Operations that NCCL's tuner interface covers; others have no choice of algorithm.
[[nodiscard]] bool is_tunable(configs::CollectiveOperation operation);

// Fails where the machine cannot be read, or NCCL's kernels are not what carries out its calls (E520).
[[nodiscard]] Result<TuneResult> tune(const LoadMachine& load, const TuneOptions& options);

// Lines for NCCL's example tuner plug-in (docs/tune.md). Each size stands for those up to the geometric mean with the
// next one; neighbours with one setting share a line. Calls that NCCL chooses best itself have no line. Threads and
// buffers, which the plug-in cannot set, are in a comment: they are variables of the whole process.
[[nodiscard]] std::string render_tuner_csv(const TuneResult& result);
[[nodiscard]] std::string render_tune_text(const TuneResult& result);
// Schema "ringwright.tune/1" (docs/tune.md).
[[nodiscard]] std::string render_tune_json(const std::string& machine, const TuneResult& result);

}  // namespace ringwright::planning
