#include "planning/sweep/condition.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "core/base/units.h"
#include "core/config/scalar.h"

namespace ringwright::planning {
namespace {

constexpr std::size_t kLongestCondition = 1000;
constexpr int kDeepestBrackets = 32;

bool is_of_word(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 ||
         std::string_view("._-/%:[]").find(c) != std::string_view::npos;
}

}  // namespace

// In base units: 400Gbps and 50GB/s are one number.
Condition::Value Condition::value_of(std::string_view text) {
  if (text.size() >= 2 && text.front() == '"' && text.back() == '"') {
    text = text.substr(1, text.size() - 2);
  }
  Value value{.number = {}, .word = std::string(text)};
  if (const auto rate = parse_bandwidth(text)) {
    value.number = rate->count();
    value.unit = {.bytes = 1, .seconds = -1};
  } else if (const auto speed = parse_flop_rate(text)) {
    value.number = speed->count();
    value.unit = {.seconds = -1, .flops = 1};
  } else if (const auto size = parse_bytes(text)) {
    value.number = static_cast<double>(size->count());
    value.unit = {.bytes = 1};
  } else if (const auto time = parse_duration(text)) {
    value.number = to_seconds(*time);
    value.unit = {.seconds = 1};
  }
  for (const auto read : {read_number, read_ratio, read_percent}) {
    if (value.number) break;
    if (const auto number = read(text)) value.number = *number;
  }
  return value;
}

// Recursive descent: condition = sum relation sum; sum = product {(+|-) product}; product = atom {(*|/|%) atom}.
class ConditionParser {
 public:
  explicit ConditionParser(std::string_view text) : rest_(text) { condition_.text_ = std::string(text); }

  [[nodiscard]] tl::expected<Condition, std::string> parse() {
    if (rest_.size() > kLongestCondition) {
      return tl::unexpected(fmt::format("it is longer than {} characters", kLongestCondition));
    }
    take_sum(condition_.left_);
    take_relation();
    if (problem_.empty()) take_sum(condition_.right_);
    skip_blanks();
    if (problem_.empty() && !rest_.empty()) {
      problem_ = fmt::format("cannot read '{}': operators stand between blanks, and a list of conditions means 'and'",
                             rest_.substr(0, 20));
    }
    if (!problem_.empty()) return tl::unexpected(problem_);
    if (condition_.keys_.empty()) return tl::unexpected(std::string("it names no key, as parallel.tp"));
    return std::move(condition_);
  }

 private:
  using Kind = Condition::Kind;

  void skip_blanks() {
    while (!rest_.empty() && (rest_.front() == ' ' || rest_.front() == '\t')) rest_.remove_prefix(1);
  }

  [[nodiscard]] bool take(std::string_view word) {
    skip_blanks();
    if (!rest_.starts_with(word)) return false;
    rest_.remove_prefix(word.size());
    return true;
  }

  void take_relation() {
    using Relation = Condition::Relation;
    constexpr std::array<std::pair<std::string_view, Relation>, 6> kRelations{
        std::pair{"<=", Relation::kLessOrEqual}, std::pair{">=", Relation::kGreaterOrEqual},
        std::pair{"==", Relation::kEqual},       std::pair{"!=", Relation::kNotEqual},
        std::pair{"<", Relation::kLess},         std::pair{">", Relation::kGreater}};
    if (!problem_.empty()) return;
    for (const auto& [word, relation] : kRelations) {
      if (!take(word)) continue;
      condition_.relation_ = relation;
      return;
    }
    problem_ = "a comparison is missing: one of <= < == != > >=, between blanks";
  }

  void take_sum(Condition::Side& side) {
    take_product(side);
    while (problem_.empty()) {
      const bool plus = take("+ ");
      if (!plus && !take("- ")) return;
      take_product(side);
      side.push_back({.kind = plus ? Kind::kAdd : Kind::kSubtract, .value = {}});
    }
  }

  void take_product(Condition::Side& side) {
    take_atom(side);
    while (problem_.empty()) {
      Kind kind = Kind::kMultiply;
      if (take("/ "))
        kind = Kind::kDivide;
      else if (take("% "))
        kind = Kind::kRemainder;
      else if (!take("*"))
        return;
      take_atom(side);
      side.push_back({.kind = kind, .value = {}});
    }
  }

  void take_atom(Condition::Side& side) {
    if (!problem_.empty()) return;
    if (take("(")) {
      if (++depth_ > kDeepestBrackets) {
        problem_ = fmt::format("brackets are nested deeper than {}", kDeepestBrackets);
        return;
      }
      take_sum(side);
      --depth_;
      if (problem_.empty() && !take(")")) problem_ = "a bracket is not closed";
      return;
    }
    skip_blanks();
    std::size_t length = 0;
    if (!rest_.empty() && rest_.front() == '"') {
      const std::size_t end = rest_.find('"', 1);
      length = end == std::string_view::npos ? 0 : end + 1;
    } else {
      while (length < rest_.size() && is_of_word(rest_[length])) ++length;
    }
    if (length == 0) {
      problem_ = rest_.empty() ? "it ends where a value is expected"
                               : fmt::format("cannot read '{}' as a key, a number or a word", rest_.substr(0, 20));
      return;
    }
    add(rest_.substr(0, length), side);
    rest_.remove_prefix(length);
  }

  void add(std::string_view word, Condition::Side& side) {
    const bool letter = std::isalpha(static_cast<unsigned char>(word.front())) != 0;
    if (!letter || word.find('.') == std::string_view::npos) {
      side.push_back({.kind = Kind::kValue, .value = Condition::value_of(word)});
      return;
    }
    std::vector<std::string>& keys = condition_.keys_;
    auto found = std::ranges::find(keys, word);
    if (found == keys.end()) found = keys.insert(keys.end(), std::string(word));
    side.push_back({.kind = Kind::kKey, .value = {}, .key = static_cast<std::size_t>(found - keys.begin())});
  }

  std::string_view rest_;
  Condition condition_;
  std::string problem_;
  int depth_ = 0;
};

tl::expected<Condition, std::string> Condition::parse(std::string_view text) {
  return ConditionParser(text).parse();
}

// 0 is 0 in every unit.
bool Condition::fit(const Value& left, const Value& right) {
  const auto is_bare_zero = [](const Value& value) { return value.unit == Unit() && !(std::abs(*value.number) > 0.0); };
  return left.unit == right.unit || is_bare_zero(left) || is_bare_zero(right);
}

tl::expected<Condition::Value, std::string> Condition::combined(Kind kind, const Value& left, const Value& right) {
  const double a = *left.number;
  const double b = *right.number;
  Value result{.number = {}, .unit = left.unit, .word = "a computed number"};
  if (kind == Kind::kMultiply || kind == Kind::kDivide) {
    const int sign = kind == Kind::kMultiply ? 1 : -1;
    result.unit.bytes += sign * right.unit.bytes;
    result.unit.seconds += sign * right.unit.seconds;
    result.unit.flops += sign * right.unit.flops;
  } else if (!fit(left, right)) {
    return tl::unexpected(fmt::format("'{}' and '{}' have different units", left.word, right.word));
  } else if (left.unit == Unit()) {
    result.unit = right.unit;
  }
  if ((kind == Kind::kDivide || kind == Kind::kRemainder) && !(std::abs(b) > 0.0)) {
    return tl::unexpected(std::string("it divides by zero"));
  }
  result.number = kind == Kind::kAdd        ? a + b
                  : kind == Kind::kSubtract ? a - b
                  : kind == Kind::kMultiply ? a * b
                  : kind == Kind::kDivide   ? a / b
                                            : std::fmod(a, b);
  return result;
}

tl::expected<Condition::Value, std::string> Condition::evaluate(const Side& side, const Lookup& lookup) const {
  std::vector<Value> stack;
  for (const Step& step : side) {
    if (step.kind == Kind::kValue) {
      stack.push_back(step.value);
      continue;
    }
    if (step.kind == Kind::kKey) {
      const auto text = lookup(keys_[step.key]);
      if (!text) return tl::unexpected(fmt::format("'{}' has no value here", keys_[step.key]));
      stack.push_back(value_of(*text));
      continue;
    }
    const Value right = std::move(stack.back());
    stack.pop_back();
    Value& left = stack.back();
    for (const Value* operand : {static_cast<const Value*>(&left), &right}) {
      if (!operand->number) return tl::unexpected(fmt::format("'{}' is no number", operand->word));
    }
    auto result = combined(step.kind, left, right);
    if (!result) return tl::unexpected(std::move(result.error()));
    left = std::move(*result);
  }
  return std::move(stack.back());
}

bool Condition::compare(double left, double right, Relation relation) {
  switch (relation) {
    case Relation::kLess: return left < right;
    case Relation::kLessOrEqual: return left <= right;
    case Relation::kEqual: return !(left < right) && !(left > right);
    case Relation::kNotEqual: return left < right || left > right;
    case Relation::kGreaterOrEqual: return left >= right;
    case Relation::kGreater: return left > right;
  }
  return false;
}

tl::expected<bool, std::string> Condition::holds(const Lookup& lookup) const {
  const auto left = evaluate(left_, lookup);
  if (!left) return tl::unexpected(left.error());
  const auto right = evaluate(right_, lookup);
  if (!right) return tl::unexpected(right.error());
  if (left->number && right->number) {
    if (fit(*left, *right)) return compare(*left->number, *right->number, relation_);
    return tl::unexpected(fmt::format("'{}' and '{}' have different units", left->word, right->word));
  }
  if (relation_ == Relation::kEqual) return left->word == right->word;
  if (relation_ == Relation::kNotEqual) return left->word != right->word;
  return tl::unexpected(fmt::format("'{}' and '{}' can only be compared with == and !=", left->word, right->word));
}

}  // namespace ringwright::planning
