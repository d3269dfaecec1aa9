// Measured collectives as a table: "# key: value" lines, a line with the names of the columns, one row per size.
#include "traces/nccl_tests/nccl_tests_table.h"

#include <algorithm>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "traces/nccl_tests/text_lines.h"

namespace ringwright::traces {
namespace {

class TableReader {
 public:
  explicit TableReader(const LogText& input) : input_(input) {}

  Result<CollectiveLogReading> read() {
    for_each_line(input_.text, [this](std::string_view line, bool) {
      ++line_;
      take_line(trimmed(line));
      return true;
    });
    take_facts();
    if (problems_.has_errors()) return tl::unexpected(std::move(problems_));
    return CollectiveLogReading{.log = std::move(log_), .warnings = std::move(problems_)};
  }

 private:
  void take_line(std::string_view line) {
    if (line.empty()) return;
    if (line.front() == '#') return take_fact(trimmed(line.substr(1)));
    if (columns_.empty()) return take_columns(line);
    take_row(line);
  }

  void take_fact(std::string_view line) {
    const std::size_t colon = line.find(':');
    if (colon == std::string_view::npos) return;
    log_.facts[std::string(trimmed(line.substr(0, colon)))] = std::string(trimmed(line.substr(colon + 1)));
  }

  void take_columns(std::string_view line) {
    const auto names = cells_of(line);
    for (std::size_t column = 0; column < names.size(); ++column) {
      if (columns_.try_emplace(std::string(names[column]), column).second) continue;
      complain(Severity::kError, "E231", fmt::format("the table has two columns '{}'", names[column]));
    }
    if (!columns_.contains("size_bytes")) complain(Severity::kError, "E231", "the table has no column 'size_bytes'");
  }

  [[nodiscard]] std::string_view cell(const std::vector<std::string_view>& cells, const std::string& name) const {
    const auto found = columns_.find(name);
    return found == columns_.end() || found->second >= cells.size() ? std::string_view() : cells[found->second];
  }

  void take_row(std::string_view line) {
    const auto cells = cells_of(line);
    const auto size = parse_number<std::int64_t>(cell(cells, "size_bytes"));
    if (cells.size() < columns_.size() || !size || *size <= 0) {
      return complain(Severity::kWarning, "W232", fmt::format("the row '{}' is incomplete and is left out", line));
    }
    CollectiveRow row{.size = Bytes(*size), .line = line_};
    row.count = parse_number<std::int64_t>(cell(cells, "count")).value_or(0);
    row.type = std::string(cell(cells, "type"));
    row.redop = std::string(cell(cells, "redop"));
    row.root = parse_number<int>(cell(cells, "root")).value_or(-1);
    const std::string why = contradiction_of(row.size, cell(cells, "time_oop_us"), cell(cells, "algbw_oop_GBps"));
    if (!why.empty() && !std::exchange(doubted_, true)) complain(Severity::kWarning, "W234", why);
    row.out_of_place = measured_time(row.size, cell(cells, "time_oop_us"), cell(cells, "algbw_oop_GBps"));
    row.in_place = measured_time(row.size, cell(cells, "time_ip_us"), cell(cells, "algbw_ip_GBps"));
    if (!row.time()) {
      return complain(Severity::kWarning, "W232",
                      fmt::format("the row of {} bytes has no time and is left out", *size));
    }
    log_.rows.push_back(std::move(row));
  }

  // 0: not stated. A remark may follow the number.
  [[nodiscard]] int number_of(const std::string& key) {
    const std::string text = log_.fact(key);
    if (text.empty()) return 0;
    const auto number = parse_number<int>(text.substr(0, text.find(' ')));
    if (number) return *number;
    complain(Severity::kError, "E231", fmt::format("'# {}: {}' states no whole number", key, text));
    return 0;
  }

  void take_facts() {
    log_.operation = log_.fact("collective");
    log_.gpu = log_.fact("gpu");
    log_.nodes = number_of("nodes");
    log_.gpus_per_node = number_of("gpus_per_node");
    log_.ranks = number_of("ranks");
    log_.version_of_library = library_version_in(log_.fact("library_version"));
  }

  void complain(Severity severity, std::string code, std::string message) {
    problems_.add({.severity = severity,
                   .code = std::move(code),
                   .place = {.file = input_.name, .line = line_, .column = 1},
                   .message = std::move(message)});
  }

  const LogText& input_;
  CollectiveLog log_;
  Diagnostics problems_;
  std::map<std::string, std::size_t> columns_;
  bool doubted_ = false;  // one warning stands for all rows
  int line_ = 0;
};

}  // namespace

Result<CollectiveLogReading> read_table_log(const LogText& input) { return TableReader(input).read(); }

}  // namespace ringwright::traces
