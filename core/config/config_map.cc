#include "core/config/config_map.h"

#include <algorithm>
#include <limits>
#include <type_traits>
#include <utility>

#include <fmt/format.h>

#include "core/base/text.h"
#include "core/config/config_log.h"
#include "core/config/config_node.h"
#include "core/config/input_file.h"
#include "core/config/key_reading.h"
#include "core/config/scalar.h"

namespace ringwright {
namespace {

template <class T>
struct Grammar {
  KeyType type;
  Scalar<T> (*read)(std::string_view);
  std::string (*write)(T);
};

constexpr Grammar<std::int64_t> kInteger = {KeyType::kInteger, read_integer, write_integer};
constexpr Grammar<double> kNumber = {KeyType::kNumber, read_number, write_number};
constexpr Grammar<double> kRatio = {KeyType::kRatio, read_ratio, write_number};
constexpr Grammar<double> kPercent = {KeyType::kPercent, read_percent, write_number};
constexpr Grammar<Duration> kDuration = {KeyType::kDuration, read_duration, write_duration};
constexpr Grammar<Bytes> kBytes = {KeyType::kBytes, read_bytes, write_bytes};
constexpr Grammar<Bandwidth> kBandwidth = {KeyType::kBandwidth, read_bandwidth, write_bandwidth};
constexpr Grammar<FlopRate> kFlopRate = {KeyType::kFlopRate, read_flop_rate, write_flop_rate};
constexpr Grammar<bool> kBoolean = {KeyType::kBoolean, read_boolean,
                                    [](bool on) -> std::string { return on ? "true" : "false"; }};
constexpr Grammar<std::string> kText = {KeyType::kText,
                                        [](std::string_view text) -> Scalar<std::string> { return std::string(text); },
                                        [](std::string text) { return text; }};

// The value in its base unit, so that two spellings of one value compare equal.
template <class T>
std::string canonical(const T& value) {
  if constexpr (std::is_same_v<T, std::string>)
    return value;
  else if constexpr (std::is_same_v<T, bool>)
    return value ? "true" : "false";
  else if constexpr (std::is_arithmetic_v<T>)
    return fmt::format("{}", value);
  else
    return fmt::format("{}", value.count());
}

// The range of a kind of value where a key does not set its own: wider than any machine or job, and so narrow that sums
// and products of a few such values fit in 64 bits. A time may be 1000 h of the 2562 h of the clock.
template <class T>
struct UsualRange {
  static constexpr T low() {
    if constexpr (std::is_same_v<T, Duration> || std::is_same_v<T, Bytes>) return T(0);
    if constexpr (std::is_same_v<T, Bandwidth>) return T(1e3);
    if constexpr (std::is_same_v<T, FlopRate>) return T(1e6);
    if constexpr (std::is_same_v<T, std::int64_t>) return -high();
    return T(-1e15);
  }
  static constexpr T high() {
    if constexpr (std::is_same_v<T, Duration>) return T(3'600'000'000'000'000'000);
    if constexpr (std::is_same_v<T, Bytes>) return T(std::int64_t{1} << 50U);
    if constexpr (std::is_same_v<T, Bandwidth>) return T(1e22);  // studies write 1e9TB/s for infinitely fast
    if constexpr (std::is_same_v<T, FlopRate>) return T(1e25);  // and 1e9PFLOPS
    if constexpr (std::is_same_v<T, std::int64_t>) return T(std::numeric_limits<std::int32_t>::max());
    return T(1e15);
  }
};

// The schema states the upper end of rates, too.
template <class T>
std::optional<T> highest(const Key<T>& key) {
  if constexpr (std::is_same_v<T, Bandwidth> || std::is_same_v<T, FlopRate>) {
    return key.max.value_or(UsualRange<T>::high());
  } else {
    return key.max;
  }
}

template <class T>
std::string range_problem(const T& value, const Key<T>& key, const Grammar<T>& grammar) {
  if constexpr (std::is_same_v<T, std::string> || std::is_same_v<T, bool>) {
    return {};
  } else {
    const T low = key.min.value_or(UsualRange<T>::low());
    const T high = key.max.value_or(UsualRange<T>::high());
    if (value >= low && value <= high) return {};
    if (key.min && key.max) return fmt::format("between {} and {}", grammar.write(low), grammar.write(high));
    return value > high ? "at most " + grammar.write(high) : "at least " + grammar.write(low);
  }
}

template <class T>
T harmless(const Key<T>& key) {
  if (key.fallback) return *key.fallback;
  if (key.min) return *key.min;
  if constexpr (std::is_same_v<T, std::string>)
    return {};
  else
    return T(1);
}

bool is_list(KeyType type) { return type == KeyType::kIntegers || type == KeyType::kTexts; }

template <class T>
void document(Reading& reading, const Key<T>& key, const Grammar<T>& grammar, std::vector<OptionDoc>&& options = {}) {
  KeyDoc doc{.path = reading.path(),
             .type = grammar.type,
             .doc = std::string(key.doc),
             .required = !key.fallback && !key.optional && !is_list(grammar.type),  // an absent list is empty
             .fallback = {},
             .options = std::move(options)};
  if (key.fallback) doc.fallback = key.usual.empty() ? grammar.write(*key.fallback) : std::string(key.usual);
  if (key.min) doc.min = grammar.write(*key.min);
  if (const std::optional<T> most = highest(key)) doc.max = grammar.write(*most);
  reading.log.add(std::move(doc));
}

// The value of the scalar, or nothing after recording what is wrong with it.
template <class T>
std::optional<T> parse_value(Reading& reading, ConfigNode& value, const Key<T>& key, const Grammar<T>& grammar) {
  const std::string* text = scalar_text(reading, value, grammar.type);
  if (text == nullptr) return std::nullopt;
  auto parsed = grammar.read(*text);
  if (!parsed) {
    report(reading, value, bare_value(value), std::move(parsed.error()));
    return std::nullopt;
  }
  const std::string problem = range_problem(*parsed, key, grammar);
  if (!problem.empty()) {
    report(reading, value, bare_value(value),
           {.code = "E106", .says = fmt::format("is {} but must be {}", *text, problem)});
    return std::nullopt;
  }
  return *parsed;
}

template <class T>
T read_scalar(Reading reading, const Key<T>& key, const Grammar<T>& grammar) {
  if (reading.log.documenting()) {
    document(reading, key, grammar);
    return harmless(key);
  }
  ConfigNode* value = take(reading);
  if (value == nullptr) {
    if (!key.fallback) {
      report_missing(reading, key.doc, grammar.type);
    } else if (reading.log.keeps_reads()) {
      log_default(reading, grammar.write(*key.fallback), canonical(*key.fallback));
    }
    return harmless(key);
  }
  const auto parsed = parse_value(reading, *value, key, grammar);
  if (!parsed) return harmless(key);
  if (reading.log.keeps_reads()) log_value(reading, *value, canonical(*parsed));
  return *parsed;
}

// The file that a value names, or nothing after recording why it cannot be read.
std::optional<InputFile> read_named_file(Reading& reading, ConfigNode& value, const std::string& name) {
  const ConfigNode& bare = bare_value(value);
  if (name.empty()) {
    report(reading, value, bare, {.code = "E113", .says = "names no file", .hint = "give one, or remove the key"});
    return std::nullopt;
  }
  InputFile file = read_input_file(path_relative_to(bare, name));
  if (file.problem.empty()) return file;
  report(reading, value, bare,
         {.code = "E100",
          .says = fmt::format("cannot read '{}': {}", file.path, file.problem),
          .hint = did_you_mean_file(file.path)});
  return std::nullopt;
}

// A list of scalars; an absent one is empty. `canonical_of` may refuse an entry after recording why.
template <class T, class CanonicalOf>
std::vector<T> read_list(Reading reading, const Key<T>& key, const Grammar<T>& entry, KeyType type,
                         const CanonicalOf& canonical_of) {
  if (reading.log.documenting()) {
    document(reading, key, Grammar<T>{type, entry.read, entry.write});
    return {};
  }
  ConfigNode* value = take(reading);
  if (value == nullptr) {
    log_default(reading, "[]", "[]");
    return {};
  }
  check_provenance(reading, *value);
  // Errors of entries are settled one by one, so only a copy of the node's address is used.
  ConfigNode& list = has_provenance(*value) ? find_entry(*value, "value")->value : *value;
  if (list.kind != ConfigKind::kList) {
    const bool none = list.kind == ConfigKind::kNull;
    report(reading, *value, list,
           none
               ? ScalarError{.code = "E113", .says = "has no value", .hint = "an empty list is []"}
               : ScalarError{.code = "E105",
                             .says = wrong_kind(describe(type), list),
                             .hint = list.kind == ConfigKind::kScalar ? fmt::format("write [{}]", summary(list)) : ""});
    return {};
  }
  std::vector<T> entries;
  std::string canonical_text;
  for (std::size_t i = 0; i < list.items.size(); ++i) {
    const std::string path = fmt::format("{}[{}]", reading.path(), i);
    Reading item{reading.map, reading.log, {}, path};
    const auto parsed = parse_value(item, list.items[i], key, entry);
    const std::optional<std::string> written = parsed ? canonical_of(item, list.items[i], *parsed) : std::nullopt;
    if (!written) continue;
    canonical_text += (canonical_text.empty() ? "" : ", ") + *written;
    entries.push_back(*parsed);
  }
  log_value(reading, *value, "[" + canonical_text + "]");
  return entries;
}

template <class T>
std::vector<T> read_list(const Reading& reading, const Key<T>& key, const Grammar<T>& entry, KeyType type) {
  return read_list(reading, key, entry, type, [](Reading&, ConfigNode&, const T& value) -> std::optional<std::string> {
    return canonical(value);
  });
}

}  // namespace

std::int64_t ConfigMap::integer(const Key<std::int64_t>& key) {
  return read_scalar(Reading{*node_, *log_, path_, key.name}, key, kInteger);
}
double ConfigMap::number(const Key<double>& key) {
  return read_scalar(Reading{*node_, *log_, path_, key.name}, key, kNumber);
}
bool ConfigMap::boolean(const Key<bool>& key) {
  return read_scalar(Reading{*node_, *log_, path_, key.name}, key, kBoolean);
}
std::string ConfigMap::text(const Key<std::string>& key) {
  return read_scalar(Reading{*node_, *log_, path_, key.name}, key, kText);
}
Duration ConfigMap::duration(const Key<Duration>& key) {
  return read_scalar(Reading{*node_, *log_, path_, key.name}, key, kDuration);
}
Bytes ConfigMap::bytes(const Key<Bytes>& key) {
  return read_scalar(Reading{*node_, *log_, path_, key.name}, key, kBytes);
}
Bandwidth ConfigMap::bandwidth(const Key<Bandwidth>& key) {
  return read_scalar(Reading{*node_, *log_, path_, key.name}, key, kBandwidth);
}
FlopRate ConfigMap::flop_rate(const Key<FlopRate>& key) {
  return read_scalar(Reading{*node_, *log_, path_, key.name}, key, kFlopRate);
}
double ConfigMap::ratio(const Key<double>& key) {
  return read_scalar(Reading{*node_, *log_, path_, key.name}, key, kRatio);
}
double ConfigMap::percent(const Key<double>& key) {
  return read_scalar(Reading{*node_, *log_, path_, key.name}, key, kPercent);
}
std::vector<std::int64_t> ConfigMap::integers(const Key<std::int64_t>& key) {
  return read_list(Reading{*node_, *log_, path_, key.name}, key, kInteger, KeyType::kIntegers);
}
std::vector<std::string> ConfigMap::texts(const Key<std::string>& key) {
  return read_list(Reading{*node_, *log_, path_, key.name}, key, kText, KeyType::kTexts);
}

std::optional<InputFile> ConfigMap::file(const Key<std::string>& key) {
  Reading reading{*node_, *log_, path_, key.name};
  ConfigNode* value = documenting() ? nullptr : take(reading);
  if (value == nullptr) {
    static_cast<void>(read_scalar(reading, key, kText));
    return std::nullopt;
  }
  const auto name = parse_value(reading, *value, key, kText);
  if (!name) return std::nullopt;
  auto file = read_named_file(reading, *value, *name);
  if (file) log_file(reading, *value, *file);
  return file;
}

std::vector<InputFile> ConfigMap::files(const Key<std::string>& key) {
  std::vector<InputFile> files;
  static_cast<void>(read_list(Reading{*node_, *log_, path_, key.name}, key, kText, KeyType::kTexts,
                              [&](Reading& reading, ConfigNode& item, const std::string& name) {
                                std::optional<std::string> mark;
                                if (auto file = read_named_file(reading, item, name)) {
                                  mark = content_mark(file->text);
                                  files.push_back(std::move(*file));
                                }
                                return mark;
                              }));
  return files;
}

std::string ConfigMap::choice(const Key<std::string>& key, std::span<const Option> options) {
  Reading reading{*node_, *log_, path_, key.name};
  const std::string first = options.empty() ? std::string() : std::string(options.front().name);
  std::string safe = key.fallback.value_or(first);
  if (documenting()) {
    std::vector<OptionDoc> docs;
    for (const Option& option : options) docs.push_back({std::string(option.name), std::string(option.doc)});
    document(reading, key, Grammar<std::string>{KeyType::kChoice, kText.read, kText.write}, std::move(docs));
    return safe;
  }
  const Grammar<std::string> grammar{KeyType::kChoice, kText.read, kText.write};
  const bool given = has(key.name);
  std::string word = read_scalar(reading, key, grammar);
  ConfigEntry* entry = given ? find_entry(*node_, key.name) : nullptr;
  if (entry == nullptr || entry->value.settled) return safe;
  if (std::ranges::find(options, word, &Option::name) != options.end()) return word;
  std::vector<std::string> names;
  for (const Option& option : options) names.emplace_back(option.name);
  std::string near = nearest_name(word, names);
  report(reading, entry->value, bare_value(entry->value),
         {.code = "E107",
          .says = fmt::format("is '{}'{}", word, near.empty() ? "" : fmt::format("; did you mean '{}'?", near)),
          .hint = fmt::format("one of: {}{}{}", join(names, ", "), key.elsewhere.empty() ? "" : "; ", key.elsewhere)});
  if (!near.empty()) return near;
  node_->settled = true;  // this choice decides which other keys belong here
  return safe;
}

std::optional<std::int64_t> ConfigMap::integer_or(const Key<std::int64_t>& key, std::string_view automatic) {
  Reading reading{*node_, *log_, path_, key.name};
  const std::string word(automatic);
  if (documenting()) {
    KeyDoc doc{.path = reading.path(),
               .type = KeyType::kIntegerOrWord,
               .doc = std::string(key.doc),
               .required = false,
               .fallback = key.fallback ? write_integer(*key.fallback) : word,
               .options = {{word, ""}}};
    if (key.min) doc.min = write_integer(*key.min);
    if (key.max) doc.max = write_integer(*key.max);
    log_->add(std::move(doc));
    return key.fallback;
  }
  ConfigNode* value = take(reading);
  if (value == nullptr) {
    const std::string text = key.fallback ? write_integer(*key.fallback) : word;
    log_default(reading, text, text);
    return key.fallback;
  }
  const ConfigNode& bare = bare_value(*value);
  if (bare.kind == ConfigKind::kScalar && bare.text == automatic) {
    check_provenance(reading, *value);
    log_value(reading, *value, word);
    return std::nullopt;
  }
  const bool plain = bare.kind == ConfigKind::kScalar && !bare.quoted;
  if (const auto number = read_integer(bare.text); plain && !number.has_value() && number.error().code == "E105") {
    const bool near = !nearest_name(bare.text, std::vector{word}).empty();
    report(reading, *value, bare,
           {.code = "E105",
            .says = fmt::format("must be an integer or '{}', not '{}'", word, bare.text),
            .hint = near ? fmt::format("did you mean '{}'?", word) : number.error().hint});
    return std::nullopt;
  }
  const auto parsed =
      parse_value(reading, *value, key, Grammar<std::int64_t>{KeyType::kIntegerOrWord, read_integer, write_integer});
  if (!parsed) return std::nullopt;
  log_value(reading, *value, canonical(*parsed));
  return parsed;
}

}  // namespace ringwright
