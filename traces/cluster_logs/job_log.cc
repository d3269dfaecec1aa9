#include "traces/cluster_logs/job_log.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "core/base/text.h"
#include "traces/cluster_logs/csv_rows.h"
#include "traces/cluster_logs/philly.h"
#include "traces/input/byte_stream.h"

namespace ringwright::traces {
namespace {

constexpr std::size_t kLongestLog = std::size_t{2} << 30U;
constexpr double kMostLoggedGpus = 1e6;

Diagnostic wrong_row(const std::string& name, int line, std::string message) {
  return {.code = "E490", .place = {.file = name, .line = line}, .message = std::move(message)};
}

// A table with a head line: the columns that are asked for, by name.
class HeadedTable {
 public:
  HeadedTable(const std::string& name, std::string_view text) : name_(name), rows_(text) {
    static_cast<void>(rows_.next(head_));
    if (!head_.empty() && head_.front().starts_with("\xEF\xBB\xBF")) head_.front().erase(0, 3);
  }
  // A mistake where a column is missing, or one that is read stands twice.
  void need(std::initializer_list<std::string_view> columns, std::initializer_list<std::string_view> others,
            Diagnostics& problems) const {
    if (head_.empty()) {
      problems.add(wrong_row(name_, 0, "the log is empty"));
      return;
    }
    for (const auto& names : {columns, others}) {
      for (const std::string_view column : names) {
        if (std::ranges::count(head_, column) < 2) continue;
        problems.add(wrong_row(name_, 1, fmt::format("the head line names the column '{}' twice", column)));
      }
    }
    for (const std::string_view column : columns) {
      if (has(column)) continue;
      problems.add(wrong_row(name_, 1, fmt::format("the head line names no column '{}'; it names {}", column,
                                                   join(head_, ", "))));
    }
  }
  [[nodiscard]] bool has(std::string_view column) const { return std::ranges::find(head_, column) != head_.end(); }
  // A row with more fields than the head has columns is a mistake, since it is not known which are which.
  [[nodiscard]] bool next(Diagnostics& problems) {
    if (problems.has_errors() || !rows_.next(fields_)) return false;
    const auto beyond = fields_.begin() + static_cast<std::ptrdiff_t>(std::min(fields_.size(), head_.size()));
    if (std::all_of(beyond, fields_.end(), [](const std::string& field) { return field.empty(); })) return true;
    problems.add(wrong_row(
        name_, line(),
        fmt::format("the row has {} fields, and the head line names {} columns", fields_.size(), head_.size())));
    return false;
  }
  [[nodiscard]] int line() const { return rows_.line(); }
  // Empty where the row or the head has none.
  [[nodiscard]] std::string_view field(std::string_view column) const {
    const auto at = static_cast<std::size_t>(std::ranges::find(head_, column) - head_.begin());
    return at < fields_.size() ? std::string_view(fields_[at]) : std::string_view();
  }

 private:
  const std::string& name_;
  CsvRows rows_;
  std::vector<std::string> head_;
  std::vector<std::string> fields_;
};

// What a row lacks is counted, what it says wrongly is a mistake.
void add_row(const HeadedTable& table, const std::string& name, LoggedJob job, std::string_view gpus, JobLog& log,
             Diagnostics& problems) {
  if (gpus.empty() || !parse_seconds(gpus, job.gpus) || job.gpus < 0.0 || job.gpus > kMostLoggedGpus) {
    problems.add(wrong_row(name, table.line(), fmt::format("'{}' is no number of GPUs", gpus)));
    return;
  }
  if (!(job.gpus > 0.0)) {
    ++log.without_gpus;
  } else if (!(job.run > 0.0)) {
    ++log.without_times;
  } else {
    log.jobs.push_back(std::move(job));
  }
}

JobLog parse_acme(const std::string& name, std::string_view text, Diagnostics& problems) {
  HeadedTable table(name, text);
  table.need({"gpu_num", "submit_time", "duration"}, {"job_id", "type"}, problems);
  JobLog log;
  while (table.next(problems)) {
    LoggedJob job{.name = std::string(table.field("job_id")), .type = std::string(table.field("type"))};
    if (table.field("submit_time").empty() || table.field("duration").empty()) {
      ++log.without_times;
      continue;
    }
    if (!parse_date(table.field("submit_time"), job.submit)) {
      problems.add(wrong_row(name, table.line(), fmt::format("'{}' is no time", table.field("submit_time"))));
      continue;
    }
    if (!parse_seconds(table.field("duration"), job.run)) {
      problems.add(wrong_row(name, table.line(), fmt::format("'{}' is no duration", table.field("duration"))));
      continue;
    }
    add_row(table, name, std::move(job), table.field("gpu_num"), log, problems);
  }
  return log;
}

JobLog parse_own(const std::string& name, std::string_view text, Diagnostics& problems) {
  HeadedTable table(name, text);
  table.need({"submit_s", "gpus", "run_s"}, {"name", "type"}, problems);
  JobLog log;
  while (table.next(problems)) {
    LoggedJob job{.name = std::string(table.field("name")), .type = std::string(table.field("type"))};
    if (!parse_seconds(table.field("submit_s"), job.submit) || !parse_seconds(table.field("run_s"), job.run)) {
      problems.add(wrong_row(name, table.line(),
                             fmt::format("submit_s is '{}' and run_s '{}', and both are seconds up to {:.0e}",
                                         table.field("submit_s"), table.field("run_s"), kMostLoggedSeconds)));
      continue;
    }
    add_row(table, name, std::move(job), table.field("gpus"), log, problems);
  }
  return log;
}

// job_name, task_name, inst_num, status, start_time, end_time, plan_cpu, plan_mem, plan_gpu, gpu_type. A job is all of
// its tasks: they start together, and it ends with the last.
JobLog parse_pai(const std::string& name, std::string_view text, Diagnostics& problems) {
  struct Times {
    LoggedJob job;
    double end = 0.0;
    bool complete = true;
  };
  constexpr std::size_t kColumns = 10;
  std::vector<Times> all;
  std::map<std::string, std::size_t, std::less<>> known;
  std::vector<std::string> row;
  for (CsvRows rows(text); rows.next(row);) {
    if (row.size() < kColumns) {
      problems.add(wrong_row(name, rows.line(), fmt::format("the row has {} columns, and pai_task_table.csv has {}",
                                                            row.size(), kColumns)));
      break;
    }
    if (row[0] == "job_name") continue;  // some copies have a head line
    const auto [at, is_new] = known.try_emplace(row[0], all.size());
    if (is_new) all.push_back({.job = {.name = row[0], .type = row[9]}});
    Times& times = all[at->second];
    double instances = 0.0;
    double percent = 0.0;
    double start = 0.0;
    double end = 0.0;
    const bool asks = parse_seconds(row[2], instances) && (row[8].empty() || parse_seconds(row[8], percent));
    if (!asks || instances < 0.0 || percent < 0.0 || instances * percent > 100.0 * kMostLoggedGpus) {
      problems.add(wrong_row(name, rows.line(), fmt::format("inst_num '{}' and plan_gpu '{}' (percent) are no GPUs",
                                                            row[2], row[8])));
      break;
    }
    times.job.gpus += instances * percent / 100.0;
    times.complete = times.complete && parse_seconds(row[4], start) && parse_seconds(row[5], end);
    times.job.submit = is_new ? start : std::min(times.job.submit, start);
    times.end = std::max(times.end, end);
  }
  JobLog log;
  for (Times& times : all) {
    times.job.run = times.end - times.job.submit;
    if (!(times.job.gpus > 0.0)) {
      ++log.without_gpus;
    } else if (!times.complete || !(times.job.run > 0.0)) {
      ++log.without_times;
    } else {
      log.jobs.push_back(std::move(times.job));
    }
  }
  return log;
}

JobLog parse_form(const std::string& name, std::string_view text, JobLogForm form, Diagnostics& problems) {
  switch (form) {
    case JobLogForm::kPhilly: return parse_philly(name, text, problems);
    case JobLogForm::kPai: return parse_pai(name, text, problems);
    case JobLogForm::kAcme: return parse_acme(name, text, problems);
    case JobLogForm::kCsv: return parse_own(name, text, problems);
  }
  return {};
}

}  // namespace

Result<JobLog> parse_job_log(const std::string& name, std::string_view text, JobLogForm form) {
  Diagnostics problems;
  JobLog log = parse_form(name, text, form, problems);
  if (!problems.has_errors() && log.jobs.empty()) {
    problems.add(wrong_row(name, 1,
                           fmt::format("it holds no job with GPUs and times ({} without GPUs, {} without times)",
                                       log.without_gpus, log.without_times)));
  }
  if (problems.has_errors()) return tl::unexpected(std::move(problems));
  std::ranges::stable_sort(log.jobs, {}, &LoggedJob::submit);
  return log;
}

Result<JobLog> read_job_log(const std::string& path, JobLogForm form) {
  auto text = read_all(path, kLongestLog);
  if (!text) return tl::unexpected(failure("E490", fmt::format("{}: {}", path, text.error()), {.file = path}));
  return parse_job_log(path, *text, form);
}

}  // namespace ringwright::traces
