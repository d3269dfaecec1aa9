#include "traces/cluster_logs/philly.h"

#include <algorithm>

#include <fmt/format.h>

#include "traces/cluster_logs/csv_rows.h"
#include "traces/input/json_scanner.h"
#include "traces/input/json_values.h"

namespace ringwright::traces {
namespace {

// [{"ip": "m1", "gpus": ["gpu0", "gpu1"]}, ...]; negative where it is none.
double gpus_of_detail(on_demand::value& value) {
  on_demand::array machines;
  if (value.get_array().get(machines) != simdjson::SUCCESS) return -1.0;
  double sum = 0.0;
  for (auto machine : machines) {
    on_demand::object fields;
    if (machine.get_object().get(fields) != simdjson::SUCCESS) return -1.0;
    on_demand::array gpus;
    if (fields.find_field_unordered("gpus").get_array().get(gpus) != simdjson::SUCCESS) continue;
    std::size_t count = 0;
    if (gpus.count_elements().get(count) != simdjson::SUCCESS) return -1.0;
    sum += static_cast<double>(count);
  }
  return sum;
}

// False where it is no attempt. One without an end adds no time.
bool read_attempt(on_demand::object& attempt, LoggedJob& job) {
  double start = 0.0;
  double end = 0.0;
  bool started = false;
  bool ended = false;
  double gpus = 0.0;
  for (auto field : attempt) {
    std::string_view key;
    on_demand::value value;
    if (field.unescaped_key().get(key) != simdjson::SUCCESS) return false;
    if (field.value().get(value) != simdjson::SUCCESS) return false;
    if (key == "start_time") started = parse_date(text_of(value), start);
    if (key == "end_time") ended = parse_date(text_of(value), end);
    if (key == "detail" && (gpus = gpus_of_detail(value)) < 0.0) return false;
  }
  job.gpus = std::max(job.gpus, gpus);
  if (started && ended && end > start) job.run += end - start;
  return true;
}

struct PhillyJob {
  LoggedJob job;
  bool has_submit = false;
};

bool read_job_fields(on_demand::object& fields, PhillyJob& read) {
  for (auto field : fields) {
    std::string_view key;
    on_demand::value value;
    if (field.unescaped_key().get(key) != simdjson::SUCCESS) return false;
    if (field.value().get(value) != simdjson::SUCCESS) return false;
    if (key == "jobid") read.job.name = text_of(value);
    if (key == "vc") read.job.type = text_of(value);
    if (key == "submitted_time") read.has_submit = parse_date(text_of(value), read.job.submit);
    if (key != "attempts") continue;
    on_demand::array attempts;
    if (value.get_array().get(attempts) != simdjson::SUCCESS) return false;
    for (auto attempt : attempts) {
      on_demand::object own;
      if (attempt.get_object().get(own) != simdjson::SUCCESS || !read_attempt(own, read.job)) return false;
    }
  }
  return true;
}

}  // namespace

JobLog parse_philly(const std::string& name, std::string_view text, Diagnostics& problems) {
  JobLog log;
  JsonScanner scanner(text);
  const auto refuse = [&](std::uint64_t offset, std::string_view what) {
    problems.add({.code = "E490", .place = {.file = name},
                  .message = fmt::format("at byte {}: {}", offset, what)});
  };
  if (!scanner.take('[')) {
    refuse(scanner.position(), "the log is no JSON list of jobs");
    return log;
  }
  JsonDocument document;
  while (scanner.peek() != ']' && scanner.peek() != 0) {
    const auto piece = scanner.value();
    PhillyJob read;
    on_demand::object fields;
    const bool valid = piece && document.open(*piece) &&
                       document.document.get_object().get(fields) == simdjson::SUCCESS &&
                       read_job_fields(fields, read);
    if (!valid) {
      refuse(piece ? piece->offset : scanner.position(), "this is no job with attempts");
      return log;
    }
    if (!(read.job.gpus > 0.0)) {
      ++log.without_gpus;
    } else if (!read.has_submit || !(read.job.run > 0.0)) {
      ++log.without_times;
    } else {
      log.jobs.push_back(std::move(read.job));
    }
    if (!scanner.take(',')) break;
  }
  if (!scanner.take(']')) refuse(scanner.position(), "the list of jobs does not end");
  return log;
}

}  // namespace ringwright::traces
