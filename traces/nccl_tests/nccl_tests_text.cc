// The output of nccl-tests and rccl-tests, in all their versions: the heading names the columns.
#include "traces/nccl_tests/nccl_tests_text.h"

#include <algorithm>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "traces/nccl_tests/launcher_prefix.h"
#include "traces/nccl_tests/run_options.h"
#include "traces/nccl_tests/text_lines.h"

namespace ringwright::traces {
namespace {

// One half of the heading, out of place or in place: the positions of its columns among the row's words.
struct Half {
  int time = -1;
  int algbw = -1;
  int wrong = -1;
};

struct Heading {
  int size = -1, count = -1, type = -1, redop = -1, root = -1;
  std::vector<Half> halves;
  int columns = 0;
  int row_words = 0;          // of the rows so far: a row with fewer was cut off
  bool of_processor = false;  // -C 1: its times are those of issuing a call

  [[nodiscard]] bool known() const { return size >= 0 && !halves.empty(); }
};

Heading heading_of(std::string_view line) {
  Heading heading;
  const auto words = words_of(line);
  for (std::size_t i = 1; i < words.size(); ++i) {  // the first is the mark of a comment
    const std::string_view word = words[i];
    const int column = static_cast<int>(i) - 1;
    if (word == "size") heading.size = column;
    if (word == "count") heading.count = column;
    if (word == "type") heading.type = column;
    if (word == "redop") heading.redop = column;
    if (word == "root") heading.root = column;
    if (word == "time" || word == "cputime") heading.halves.push_back({.time = column});
    if (word == "cputime") heading.of_processor = true;
    if (word == "algbw" && !heading.halves.empty()) heading.halves.back().algbw = column;
    if ((word == "#wrong" || word == "error") && !heading.halves.empty()) heading.halves.back().wrong = column;
  }
  heading.columns = static_cast<int>(words.size()) - 1;
  return heading;
}

std::string failure_in(std::string_view last_line) {
  const bool slow = last_line.find("Avg bus bandwidth") != std::string_view::npos;
  return slow ? "the bus bandwidth is below what the test demanded (NCCL_TESTS_MIN_BW)" : "the test found wrong values";
}

// What the lines "#  Rank  0 Group  0 ..." name.
struct RanksInLog {
  std::set<int> ranks;
  std::set<int> groups;
  int first_group = 0;  // that of the first rank, which prints the rows
  std::set<std::string> hosts;
  std::set<std::string> processes;  // with their hosts
};

class PrintedReader {
 public:
  explicit PrintedReader(const LogText& input) : input_(input), text_(as_printed(input.text)) {}

  Result<CollectiveLogReading> read() {
    for_each_line(text_, [this](std::string_view line, bool) {
      ++line_;
      take_line(line);
      return true;
    });
    if (!refused_.all().empty()) return tl::unexpected(std::move(refused_));
    take_ranks();
    if (!heading_.known()) {
      return tl::unexpected(failure("E231", "no heading with the columns 'size' and 'time' in '" + input_.name + "'",
                                    {.file = input_.name},
                                    "nccl-tests prints one: '#  size  count  type  redop  root  time  algbw  busbw'"));
    }
    if (!ended_) warn(line_, "W233", "the log ends without the test's last lines; it may be cut off");
    return CollectiveLogReading{.log = std::move(log_), .warnings = std::move(warnings_)};
  }

 private:
  void take_line(std::string_view line) {
    const std::string_view text = trimmed(line);
    if (text.empty()) return;
    // A command line that a shell script echoed, or the test's own first line.
    if (const std::string test = tested_operation_in(text); !test.empty()) take_test(test, text);
    if (const auto setting = variable_in(text)) {
      add_variable(*setting, log_.facts["env"]);
      return;
    }
    if (text.front() == '#') return take_comment(text);
    if (const int channels = channels_in(text); channels > 0) log_.facts["channels"] = fmt::format("{}", channels);
    if (text.find("NCCL version") != std::string_view::npos || text.find("RCCL version") != std::string_view::npos) {
      log_.version_of_library = library_version_in(text.substr(text.find("version")));
      return;
    }
    // Lines of NCCL's own log may appear between rows; a row starts with its size.
    if (text.front() >= '0' && text.front() <= '9') take_row(text);
  }

  void take_comment(std::string_view text) {
    const auto words = words_of(text);
    if (words.size() > 4 && words[1] == "Rank") return take_rank(text);
    if (words.size() > 4 && words[1] == "nThread" && words[3] == "nGpus") take_threads(text, words);
    if (words.size() > 2 && words[1] == "Blocking" && words[2].starts_with("Enabled")) {
      warn(line_, "W234", why_blocking_differs());
    }
    if (text.find("rccl-tests") != std::string_view::npos) log_.facts["library"] = "RCCL";
    if (text.find("nccl-library=") != std::string_view::npos) {
      const auto code = words_of(text.substr(text.find("nccl-library=") + 13));
      if (!code.empty()) log_.version_of_library = library_version_in(code.front());
    }
    // "played" is the word of earlier versions.
    if (words.size() > 1 && (words[1] == "simulated" || words[1] == "played")) return take_played(text);
    if (text.find("Out of bounds values") != std::string_view::npos ||
        text.find("Avg bus bandwidth") != std::string_view::npos) {
      ended_ = true;
      if (text.find("FAILED") != std::string_view::npos) warn(line_, "W234", failure_in(text));
    }
    if (const Heading heading = heading_of(text); heading.known()) take_heading(heading);
  }

  void take_heading(const Heading& heading) {
    heading_ = heading;
    if (!heading.of_processor) return;
    refuse(std::string(kOfProcessor), std::string(kWithoutC));
  }

  // A command line that a script echoed, or the first line of the test itself, which is right where they differ.
  void take_test(const std::string& test, std::string_view line) {
    if (log_.rows.empty()) {
      for (const LibraryVariable& variable : variables_of_command(line)) add_variable(variable, log_.facts["env"]);
    } else if (test != log_.operation) {
      other_test_ = test;
      return;
    }
    if (log_.operation.empty() || line.find("Collective test starting:") != std::string_view::npos) {
      log_.operation = test;
    }
  }

  // "# nThread 1 nGpus 8 minBytes ...": one thread issues the calls of 8 GPUs.
  void take_threads(std::string_view text, const std::vector<std::string_view>& words) {
    if (const auto gpus = parse_number<int>(words[4])) log_.facts["gpus_per_process"] = fmt::format("{}", *gpus);
    if (const int together = count_after(text, "agg iters:"); together > 1) {
      warn(line_, "W234", why_aggregated_differs(together));
    }
    if (count_after(text, "graph:") > 0) warn(line_, "W234", why_graphs_differ());
  }

  // "# simulated cluster: dgx-h100", "# simulated set: cluster.nodes=2": what `ringwright collective` reports about its
  // own run.
  void take_played(std::string_view text) {
    const std::size_t colon = text.find(':');
    const auto words = words_of(text.substr(0, colon));
    if (colon == std::string_view::npos || words.size() < 3) return;
    const std::string_view value = trimmed(text.substr(colon + 1));
    if (!log_.rows.empty()) {
      return refuse("another simulated run begins here: the log holds several runs", "one file for each run");
    }
    if (!log_.played) log_.played.emplace();
    PlayedMachine& played = *log_.played;
    if (words[2] == "cluster") played.cluster = std::string(value);
    if (words[2] == "set") played.settings.emplace_back(value);
    if (words[2] == "ranks") log_.ranks = parse_number<int>(value).value_or(0);
    if (words[2] == "hosts") log_.nodes = parse_number<int>(value).value_or(0);
    if (words[2] == "gpus_per_process") played.gpus_per_process = parse_number<int>(value).value_or(1);
    if (words[2] == "warmup") played.warmup = parse_number<int>(value).value_or(0);
    if (words[2] == "iterations") played.iterations = parse_number<int>(value).value_or(1);
  }

  // "#  Rank  0 Group  0 Pid 1234 on HOST device  0 [0000:1b:00] NVIDIA H100 80GB HBM3"
  void take_rank(std::string_view text) {
    const auto rank = parse_number<int>(words_of(text)[2]);
    if (rank && !listed_.ranks.insert(*rank).second) {
      return refuse(fmt::format("rank {} is listed again: the log holds several runs", *rank),
                    "one file for each run; a test that was built without MPI runs once in each process of mpirun");
    }
    const int group = count_after(text, " Group ");
    if (listed_.groups.empty()) listed_.first_group = group;
    listed_.groups.insert(group);
    if (group != listed_.first_group) return;
    ++log_.ranks;
    const std::size_t on = text.find(" on ");
    const std::size_t device = text.find(" device ");
    if (on == std::string_view::npos || device == std::string_view::npos) return;
    const std::string host(trimmed(text.substr(on + 4, device - on - 4)));
    listed_.hosts.insert(host);
    const std::size_t pid = text.find(" Pid ");
    if (pid < on) listed_.processes.insert(fmt::format("{} {}", host, trimmed(text.substr(pid + 5, on - pid - 5))));
    const std::size_t bracket = text.find(']', device);
    if (bracket != std::string_view::npos) take_gpu(std::string(trimmed(text.substr(bracket + 1))));
  }

  void take_gpu(const std::string& gpu) {
    if (!log_.gpu.empty() && gpu != log_.gpu) log_.facts["other_gpu"] = gpu;
    if (log_.gpu.empty()) log_.gpu = gpu;
  }

  void take_ranks() {
    if (log_.played) return;
    if (listed_.groups.size() > 1) warn(0, "W234", why_groups_differ(listed_.groups.size()));
    log_.nodes = static_cast<int>(listed_.hosts.size());
    if (log_.nodes > 0) log_.gpus_per_node = log_.ranks / log_.nodes;
    // Without the line of the threads the number of processes decides: the tests start one thread each unless asked for
    // more.
    const int processes = static_cast<int>(listed_.processes.size());
    if (processes > 0 && log_.ranks % processes == 0 && !log_.facts.contains("gpus_per_process")) {
      log_.facts["gpus_per_process"] = fmt::format("{}", log_.ranks / processes);
    }
    if (log_.nodes > 0 && log_.ranks % log_.nodes != 0) {
      warn(0, "W234", fmt::format("{} ranks do not spread evenly over {} hosts", log_.ranks, log_.nodes));
    }
  }

  // Tests without a reduction leave its column empty (and the root's, in old versions), so that a row has fewer words.
  [[nodiscard]] std::string_view word(const std::vector<std::string_view>& words, int column) const {
    if (column < 0) return {};
    int missing = heading_.columns - static_cast<int>(words.size());
    if (missing > 0 && column == heading_.redop) return {};
    if (missing > 1 && column == heading_.root) return {};
    int skipped = 0;
    if (missing > 0 && heading_.redop >= 0 && column > heading_.redop) ++skipped;
    if (missing > 1 && heading_.root >= 0 && column > heading_.root) ++skipped;
    const auto index = static_cast<std::size_t>(column - skipped);
    return index < words.size() ? words[index] : std::string_view();
  }

  // With as many words as the heading has columns, or fewer where columns are empty: those of all rows, and a number
  // follows the type then, not the name of a reduction.
  [[nodiscard]] bool is_whole(const std::vector<std::string_view>& words) const {
    const auto count = static_cast<int>(words.size());
    if (count < heading_.row_words) return false;
    if (count >= heading_.columns) return true;
    const int blanks = (heading_.redop >= 0 ? 1 : 0) + (heading_.root >= 0 ? 1 : 0);
    if (count < heading_.columns - blanks) return false;
    return heading_.redop < 0 || parse_number<double>(words[static_cast<std::size_t>(heading_.redop)]).has_value();
  }

  void take_row(std::string_view text) {
    if (!heading_.known()) return;
    if (!other_test_.empty()) {
      return refuse(
          fmt::format("rows of {} follow those of {}: the log holds several tests", other_test_, log_.operation),
          "one file for each test");
    }
    const auto words = words_of(text);
    const auto size = parse_number<std::int64_t>(words.front());
    if (!size) {
      return warn(line_, "W232", fmt::format("'{}' is no number of bytes; the row is left out", words.front()));
    }
    if (!is_whole(words)) {
      return warn(line_, "W232",
                  fmt::format("the row '{}' has {} words where the heading has {} columns; it is left out", text,
                              words.size(), heading_.columns));
    }
    heading_.row_words = static_cast<int>(words.size());
    if (*size == 0) return;  // fewer elements than ranks: the test measures nothing
    CollectiveRow row{.size = Bytes(*size), .line = line_};
    row.count = parse_number<std::int64_t>(word(words, heading_.count)).value_or(0);
    row.type = std::string(word(words, heading_.type));
    row.redop = std::string(word(words, heading_.redop));
    row.root = parse_number<int>(word(words, heading_.root)).value_or(-1);
    row.out_of_place = time_of(words, row.size, 0);
    row.in_place = time_of(words, row.size, 1);
    if (!row.time()) return warn(line_, "W232", fmt::format("the row of {} bytes has no time and is left out", *size));
    log_.rows.push_back(std::move(row));
  }

  [[nodiscard]] std::optional<Duration> time_of(const std::vector<std::string_view>& words, Bytes size,
                                                std::size_t half) {
    if (half >= heading_.halves.size()) return std::nullopt;
    const Half& columns = heading_.halves[half];
    const auto wrong = parse_number<double>(word(words, columns.wrong));
    // Old versions print the largest error of a value instead of a count: less than 1.
    if (wrong && *wrong >= 1.0) warn(line_, "W234", fmt::format("the row of {} bytes has wrong values", size.count()));
    const std::string_view time = word(words, columns.time), algbw = word(words, columns.algbw);
    if (const std::string why = contradiction_of(size, time, algbw); !why.empty() && !std::exchange(doubted_, true)) {
      warn(line_, "W234", why + "; its times are taken as microseconds");
    }
    return measured_time(size, time, algbw);
  }

  // The first mistake only: the others follow from it.
  void refuse(std::string message, std::string hint) {
    if (!refused_.all().empty()) return;
    refused_ = failure("E231", std::move(message), {.file = input_.name, .line = line_, .column = 1}, std::move(hint));
  }

  void warn(int line, std::string code, std::string message) {
    warnings_.add({.severity = Severity::kWarning,
                   .code = std::move(code),
                   .place = {.file = input_.name, .line = line, .column = line > 0 ? 1 : 0},
                   .message = std::move(message)});
  }

  const LogText& input_;
  std::string text_;  // as the test printed it
  CollectiveLog log_;
  Diagnostics warnings_, refused_;
  Heading heading_;
  std::string other_test_;  // another operation, of which rows may follow
  RanksInLog listed_;
  bool ended_ = false;
  bool doubted_ = false;  // one warning stands for all rows
  int line_ = 0;
};

}  // namespace

Result<CollectiveLogReading> read_printed_log(const LogText& input) {
  return PrintedReader(input).read();
}

}  // namespace ringwright::traces
