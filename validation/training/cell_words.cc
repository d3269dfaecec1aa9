#include "validation/training/cell_words.h"

#include <algorithm>
#include <cctype>
#include <charconv>

namespace ringwright::validation {
namespace {

struct NumberAt {
  double value = 0.0;
  std::size_t end = 0;
};

std::string_view without_blanks(std::string_view text) {
  text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
  return text;
}

// The next number that is not inside a word such as "mt43244" or "v4".
std::optional<NumberAt> next_number(std::string_view text, std::size_t from) {
  for (std::size_t at = from; at < text.size(); ++at) {
    if (std::isdigit(static_cast<unsigned char>(text[at])) == 0) continue;
    const bool in_word = at > 0 && (std::isalpha(static_cast<unsigned char>(text[at - 1])) != 0);
    NumberAt number{.value = 0.0, .end = at};
    const auto [rest, error] = std::from_chars(text.data() + at, text.data() + text.size(), number.value);
    number.end = static_cast<std::size_t>(rest - text.data());
    if (error == std::errc() && (!in_word || text[at - 1] == 'x')) return number;
    at = number.end;
  }
  return std::nullopt;
}

// The first number after the first of the rule's words, which fits.
std::optional<double> number_after(const WordRule& rule, std::string_view text) {
  const std::string lower = plain_words(text);
  const std::string word = plain_words(rule.words.front());
  const auto number = next_number(lower, lower.find(word) + word.size());
  return number ? std::optional(number->value) : std::nullopt;
}

// The text after the first of the rule's words, which fits, up to a semicolon. "none" states nothing.
std::optional<std::string> text_after(const WordRule& rule, std::string_view text) {
  const std::string word = plain_words(rule.words.front());
  text.remove_prefix(plain_words(text).find(word) + word.size());
  const std::string_view value = without_blanks(text.substr(0, text.find(';')));
  if (value.empty() || plain_words(value) == "none") return std::nullopt;
  return std::string(value);
}

// More than this is no count of ranks or layers.
constexpr double kMostOfCount = 1e6;

std::optional<int> count_after(const WordRule& rule, std::string_view text) {
  const auto number = number_after(rule, text);
  return number && *number >= 1.0 && *number <= kMostOfCount ? std::optional(static_cast<int>(*number)) : std::nullopt;
}

// Of a cell in lower case, the part that lists the cards.
std::string_view cards_part(const CardsRule* rule, std::string_view text) {
  if (rule == nullptr || rule->after.empty()) return text;
  const std::string word = plain_words(rule->after);
  const std::size_t at = text.rfind(word);
  if (at == std::string_view::npos) return text;
  text.remove_prefix(at + word.size());
  return text.substr(0, text.find(','));
}

// As a word of its own: "moe" is not in "moe_act".
bool names(std::string_view text, std::string_view name) {
  const auto of_word = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; };
  for (std::size_t at = text.find(name); at != std::string_view::npos; at = text.find(name, at + 1)) {
    const std::size_t end = at + name.size();
    if ((at == 0 || !of_word(text[at - 1])) && (end == text.size() || !of_word(text[end]))) return true;
  }
  return false;
}

}  // namespace

std::optional<CardWords> read_cards(const Vocabulary& vocabulary, std::string_view words) {
  const CardsRule* const rule = find_rule(vocabulary.cards, words);
  if (rule != nullptr && !rule->stated) return std::nullopt;
  const std::string all = plain_words(words);
  const std::string_view text = cards_part(rule, all);
  std::optional<int> count;
  int ports = 1;
  std::size_t at = 0;
  while (const auto number = next_number(text, at)) {
    const std::string_view rest = without_blanks(text.substr(number->end));
    const bool listed = text.substr(at, number->end - at).find_first_of(",;+") != std::string_view::npos;
    at = number->end;
    if (number->value > kMostOfCount) continue;
    if (rest.starts_with('x') && count && !listed) {
      ports = static_cast<int>(number->value);
    } else if (rest.starts_with('x')) {
      count = static_cast<int>(number->value);
      ports = 1;
    }
    if (!rest.starts_with('g')) continue;
    if (count) return CardWords{.count = *count, .gbps = number->value * ports};
    if (rule == nullptr || rule->sum_gbps <= 0.0) return std::nullopt;
    return CardWords{
        .count = static_cast<int>(number->value / rule->sum_gbps), .gbps = rule->sum_gbps, .divided = true};
  }
  return std::nullopt;
}

std::vector<Setting> read_precision(const Vocabulary& vocabulary, std::string_view text, std::string_view framework) {
  const auto found = std::ranges::find_if(vocabulary.precision, [&](const PrecisionRule& rule) {
    return rule.fits(text) && rule.framework.fits(framework);
  });
  return found == vocabulary.precision.end() ? std::vector<Setting>() : found->set;
}

Recomputation read_recomputation(const Vocabulary& vocabulary, std::string_view text) {
  Recomputation result;
  for (const std::string& name : vocabulary.recompute_modules) {
    if (names(text, name)) result.modules.push_back(name);
  }
  const RecomputeRule* const rule = find_rule(vocabulary.recompute, text);
  result.known = rule != nullptr || !result.modules.empty();
  if (rule == nullptr || !result.modules.empty()) return result;
  result.set = rule->set;
  if (rule->layer_period > 0) result.layer_period = count_after(*rule, text).value_or(rule->layer_period);
  return result;
}

Sharding read_sharding(const Vocabulary& vocabulary, std::string_view text) {
  Sharding result;
  result.offloads_optimizer = find_rule(vocabulary.optimizer_offload, text) != nullptr;
  const ShardingRule* const rule = find_rule(vocabulary.sharding, text);
  result.known = rule != nullptr || result.offloads_optimizer;
  if (rule == nullptr) return result;
  result.kind = rule->kind;
  if (rule->degree) result.degree = count_after(*rule, text);
  return result;
}

std::vector<Setting> read_recipe(const Vocabulary& vocabulary, std::string_view text) {
  std::vector<Setting> set;
  for (const RecipeRule& rule : vocabulary.recipe) {
    if (!rule.fits(text)) continue;
    set.insert(set.end(), rule.set.begin(), rule.set.end());
    const auto number = rule.number.empty() ? std::nullopt : count_after(rule, text);
    if (number) set.push_back({.path = rule.number, .value = std::to_string(*number)});
    const auto words = rule.text.empty() ? std::nullopt : text_after(rule, text);
    if (words) set.push_back({.path = rule.text, .value = yaml_quoted(*words)});
  }
  return set;
}

Overlap read_overlap(const Vocabulary& vocabulary, std::string_view text) {
  Overlap result;
  for (const OverlapRule& rule : vocabulary.overlap) {
    if (!rule.holds_in(text)) continue;
    result.known = true;
    const auto take = [](std::optional<bool>& field, const std::optional<bool>& value) {
      if (value) field = value;
    };
    take(result.grad_reduce, rule.grad_reduce);
    take(result.param_gather, rule.param_gather);
    take(result.tensor, rule.tensor);
    take(result.p2p, rule.p2p);
    if (rule.bucket) result.bucket_mb = number_after(rule, text);
    result.set.insert(result.set.end(), rule.set.begin(), rule.set.end());
  }
  return result;
}

}  // namespace ringwright::validation
