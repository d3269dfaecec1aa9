// The file that rccl-tests writes with -x FILE -Z csv or -Z json: a flat row for each size, in place and out of place
// apart (Reporter in src/common.cu of ROCm/rccl-tests). It names neither the GPU nor the library's version.
//
// Its "nodes" are the groups of a split test, and its "ranksPerNode" the processes of one group: how many hosts there
// are it does not state. Early versions have no "nodes" in the heading of the CSV, but in its rows.
#include "traces/nccl_tests/rccl_tests_report.h"

#include <algorithm>
#include <cctype>
#include <cstdint>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "traces/nccl_tests/text_lines.h"

namespace ringwright::traces {
namespace {

std::string small_key(std::string_view text) {
  std::string small(trimmed(text));
  std::ranges::transform(small, small.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return small;
}

std::string_view without_quotes(std::string_view text) {
  text = trimmed(text);
  if (text.size() >= 2 && text.front() == '"' && text.back() == '"') return text.substr(1, text.size() - 2);
  return text;
}

std::string_view first_line(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" \t\r\n");
  return begin == std::string_view::npos ? std::string_view() : text.substr(begin, text.find('\n', begin) - begin);
}

// "AllReduce", "SendRecv".
std::string operation_of(std::string_view name) {
  const std::string small = small_key(name);
  constexpr std::pair<std::string_view, std::string_view> kNames[] = {
      {"allreduce", "all_reduce"}, {"allgather", "all_gather"}, {"reducescatter", "reduce_scatter"}};
  for (const auto& [written, operation] : kNames) {
    if (small == written) return std::string(operation);
  }
  return small;
}

class ReportReader {
 public:
  explicit ReportReader(const LogText& input) : input_(input) {}

  Result<CollectiveLogReading> read() {
    log_.facts["library"] = "RCCL";
    for_each_line(input_.text, [this](std::string_view line, bool) {
      ++line_;
      take_line(trimmed(line));
      return true;
    });
    if (problems_.has_errors()) return tl::unexpected(std::move(problems_));
    return CollectiveLogReading{.log = std::move(log_), .warnings = std::move(problems_)};
  }

 private:
  void take_line(std::string_view line) {
    if (line.empty() || line == "[" || line == "]") return;
    cells_.clear();
    if (line.front() == '{') return take_object(line);
    const auto cells = cells_of(line);
    if (keys_.empty()) {
      for (const std::string_view name : cells) keys_.push_back(small_key(name));
      return;
    }
    if (cells.size() == keys_.size() + 1 && std::ranges::find(keys_, "nodes") == keys_.end()) {
      keys_.insert(std::ranges::find(keys_, "ranks"), "nodes");
    }
    for (std::size_t i = 0; i < std::min(cells.size(), keys_.size()); ++i) cells_[keys_[i]] = without_quotes(cells[i]);
    take_row(line);
  }

  // {"name":"AllReduce", "size":8, ...}: no value contains a comma, a colon or another object.
  void take_object(std::string_view line) {
    const std::size_t end = line.rfind('}');
    if (end == std::string_view::npos) return leave_out(line);
    for (const std::string_view field : cells_of(line.substr(1, end - 1))) {
      const std::size_t colon = field.find(':');
      if (colon == std::string_view::npos) return leave_out(line);
      cells_[small_key(without_quotes(field.substr(0, colon)))] = without_quotes(field.substr(colon + 1));
    }
    take_row(line);
  }

  [[nodiscard]] std::string_view cell(const std::string& key) const {
    const auto found = cells_.find(key);
    return found == cells_.end() ? std::string_view() : found->second;
  }
  [[nodiscard]] std::int64_t number(const std::string& key) const {
    return parse_number<std::int64_t>(cell(key)).value_or(0);
  }

  void take_row(std::string_view line) {
    const auto size = parse_number<std::int64_t>(cell("size"));
    const std::string_view in_place = cell("inplace");
    if (!size || (in_place != "0" && in_place != "1")) return leave_out(line);
    if (*size == 0) return;
    const auto time = measured_time(Bytes(*size), cell("time"), cell("algbw"));
    if (!time) return leave_out(line);
    if (!take_group()) return;
    const std::string_view wrong = cell(cells_.contains("wrong") ? "wrong" : "#wrong");
    if (parse_number<double>(wrong).value_or(0.0) >= 1.0) {
      complain(Severity::kWarning, "W234", fmt::format("the row of {} bytes has wrong values", *size));
    }
    if (in_place == "1" && !log_.rows.empty() && log_.rows.back().size == Bytes(*size) && !log_.rows.back().in_place) {
      log_.rows.back().in_place = time;
      return;
    }
    CollectiveRow row{.size = Bytes(*size), .line = line_};
    row.type = std::string(cell("type"));
    row.redop = std::string(cell("redop"));
    (in_place == "1" ? row.in_place : row.out_of_place) = time;
    log_.rows.push_back(std::move(row));
  }

  // The test and its communicator, which are those of all rows.
  bool take_group() {
    const std::string operation = operation_of(cell(cells_.contains("name") ? "name" : "collective"));
    const bool processes = cells_.contains("gpusperrank");
    const std::string a_process = processes ? "gpusperrank" : "gpus";
    const std::int64_t gpus = std::clamp<std::int64_t>(number(a_process), 0, kTooMany);
    const std::int64_t ranks =
        gpus * (processes ? std::clamp<std::int64_t>(number("rankspernode"), 0, kTooMany) : 1);
    if (log_.rows.empty()) {
      log_.operation = operation;
      log_.ranks = static_cast<int>(std::min(ranks, kTooMany));
      if (processes && number(a_process) == 1) log_.facts["gpus_per_process"] = "1";
      if (processes && number("nodes") > 1) {
        complain(Severity::kWarning, "W234",
                 fmt::format("the test ran in {} groups at once, which share the network; one is simulated alone",
                             number("nodes")));
      }
    }
    if (operation == log_.operation && log_.ranks == std::min(ranks, kTooMany)) return true;
    complain(Severity::kError, "E231", "the file holds several tests; write one file for each (-x)");
    return false;
  }

  void leave_out(std::string_view line) {
    complain(Severity::kWarning, "W232", fmt::format("the row '{}' is incomplete and is left out", line));
  }

  void complain(Severity severity, std::string code, std::string message) {
    problems_.add({.severity = severity,
                   .code = std::move(code),
                   .place = {.file = input_.name, .line = line_, .column = 1},
                   .message = std::move(message)});
  }

  static constexpr std::int64_t kTooMany = 10'000'000;  // read_collective_log_text refuses so many

  const LogText& input_;
  CollectiveLog log_;
  Diagnostics problems_;
  std::vector<std::string> keys_;  // of the CSV
  std::map<std::string, std::string_view> cells_;  // of the row
  int line_ = 0;
};

}  // namespace

bool is_rccl_report(std::string_view text) {
  const std::string head = small_key(text.substr(0, 600));
  if (head.empty()) return false;
  if (head.front() == '[' || head.front() == '{') {
    return head.find("\"inplace\":") != std::string::npos && head.find("\"busbw\":") != std::string::npos;
  }
  const std::string heading = small_key(first_line(text));
  return (heading.starts_with("collective,") || heading.starts_with("numcycle,")) &&
         heading.find("inplace,") != std::string::npos;
}

Result<CollectiveLogReading> read_rccl_report(const LogText& input) { return ReportReader(input).read(); }

}  // namespace ringwright::traces
