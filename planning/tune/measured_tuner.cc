#include "planning/tune/measured_tuner.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cmath>
#include <map>
#include <optional>

#include <fmt/format.h>

#include "core/base/text.h"
#include "traces/nccl_tests/collective_log.h"
#include "traces/nccl_tests/run_options.h"

namespace ringwright::planning {
namespace {

constexpr const char* kMeasuredCode = "E521";
constexpr std::array<std::string_view, 7> kMeasuredAlgorithms = {"ring", "tree",          "nvls",        "nvlstree",
                                                                 "pat",  "collnetdirect", "collnetchain"};
constexpr std::array<std::string_view, 3> kMeasuredProtocols = {"ll", "ll128", "simple"};

struct ReadLog {
  MeasuredSetting of;
  configs::CollectiveOperation operation = configs::CollectiveOperation::kAllReduce;
  traces::CollectiveLog log;
  std::vector<std::pair<Bytes, Duration>> times;  // ascending sizes, each once
  Diagnostics warnings;
};

// A size that the test measured several times (-N, -d all) has the mean of its times.
std::vector<std::pair<Bytes, Duration>> times_by_size(const std::vector<traces::CollectiveRow>& rows) {
  std::map<Bytes, std::vector<Duration>> by_size;
  for (const traces::CollectiveRow& row : rows) {
    if (row.size > Bytes(0) && row.time() && *row.time() > Duration()) by_size[row.size].push_back(*row.time());
  }
  std::vector<std::pair<Bytes, Duration>> times;
  for (const auto& [size, measured] : by_size) {
    double seconds = 0.0;
    for (const Duration time : measured) seconds += to_seconds(time);
    times.emplace_back(
        size, measured.size() == 1 ? measured.front() : from_seconds(seconds / static_cast<double>(measured.size())));
  }
  return times;
}

Result<ReadLog> read_measured(const MeasuredSetting& measured) {
  auto reading = traces::read_collective_log(measured.log);
  if (!reading) return tl::unexpected(std::move(reading.error()));
  ReadLog read{.of = measured, .log = std::move(reading->log), .times = {}, .warnings = std::move(reading->warnings)};
  const auto operation = configs::parse_operation(read.log.operation);
  if (!operation || !is_tunable(*operation)) {
    return tl::unexpected(failure(kMeasuredCode,
                                  fmt::format("the log is of '{}', for which NCCL has no choice", read.log.operation),
                                  {.file = measured.log}));
  }
  if (read.log.ranks == 0 || read.log.nodes == 0) {
    return tl::unexpected(
        failure(kMeasuredCode, "the log does not state how many ranks and hosts it is of", {.file = measured.log}));
  }
  read.operation = *operation;
  read.times = times_by_size(read.log.rows);
  return read;
}

// Empty outside the measured sizes.
std::optional<Duration> time_at(const ReadLog& log, Bytes size) {
  const auto after = std::ranges::lower_bound(log.times, size, {}, &std::pair<Bytes, Duration>::first);
  if (after == log.times.end()) return std::nullopt;
  if (after->first == size) return after->second;
  if (after == log.times.begin()) return std::nullopt;
  const auto before = after - 1;
  const auto logarithm = [](Bytes bytes) { return std::log(static_cast<double>(bytes.count())); };
  const double share =
      (logarithm(size) - logarithm(before->first)) / (logarithm(after->first) - logarithm(before->first));
  const double from = std::log(to_seconds(before->second));
  return from_seconds(std::exp(from + share * (std::log(to_seconds(after->second)) - from)));
}

TunedCall tuned_call(const std::vector<ReadLog>& logs, const ReadLog& own, Bytes size, Duration own_time,
                     double least_gain) {
  TunedCall call{.operation = own.operation, .size = size, .own = {.algorithm = "own"}, .own_time = own_time};
  call.best = call.own;
  call.best_time = own_time;
  const Duration least = scale(own_time, 1.0 - least_gain);
  for (const ReadLog& log : logs) {
    if (log.of.is_own() || log.operation != own.operation) continue;
    const auto time = time_at(log, size);
    if (!time) continue;
    ++call.tried;
    call.candidates.push_back({.setting = log.of.setting, .time = *time});
    if (*time > least || *time >= call.best_time) continue;
    call.best = log.of.setting;
    call.best_time = *time;
  }
  return call;
}

// "nvlstree" of "NVLSTree" and "nvls_tree".
std::string bare_letters(std::string_view name) {
  std::string letters;
  for (const char c : name) {
    if (c != '_') letters += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  return letters;
}

// A variable of the measured run that is not the setting; empty where it fits or is a list.
std::string contradicting_variable(const ReadLog& log) {
  for (const traces::LibraryVariable& variable : traces::variables_in_list(log.log.fact("env"))) {
    const bool algorithm = variable.name == "NCCL_ALGO";
    if (!algorithm && variable.name != "NCCL_PROTO") continue;
    const bool list = variable.value.find_first_of(":,^;") != std::string::npos;
    const std::string_view wanted = algorithm ? log.of.setting.algorithm : log.of.setting.protocol;
    if (log.of.is_own() || (!list && bare_letters(variable.value) != bare_letters(wanted))) {
      return variable.name + "=" + variable.value;
    }
  }
  return {};
}

Diagnostics check_logs(const std::vector<ReadLog>& logs) {
  Diagnostics problems;
  const auto refuse = [&](const ReadLog& log, std::string message) {
    problems.add({.severity = Severity::kError,
                  .code = kMeasuredCode,
                  .place = {.file = log.of.log},
                  .message = std::move(message)});
  };
  for (const ReadLog& log : logs) {
    const traces::CollectiveLog& first = logs.front().log;
    if (log.log.ranks != first.ranks || log.log.nodes != first.nodes) {
      refuse(log, fmt::format("the log is of {} ranks on {} hosts, and '{}' of {} on {}", log.log.ranks, log.log.nodes,
                              logs.front().of.log, first.ranks, first.nodes));
    }
    if (const std::string variable = contradicting_variable(log); !variable.empty()) {
      refuse(log, fmt::format("the log was measured with {}, which is not {}", variable,
                              log.of.is_own() ? "NCCL's own choice" : "the setting that is named for it"));
    }
    for (const ReadLog& other : logs) {
      if (&other == &log) break;
      if (!is_same_measurement(other.log, log.log)) continue;
      refuse(log, fmt::format("the log has the times of '{}', which is that of another setting", other.of.log));
    }
    const auto owns = std::ranges::count_if(
        logs, [&](const ReadLog& other) { return other.of.is_own() && other.operation == log.operation; });
    if (owns != 1)
      refuse(log, fmt::format("{} has {} logs of NCCL's own choice ('own=FILE'), and needs one",
                              to_string(log.operation), owns));
  }
  return problems;
}

}  // namespace

Result<MeasuredSetting> parse_measured(std::string_view text) {
  const auto wrong = [&] {
    return tl::unexpected(failure(kMeasuredCode,
                                  fmt::format("'{}' must be own=FILE, ALGORITHM/PROTOCOL=FILE or "
                                              "ALGORITHM/PROTOCOL/CHANNELS=FILE, such as ring/ll128/16=a.log",
                                              text),
                                  {}));
  };
  const std::size_t equals = text.find('=');
  if (equals == std::string_view::npos || equals + 1 == text.size()) return wrong();
  MeasuredSetting measured{.log = std::string(text.substr(equals + 1))};
  std::string_view setting = text.substr(0, equals);
  if (setting == "own") return measured;
  const std::size_t slash = setting.find('/');
  if (slash == std::string_view::npos) return wrong();
  measured.setting.algorithm = std::string(setting.substr(0, slash));
  std::string_view rest = setting.substr(slash + 1);
  const std::size_t second = rest.find('/');
  measured.setting.protocol = std::string(rest.substr(0, second));
  if (second != std::string_view::npos) {
    rest.remove_prefix(second + 1);
    const auto [end, problem] = std::from_chars(rest.data(), rest.data() + rest.size(), measured.setting.channels);
    constexpr int kMostChannels = 64;
    if (problem != std::errc() || end != rest.data() + rest.size() || measured.setting.channels < 1 ||
        measured.setting.channels > kMostChannels) {
      return wrong();
    }
  }
  const bool known = std::ranges::find(kMeasuredAlgorithms, measured.setting.algorithm) != kMeasuredAlgorithms.end() &&
                     std::ranges::find(kMeasuredProtocols, measured.setting.protocol) != kMeasuredProtocols.end();
  if (!known) return wrong();
  return measured;
}

Result<TuneResult> tune_by_measurements(const std::vector<MeasuredSetting>& measured, double least_gain) {
  std::vector<ReadLog> logs;
  for (const MeasuredSetting& one : measured) {
    auto read = read_measured(one);
    if (!read) return tl::unexpected(std::move(read.error()));
    logs.push_back(std::move(*read));
  }
  if (Diagnostics problems = check_logs(logs); problems.has_errors()) return tl::unexpected(std::move(problems));
  TuneResult result{.measured = true};
  for (const ReadLog& own : logs) {
    for (const Diagnostic& warning : own.warnings.all()) result.warnings.add(warning);
    if (!own.of.is_own()) continue;
    result.ranks = own.log.ranks;
    result.hosts = own.log.nodes;
    for (const auto& [size, time] : own.times) result.calls.push_back(tuned_call(logs, own, size, time, least_gain));
  }
  return result;
}

}  // namespace ringwright::planning
