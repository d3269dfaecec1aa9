#include "traces/inspector/communication_log.h"

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "traces/calls/repeated_calls.h"
#include "traces/input/byte_stream.h"
#include "traces/input/json_scanner.h"
#include "traces/input/log_text.h"
#include "traces/inspector/log_record.h"
#include "traces/kineto/element_type.h"
#include "traces/kineto/group_ranks.h"

namespace ringwright::traces {
namespace {

constexpr std::int64_t kMostLogRanks = 1'000'000;
constexpr std::int64_t kMostCallBytes = std::int64_t{1} << 50U;
constexpr std::int64_t kMostCallMicroseconds = std::int64_t{100'000} * 1'000'000;

// "nccl_trace_rank_3", "rank3.json": digits behind the word, or at the end.
int rank_in(const std::string& file) {
  const std::string_view name = std::string_view(file).substr(file.find_last_of('/') + 1);
  std::size_t at = name.find("rank");
  at = name.find_first_of("0123456789", at == std::string_view::npos ? 0 : at);
  if (at == std::string_view::npos) return -1;
  const std::size_t end = std::min(name.find_first_not_of("0123456789", at), name.size());
  return parse_number<int>(name.substr(at, end - at)).value_or(-1);
}

class LogCollector final {
 public:
  explicit LogCollector(std::string file) : file_(std::move(file)) {}

  void add(const InspectorRecord& record) {
    log_.dropped += static_cast<std::size_t>(std::max<std::int64_t>(record.dropped, 0));
    const std::string_view operation = operation_of(record.operation);
    if (record.operation.empty() && !record.sequence && !record.time_us) return;  // statistics of a dump
    ++log_.records;
    const bool usable = record.sequence && record.time_us && *record.time_us > 0 &&
                        *record.time_us <= kMostCallMicroseconds && !operation.empty();
    if (!usable) {
      ++log_.without_time;
      return;
    }
    if (record.rank && record.ranks && *record.rank >= *record.ranks) {
      ++log_.beyond;
      return;
    }
    const int ranks = small(record.ranks);
    RankCalls& process = process_of(record.hostname, record.process);
    int& largest = largest_[static_cast<std::size_t>(&process - log_.processes.data())];
    if (ranks > largest) process.rank = small(record.rank, -1);
    largest = std::max(largest, ranks);
    // Messages of a rank have numbers of their own.
    const std::string id = record.message
                               ? fmt::format("{} messages of rank {}", record.communicator, small(record.rank, -1))
                               : record.communicator;
    RecordedCall call{.group = group_of(process, {.id = id,
                                                  .description = record.name == "unknown" ? "" : record.name,
                                                  .size = ranks,
                                                  .hosts = small(record.hosts),
                                                  .ranks = {}}),
                      .operation = std::string(operation),
                      .kernel = variant_of(record),
                      .dtype = "",
                      .bytes = bytes_of(record, operation, ranks),
                      .sequence = *record.sequence,
                      .start_ns = (Duration(record.start_us.value_or(0)) * 1000).count(),
                      .time = Duration(*record.time_us) * 1'000'000};
    process.calls.push_back(std::move(call));
  }

  void add(const FlightDump& dump, Diagnostics& problems) {
    log_.kind = CommunicationLogKind::kFlightRecorder;
    RankCalls& process = process_of("", 0);
    process.rank = dump.rank ? small(dump.rank, -1) : rank_in(file_);
    for (const FlightEntry& entry : dump.entries) add_entry(dump, entry, process, problems);
  }

  [[nodiscard]] CommunicationLog take() { return std::move(log_); }
  [[nodiscard]] CommunicationLog& log() { return log_; }

 private:
  static int small(std::optional<std::int64_t> number, int otherwise = 0) {
    return number && *number >= 0 && *number <= kMostLogRanks ? static_cast<int>(*number) : otherwise;
  }

  static std::string variant_of(const InspectorRecord& record) {
    if (record.algorithm.empty() || record.algorithm == "unknown") return "";
    return record.algorithm + "_" + record.protocol;
  }

  static std::optional<Bytes> bytes_of(const InspectorRecord& record, std::string_view operation, int ranks) {
    if (!record.bytes || *record.bytes <= 0 || *record.bytes > kMostCallBytes) return std::nullopt;
    const bool shared = operation == "all_gather" || operation == "reduce_scatter";
    return Bytes(*record.bytes) * std::int64_t{shared ? std::max(ranks, 1) : 1};
  }

  RankCalls& process_of(const std::string& host, std::int64_t number) {
    const auto [found, is_new] = processes_.try_emplace({host, number}, log_.processes.size());
    if (is_new) {
      log_.processes.push_back({.file = file_, .rank = -1, .host = host});
      largest_.push_back(-1);
    }
    return log_.processes[found->second];
  }

  std::uint32_t group_of(const RankCalls& process, const CallGroup& group) {
    const auto key = std::tuple(&process - log_.processes.data(), group.id, group.size);
    const auto [found, is_new] = groups_.try_emplace(key, static_cast<std::uint32_t>(process.groups.size()));
    if (is_new) log_.processes[static_cast<std::size_t>(std::get<0>(key))].groups.push_back(group);
    return found->second;
  }

  void add_entry(const FlightDump& dump, const FlightEntry& entry, RankCalls& process, Diagnostics& problems) {
    ++log_.records;
    const std::string_view operation = operation_of(entry.operation);
    if (entry.state != "completed" && !entry.state.empty()) {
      log_.unfinished.push_back({.rank = process.rank,
                                 .group = entry.group,
                                 .operation = std::string(operation),
                                 .sequence = entry.sequence.value_or(0),
                                 .state = entry.state});
    }
    if (!entry.time_ps || *entry.time_ps <= 0 || operation.empty() || !entry.sequence) {
      ++log_.without_time;
      return;
    }
    CallGroup group{.id = entry.group, .description = entry.description, .size = 0, .ranks = {}};
    if (const auto known = dump.groups.find(entry.group); known != dump.groups.end()) {
      if (auto ranks = ranks_of_group({.listed = known->second.ranks})) group.ranks = std::move(*ranks);
    }
    group.size = static_cast<int>(group.ranks.size());
    if (entry.message) group.id += fmt::format(" messages of rank {}", process.rank);
    RecordedCall call{.group = group_of(process, group),
                      .operation = std::string(operation),
                      .kernel = "",
                      .dtype = entry.type,
                      .bytes = {},
                      .sequence = *entry.sequence,
                      .start_ns = entry.started_ns.value_or(0),
                      .time = Duration(*entry.time_ps)};
    const std::int64_t elements = std::max(entry.sent, entry.received);
    if (elements > 0) {
      const auto bytes = element_bytes(entry.type);
      if (!bytes) {
        problems.add({.code = "E257",
                      .place = {.file = file_},
                      .message = fmt::format("the element type '{}' is not known, so its bytes are not", entry.type),
                      .excerpt = "",
                      .hint = "c10 names such as Float, BFloat16 and Float8_e4m3fn are known"});
        return;
      }
      if (elements <= kMostCallBytes / 16) call.bytes = Bytes(elements * *bytes);
    }
    process.calls.push_back(std::move(call));
  }

  std::string file_;
  CommunicationLog log_;
  std::map<std::pair<std::string, std::int64_t>, std::size_t> processes_;
  std::map<std::tuple<std::ptrdiff_t, std::string, int>, std::uint32_t> groups_;
  std::vector<int> largest_;  // by process: size of its largest communicator, whose ranks number the processes
};

class LogReader final {
 public:
  LogReader(std::string file, JsonScanner scanner)
      : file_(std::move(file)), scanner_(std::move(scanner)), collector_(file_) {}

  [[nodiscard]] Result<CommunicationLog> read() {
    const char first = scanner_.peek();
    if (first == '\x80') {
      return fail("E263", "is a pickle, which can run code when it is read",
                  "dump it as JSON: torch._C._distributed_c10d._dump_nccl_trace_json()");
    }
    if (!scanner_.damage().empty()) return fail("E261", "cannot be read: " + scanner_.damage(), "");
    if (first != '{' && first != '[') {
      return fail("E261", "is no communication log: it begins with no JSON object",
                  "logs of NCCL Inspector, or "
                  "PyTorch's Flight Recorder as JSON");
    }
    Diagnostics problems;
    while (read_next(problems)) {
    }
    if (scanner_.stop() == ScanStop::kTooLong) return fail("E261", "has a value of more than 64 MiB", "");
    if (problems.has_errors()) return tl::unexpected(std::move(problems));
    if (scanner_.stop() == ScanStop::kDamaged || cut_off_) warn_of_end();
    CommunicationLog log = collector_.take();
    log.unknown_keys = parser_.unknown_keys();
    if (log.records == 0) return fail("E261", "holds no call of a collective", "");
    return log;
  }

 private:
  Result<CommunicationLog> fail(const char* code, const std::string& why, const std::string& hint) {
    return tl::unexpected(failure(code, fmt::format("'{}' {}", file_, why), {.file = file_}, hint));
  }

  // False at the end. Objects may be elements of an array, too.
  bool read_next(Diagnostics& problems) {
    if (scanner_.take('[') || scanner_.take(',') || scanner_.take(']')) return true;
    const bool more = scanner_.peek() != '\0';
    const auto piece = scanner_.value();
    if (!piece) {
      cut_off_ = more;
      return false;
    }
    const LogRecordParser::Form form = parser_.form_of(*piece);
    if (form == LogRecordParser::Form::kInspector && parser_.inspector(*piece, record_)) {
      collector_.add(record_);
    } else if (form == LogRecordParser::Form::kFlightRecorder && parser_.flight_dump(*piece, dump_)) {
      collector_.add(dump_, problems);
    } else if (++invalid_ <= kInvalidLogShown) {
      warn(fmt::format("the value at byte {} is left out: it is no record of a call", piece->offset));
    }
    return true;
  }

  void warn_of_end() {
    const std::string why = scanner_.stop() == ScanStop::kDamaged ? scanner_.damage() : "it ends within a record";
    warn(fmt::format("the log is cut off at byte {} ({}); what precedes it is used", scanner_.position(), why));
  }
  void warn(std::string message) {
    collector_.log().warnings.add(
        {.severity = Severity::kWarning, .code = "W262", .place = {.file = file_}, .message = std::move(message)});
  }

  static constexpr std::size_t kInvalidLogShown = 5;

  std::string file_;
  JsonScanner scanner_;
  LogRecordParser parser_;
  LogCollector collector_;
  InspectorRecord record_;
  FlightDump dump_;
  std::size_t invalid_ = 0;
  bool cut_off_ = false;
};

void append(CommunicationLog& all, CommunicationLog&& log) {
  all.kind = log.kind;
  std::ranges::move(log.processes, std::back_inserter(all.processes));
  std::ranges::move(log.unfinished, std::back_inserter(all.unfinished));
  all.records += log.records;
  all.without_time += log.without_time;
  all.beyond += log.beyond;
  all.dropped += log.dropped;
  for (const auto& [key, count] : log.unknown_keys) all.unknown_keys[key] += count;
  for (const Diagnostic& warning : log.warnings.all()) all.warnings.add(warning);
}

// Files of a folder and of folders in it, by name.
std::vector<std::string> files_below(const std::string& folder) {
  constexpr std::size_t kMostFiles = 100'000;
  std::vector<std::string> files;
  std::error_code error;
  for (std::filesystem::recursive_directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
    if (at->is_regular_file(error) && files.size() < kMostFiles) files.push_back(at->path().string());
  }
  std::ranges::sort(files);
  return files;
}

void warn_of_what_is_left_out(CommunicationLog& log, const std::string& file) {
  const auto warn = [&](std::string message) {
    log.warnings.add(
        {.severity = Severity::kWarning, .code = "W262", .place = {.file = file}, .message = std::move(message)});
  };
  if (log.without_time > 0) {
    warn(fmt::format("{} of {} records are left out: they have no time, no number, or no known operation",
                     log.without_time, log.records));
  }
  if (log.beyond > 0) {
    warn(fmt::format("{} of {} records are left out: their rank is not below the ranks of their communicator",
                     log.beyond, log.records));
  }
  if (log.repeated > 0) {
    warn(fmt::format("{} of {} records repeat a call of the same rank, and count once; are files given twice?",
                     log.repeated, log.records));
  }
  if (log.dropped > 0) warn(fmt::format("{} calls are missing: the Inspector dropped them when it wrote", log.dropped));
  std::vector<std::string> keys;
  for (const auto& [key, count] : log.unknown_keys) {
    if (keys.size() < 10) keys.push_back(fmt::format("{} ({} times)", key, count));
  }
  if (!keys.empty())
    warn(fmt::format("{} keys are not known and have no effect: {}", log.unknown_keys.size(), fmt::join(keys, ", ")));
}

}  // namespace

std::string_view to_string(CommunicationLogKind kind) {
  switch (kind) {
    case CommunicationLogKind::kInspector: return "NCCL Inspector";
    case CommunicationLogKind::kFlightRecorder: return "Flight Recorder";
  }
  return "";
}

Result<CommunicationLog> read_communication_log(const std::string& path) {
  auto stream = ByteStream::open(path);
  if (!stream) {
    return tl::unexpected(failure("E261", "cannot read '" + path + "': " + stream.error(), {.file = path}));
  }
  return LogReader(path, JsonScanner(std::move(*stream))).read();
}

Result<CommunicationLog> read_communication_log_text(const std::string& name, std::string_view text) {
  return LogReader(name, JsonScanner(text)).read();
}

Result<CommunicationLog> read_communication_logs(const std::vector<std::string>& paths) {
  CommunicationLog all;
  Diagnostics problems;
  const auto add_problems = [&](const Diagnostics& more) {
    for (const Diagnostic& problem : more.all()) problems.add(problem);
  };
  bool first = true;
  for (const std::string& path : paths) {
    std::error_code ignored;
    const bool folder = std::filesystem::is_directory(path, ignored);
    const std::vector<std::string> files = folder ? files_below(path) : std::vector<std::string>{path};
    if (files.empty()) add_problems(failure("E261", "no file in '" + path + "'", {.file = path}));
    for (const std::string& file : files) {
      auto log = read_communication_log(file);
      if (!log) {
        add_problems(log.error());
        continue;
      }
      if (!first && log->kind != all.kind) {
        add_problems(failure(
            "E261",
            fmt::format("'{}' is a log of {}, the others are of {}", file, to_string(log->kind), to_string(all.kind)),
            {.file = file}));
        continue;
      }
      first = false;
      append(all, std::move(*log));
    }
  }
  if (problems.has_errors()) return tl::unexpected(std::move(problems));
  all.repeated = drop_repeated_calls(all.processes);
  if (!paths.empty()) warn_of_what_is_left_out(all, paths.front());
  std::ranges::stable_sort(all.processes, {}, &RankCalls::rank);
  return all;
}

}  // namespace ringwright::traces
