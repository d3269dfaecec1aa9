#include "traces/cluster_logs/error_codes.h"

#include <array>

namespace ringwright::traces {
namespace {

constexpr std::array kJobLogCodes = {
    ErrorCode{.code = "E490",
              .title = "a log of cluster jobs that cannot be read",
              .explanation =
                  "Known are philly (cluster_job_log), pai (pai_task_table.csv), acme (trace_seren.csv, "
                  "trace_kalos.csv) and csv with\nthe columns submit_s, gpus and run_s, plain or gzip. Jobs without "
                  "GPUs or times are counted and left out.",
              .example = "jobs: { log: trace_kalos.csv, form: acme }"},
};

}  // namespace

std::span<const ErrorCode> job_log_error_codes() {
  return kJobLogCodes;
}

}  // namespace ringwright::traces
