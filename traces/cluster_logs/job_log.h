// Logs of the jobs of GPU clusters, as published: when each was submitted, its GPUs, and how long it ran.
//
//   philly   Microsoft's philly-traces, cluster_job_log: a JSON list of jobs with their attempts
//   pai      Alibaba's cluster-trace-gpu-v2020, pai_task_table.csv: tasks without a head line, plan_gpu in percent
//   acme     AcmeTrace, trace_seren.csv and trace_kalos.csv: a head line that names columns
//   csv      any other: a head line with submit_s, gpus and run_s, and optionally name and type
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/diagnostic.h"

namespace ringwright::traces {

struct LoggedJob {
  std::string name;
  std::string type;     // where the log says one
  double submit = 0.0;  // seconds, from any origin
  double run = 0.0;     // seconds with GPUs, over all attempts
  double gpus = 0.0;    // less than 1: a part of one
};

struct JobLog {
  std::vector<LoggedJob> jobs;   // in the order of submission
  std::size_t without_gpus = 0;  // jobs that are left out
  std::size_t without_times = 0;
};

enum class JobLogForm { kPhilly, kPai, kAcme, kCsv };

[[nodiscard]] Result<JobLog> read_job_log(const std::string& path, JobLogForm form);
[[nodiscard]] Result<JobLog> parse_job_log(const std::string& name, std::string_view text, JobLogForm form);

}  // namespace ringwright::traces
