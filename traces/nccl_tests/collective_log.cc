#include "traces/nccl_tests/collective_log.h"

#include <algorithm>
#include <filesystem>
#include <system_error>

#include <fmt/format.h>

#include "core/base/user_file.h"
#include "core/config/text_lines.h"
#include "traces/input/byte_stream.h"
#include "traces/input/log_text.h"
#include "traces/nccl_tests/nccl_tests_json.h"
#include "traces/nccl_tests/nccl_tests_table.h"
#include "traces/nccl_tests/nccl_tests_text.h"
#include "traces/nccl_tests/rccl_tests_report.h"

namespace ringwright::traces {

namespace {

// Each row is simulated, which takes milliseconds to seconds.
constexpr std::size_t kMostRows = 10'000;
constexpr Bytes kMostBytes{std::int64_t{1} << 50U};
constexpr int kMostRanks = 1'000'000;
constexpr std::string_view kGzip = "\x1f\x8b";

// Rows of impossible sizes are left out, with a warning each for the first few.
void leave_out_impossible_rows(CollectiveLogReading& reading) {
  constexpr std::size_t kWarned = 10;
  std::size_t left_out = 0;
  std::erase_if(reading.log.rows, [&](const CollectiveRow& row) {
    if (row.size > Bytes(0) && row.size <= kMostBytes) return false;
    if (++left_out <= kWarned) {
      reading.warnings.add(
          {.severity = Severity::kWarning,
           .code = "W232",
           .place = {.file = reading.log.file, .line = row.line},
           .message = fmt::format("the row of {} bytes is left out: sizes are 1 B to 1 PiB", row.size.count())});
    }
    return true;
  });
}

std::string why_impossible(const CollectiveLog& log) {
  for (const int count : {log.ranks, log.nodes, log.gpus_per_node}) {
    if (count < 0 || count > kMostRanks) {
      return fmt::format("'{}' states {} ranks, {} nodes and {} GPUs per node; each must be at most {}", log.file,
                         log.ranks, log.nodes, log.gpus_per_node, kMostRanks);
    }
  }
  if (log.rows.size() <= kMostRows) return "";
  return fmt::format("'{}' has {} rows; at most {} can be simulated", log.file, log.rows.size(), kMostRows);
}

}  // namespace

bool is_same_measurement(const CollectiveLog& first, const CollectiveLog& second) {
  std::error_code error;
  if (std::filesystem::equivalent(first.file, second.file, error)) return true;
  const auto same = [](const CollectiveRow& a, const CollectiveRow& b) {
    return a.size == b.size && a.type == b.type && a.out_of_place == b.out_of_place && a.in_place == b.in_place;
  };
  return first.rows.size() > 1 && first.operation == second.operation && first.ranks == second.ranks &&
         first.nodes == second.nodes && std::ranges::equal(first.rows, second.rows, same);
}

Result<CollectiveLogReading> read_collective_log(const std::string& path) {
  auto text = read_user_file(path);
  if (text && text->starts_with(kGzip)) text = read_all(path, kMostFileBytes);
  if (!text) return tl::unexpected(failure("E230", "cannot read '" + path + "': " + text.error(), {.file = path}));
  return read_collective_log_text(path, *text);
}

Result<CollectiveLogReading> read_collective_log_text(const std::string& name, std::string_view text) {
  if (is_utf16(text)) {
    return tl::unexpected(failure("E230", fmt::format("cannot read '{}': {}", name, kUtf16Refused), {.file = name}));
  }
  text = without_byte_order_mark(text);
  const LogText input{.name = name, .text = text};
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  const bool json = first != std::string_view::npos && text[first] == '{';
  const bool table = text.find("size_bytes,") != std::string_view::npos;
  const auto read_other = json ? read_json_log : (table ? read_table_log : read_printed_log);
  auto reading = is_rccl_report(text) ? read_rccl_report(input) : read_other(input);
  if (!reading) return reading;
  CollectiveLog& log = reading->log;
  log.file = name;
  leave_out_impossible_rows(*reading);
  if (const std::string why = why_impossible(log); !why.empty()) {
    return tl::unexpected(failure("E231", why, {.file = name}, "split the log, or correct its header"));
  }
  if (log.operation.empty()) {
    log.operation = operation_in(name.substr(name.find_last_of('/') + 1));
    log.operation_of_name = !log.operation.empty();
  }
  if (log.ranks == 0) {
    log.ranks = static_cast<int>(std::min<std::int64_t>(std::int64_t{log.nodes} * log.gpus_per_node, kMostRanks));
  }
  if (log.nodes > 0 && log.gpus_per_node == 0) log.gpus_per_node = log.ranks / log.nodes;
  if (!log.rows.empty()) return reading;
  Diagnostics nothing = failure("E231", "no row with a size and a time in '" + name + "'", {.file = name},
                                "whole output of a test, its JSON (-J), rccl-tests' file (-x with -Z), or a table "
                                "with a column size_bytes");
  for (const Diagnostic& warning : reading->warnings.all()) nothing.add(warning);
  return tl::unexpected(std::move(nothing));
}

}  // namespace ringwright::traces
