// Traces of one job, one per rank, summarised: where time went, which kernels, which collectives, who was waited for.
#pragma once

#include <string>
#include <vector>

#include "core/base/diagnostic.h"
#include "traces/calls/call_table.h"
#include "traces/calls/joined_calls.h"
#include "traces/kineto/breakdown.h"
#include "traces/kineto/kineto_trace.h"

namespace ringwright::traces {

struct KinetoSummary {
  std::vector<KinetoTrace> ranks;           // by rank
  std::vector<KinetoBreakdown> breakdowns;  // of the same
  JoinedCalls joined;
  std::vector<CallRow> rows;
  Diagnostics warnings;
};

// All mistakes of all files at once; also of traces that do not belong to one job.
[[nodiscard]] Result<KinetoSummary> summarise_kineto(const std::vector<std::string>& files);
[[nodiscard]] Result<KinetoSummary> summarise_kineto_traces(std::vector<KinetoTrace> traces);

[[nodiscard]] std::string kineto_summary_text(const KinetoSummary& summary);
// One object, schema "ringwright.inspect.kineto/1".
[[nodiscard]] std::string kineto_summary_json(const KinetoSummary& summary);

}  // namespace ringwright::traces
