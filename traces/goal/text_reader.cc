#include "traces/goal/text_reader.h"

#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "traces/input/log_text.h"

namespace ringwright::traces {
namespace {

constexpr std::size_t kMostProblems = 100;
constexpr std::uint32_t kMostGoalRanks = 1'000'000;

bool is_goal_space(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }

bool is_goal_mark(char c) { return c == '{' || c == '}' || c == ':'; }

// A word or a mark, with its place.
struct GoalWord {
  std::string_view text;
  std::uint32_t line = 1;
  std::uint32_t column = 1;
};

class GoalWords {
 public:
  explicit GoalWords(std::string_view text) : text_(text) {}

  // Empty at the end of the text.
  [[nodiscard]] const GoalWord& peek() {
    if (!ahead_) ahead_ = next();
    return *ahead_;
  }
  GoalWord take() {
    const GoalWord word = peek();
    ahead_.reset();
    return word;
  }
  // A comment that the text ends in.
  [[nodiscard]] bool ends_in_comment() const { return ends_in_comment_; }

 private:
  GoalWord next() {
    skip();
    const GoalWord start{.text = {}, .line = line_, .column = column_};
    const std::size_t from = at_;
    if (at_ < text_.size() && is_goal_mark(text_[at_])) {
      advance();
    } else {
      while (at_ < text_.size() && !is_goal_space(text_[at_]) && !is_goal_mark(text_[at_]) && !begins_comment()) {
        advance();
      }
    }
    return {.text = text_.substr(from, at_ - from), .line = start.line, .column = start.column};
  }

  void skip() {
    for (;;) {
      while (at_ < text_.size() && is_goal_space(text_[at_])) advance();
      if (!begins_comment()) return;
      const bool block = text_[at_ + 1] == '*';
      const std::size_t end = text_.find(block ? "*/" : "\n", at_ + 2);
      ends_in_comment_ = block && end == std::string_view::npos;
      const std::size_t stop = end == std::string_view::npos ? text_.size() : end + (block ? 2 : 1);
      while (at_ < stop) advance();
    }
  }

  [[nodiscard]] bool begins_comment() const {
    return text_[std::min(at_, text_.size() - 1)] == '/' && at_ + 1 < text_.size() &&
           (text_[at_ + 1] == '/' || text_[at_ + 1] == '*');
  }

  void advance() {
    if (text_[at_++] == '\n') {
      ++line_;
      column_ = 1;
    } else {
      ++column_;
    }
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::uint32_t line_ = 1;
  std::uint32_t column_ = 1;
  bool ends_in_comment_ = false;
  std::optional<GoalWord> ahead_;
};

bool is_label(std::string_view word) {
  const auto letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); };
  return !word.empty() && letter(word.front()) && std::ranges::all_of(word, [&](char c) {
    return letter(c) || c == '_' || (c >= '0' && c <= '9');
  });
}

// Dependencies may name labels that come later in the rank.
struct NamedDependency {
  GoalWord waits;
  GoalWord before;
  bool at_start = false;
};

class GoalTextReader {
 public:
  GoalTextReader(const std::string& file, std::string_view text) : words_(text) { schedule_.file = file; }

  [[nodiscard]] Result<GoalSchedule> read() {
    if (read_count()) read_ranks();
    if (words_.ends_in_comment()) error(words_.peek(), "the file ends within a comment", "close it with */");
    if (problems_.has_errors()) return tl::unexpected(std::move(problems_));
    return std::move(schedule_);
  }

 private:
  void error(const GoalWord& at, std::string message, std::string hint = {}) {
    if (problems_.error_count() >= kMostProblems) return;
    problems_.add({.severity = Severity::kError,
                   .code = "E390",
                   .place = {.file = schedule_.file,
                             .line = static_cast<int>(at.line),
                             .column = static_cast<int>(at.column)},
                   .message = std::move(message),
                   .hint = std::move(hint)});
  }

  // A whole number up to `most`, with this unit attached ("1024b"); an error otherwise.
  template <class Number>
  Number number(const char* what, std::string_view unit = {}, std::uint64_t most = std::numeric_limits<Number>::max()) {
    const GoalWord word = words_.take();
    std::string_view digits = word.text;
    if (!unit.empty() && digits.ends_with(unit)) digits.remove_suffix(unit.size());
    const auto value = parse_number<std::uint64_t>(digits);
    if (!value || *value > most || digits.size() + unit.size() != word.text.size()) {
      error(word, fmt::format("{} is '{}'; it must be a whole number from 0 to {}{}", what, shown(word), most,
                              unit.empty() ? "" : fmt::format(", followed by '{}'", unit)));
      return {};
    }
    return static_cast<Number>(*value);
  }

  static std::string shown(const GoalWord& word) {
    return word.text.empty() ? "the end of the file" : std::string(word.text.substr(0, 60));
  }

  bool expect(std::string_view wanted) {
    const GoalWord word = words_.take();
    if (word.text == wanted) return true;
    error(word, fmt::format("'{}' is expected here, not '{}'", wanted, shown(word)));
    return false;
  }

  bool read_count() {
    if (!expect("num_ranks")) return false;
    const GoalWord at = words_.peek();
    const auto ranks = number<std::uint32_t>("num_ranks", {}, kMostGoalRanks);
    if (problems_.has_errors()) return false;
    if (ranks == 0) error(at, "num_ranks is 0; a schedule has at least one rank");
    schedule_.ranks.resize(ranks);
    defined_.resize(ranks);
    return ranks > 0;
  }

  void read_ranks() {
    while (!words_.peek().text.empty() && problems_.error_count() < kMostProblems) {
      if (!expect("rank")) return;
      const GoalWord at = words_.peek();
      const auto rank = number<std::uint32_t>("a rank", {}, schedule_.ranks.size() - 1);
      if (!expect("{")) return;
      if (defined_[rank]) error(at, fmt::format("rank {} is defined twice", rank));
      defined_[rank] = true;
      read_rank(schedule_.ranks[rank]);
    }
  }

  void read_rank(GoalRank& rank) {
    labels_.clear();
    named_.clear();
    for (;;) {
      const GoalWord word = words_.take();
      if (word.text == "}") break;
      if (word.text.empty()) return error(word, "the file ends within a rank", "close it with }");
      if (problems_.error_count() >= kMostProblems) return;
      if (words_.peek().text == ":") {
        static_cast<void>(words_.take());
        label(word, rank);
        operation(words_.take(), rank);
      } else if (words_.peek().text == "requires" || words_.peek().text == "irequires") {
        const bool at_start = words_.take().text == "irequires";
        named_.push_back({.waits = word, .before = words_.take(), .at_start = at_start});
      } else {
        operation(word, rank);
      }
    }
    for (const NamedDependency& named : named_) depend(named, rank);
    put_in_order(rank);
  }

  void label(const GoalWord& word, const GoalRank& rank) {
    if (!is_label(word.text)) {
      return error(word, fmt::format("'{}' is no label: a letter, then letters, digits and _", shown(word)));
    }
    if (!labels_.try_emplace(word.text, static_cast<std::uint32_t>(rank.operations.size())).second) {
      error(word, fmt::format("label '{}' is given twice in a rank", word.text));
    }
  }

  void operation(const GoalWord& word, GoalRank& rank) {
    GoalOperation operation{.line = word.line};
    if (word.text == "calc") {
      operation.size = number<std::uint64_t>("the time of a calc", {}, kLongest);
    } else if (word.text == "send" || word.text == "recv") {
      operation.kind = word.text == "send" ? GoalKind::kSend : GoalKind::kReceive;
      operation.size = number<std::uint64_t>("the size of a message", "b", kLargest);
      if (!expect(operation.kind == GoalKind::kSend ? "to" : "from")) return;
      if (words_.peek().text == "-1") {
        return error(words_.take(), "a receive from any rank (-1) has no partner that is known before the run",
                     "name the sender");
      }
      operation.peer = number<std::uint32_t>("the peer", {}, schedule_.ranks.size() - 1);
    } else {
      return error(word, fmt::format("'{}' is no statement", shown(word)),
                   "send, recv, calc, or LABEL requires LABEL");
    }
    clauses(operation);
    rank.operations.push_back(operation);
  }

  void clauses(GoalOperation& operation) {
    const bool message = operation.kind != GoalKind::kCalc;
    std::vector<std::string_view> given;
    for (;;) {
      const std::string_view clause = words_.peek().text;
      if (clause != "cpu" && !(message && (clause == "tag" || clause == "nic"))) return;
      const GoalWord word = words_.take();
      if (std::ranges::find(given, clause) != given.end()) error(word, fmt::format("'{}' is given twice", clause));
      given.push_back(clause);
      if (clause == "cpu") operation.cpu = number<std::uint8_t>("cpu");
      if (clause == "nic") operation.nic = number<std::uint8_t>("nic");
      if (clause != "tag") continue;
      if (words_.peek().text == "-1") {
        return error(words_.take(), "a receive of any tag (-1) has no partner that is known before the run",
                     "give the tag of the send");
      }
      operation.tag = number<std::uint32_t>("tag");
    }
  }

  void depend(const NamedDependency& named, GoalRank& rank) {
    const auto waits = labels_.find(named.waits.text);
    const auto before = labels_.find(named.before.text);
    if (waits == labels_.end()) error(named.waits, fmt::format("no operation has the label '{}'", shown(named.waits)));
    if (before == labels_.end()) {
      error(named.before, fmt::format("no operation has the label '{}'", shown(named.before)));
    }
    if (waits == labels_.end() || before == labels_.end()) return;
    auto& list = named.at_start ? rank.start_requirements : rank.requirements;
    list.push_back({.waits = waits->second, .before = before->second});
  }

  static constexpr std::uint64_t kLongest = 3'600'000'000'000'000;    // 1000 h in nanoseconds
  static constexpr std::uint64_t kLargest = std::uint64_t{1} << 50U;  // 1 PiB

  GoalWords words_;
  GoalSchedule schedule_;
  std::vector<bool> defined_;  // by rank
  Diagnostics problems_;
  // Of the rank that is being read.
  std::map<std::string_view, std::uint32_t> labels_;
  std::vector<NamedDependency> named_;
};

}  // namespace

// Its first word, behind comments, is `num_ranks`.
bool looks_like_goal_text(std::string_view beginning) {
  return !beginning.empty() && GoalWords(beginning).take().text == "num_ranks";
}

Result<GoalSchedule> parse_goal_text(const std::string& file, std::string_view text) {
  if (text.empty()) return tl::unexpected(failure("E390", "the file is empty", {.file = file}));
  return GoalTextReader(file, text).read();
}

}  // namespace ringwright::traces
