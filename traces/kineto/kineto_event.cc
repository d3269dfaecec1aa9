#include "traces/kineto/kineto_event.h"

#include <array>
#include <charconv>
#include <cmath>
#include <limits>

#include <simdjson.h>

namespace ringwright::traces {

namespace {

namespace on_demand = simdjson::ondemand;

struct CategoryName {
  std::string_view name;
  EventKind kind;
};

// With the spellings of 2020.
constexpr std::array kCategories = {
    CategoryName{"kernel", EventKind::kKernel},
    CategoryName{"Kernel", EventKind::kKernel},
    CategoryName{"gpu_memcpy", EventKind::kCopy},
    CategoryName{"Memcpy", EventKind::kCopy},
    CategoryName{"gpu_memset", EventKind::kMemset},
    CategoryName{"Memset", EventKind::kMemset},
    CategoryName{"cpu_op", EventKind::kOperation},
    CategoryName{"Operator", EventKind::kOperation},
    CategoryName{"cuda_runtime", EventKind::kLaunch},
    CategoryName{"Runtime", EventKind::kLaunch},
    CategoryName{"cuda_driver", EventKind::kLaunch},
    CategoryName{"hip_runtime", EventKind::kLaunch},
    CategoryName{"user_annotation", EventKind::kAnnotation},
    CategoryName{"gpu_user_annotation", EventKind::kGpuAnnotation},
};

constexpr std::size_t kMostInputs = 4;
constexpr std::size_t kMostRankNumber = 1'000'000;

EventKind kind_of_category(std::string_view name) {
  for (const CategoryName& entry : kCategories) {
    if (entry.name == name) return entry.kind;
  }
  return EventKind::kOther;
}

bool is_needed(EventKind kind, std::string_view name) {
  switch (kind) {
    case EventKind::kOther: return false;
    case EventKind::kKernel:
    case EventKind::kCopy:
    case EventKind::kMemset: return true;
    case EventKind::kOperation:
      return name == "record_param_comms" || name == "aten::mm" || name == "aten::addmm" || name == "aten::bmm" ||
             name == "aten::baddbmm";
    case EventKind::kLaunch: return name.find("Launch") != std::string_view::npos;
    case EventKind::kAnnotation: return name.starts_with("nccl:") || name.starts_with("ProfilerStep");
    case EventKind::kGpuAnnotation: return name.starts_with("ProfilerStep");
  }
  return false;
}

// The characters of a number, or of a string without its quotes.
std::string_view bare_token(std::string_view token) {
  while (!token.empty() && static_cast<unsigned char>(token.back()) <= ' ') token.remove_suffix(1);
  if (token.size() >= 2 && token.front() == '"' && token.back() == '"') token = token.substr(1, token.size() - 2);
  return token;
}

std::string_view token_of(on_demand::value& value) {
  return bare_token(value.raw_json_token());
}

std::string_view token_of(simdjson::simdjson_result<on_demand::value>& value) {
  std::string_view token;
  return value.raw_json_token().get(token) == simdjson::SUCCESS ? bare_token(token) : std::string_view();
}

template <class Number, class Value>
Number whole_number(Value&& value, Number otherwise) {
  const auto number = scaled_decimal(token_of(value), 0);
  if (!number || *number < std::int64_t{std::numeric_limits<std::int32_t>::min()}) return otherwise;
  if constexpr (sizeof(Number) < sizeof(std::int64_t)) {
    if (*number > std::int64_t{std::numeric_limits<Number>::max()}) return otherwise;
  }
  return static_cast<Number>(*number);
}

template <class Value>
std::optional<std::int64_t> maybe_number(Value&& value) {
  return scaled_decimal(token_of(value), 0);
}

template <class Value>
std::string text_of(Value&& value) {
  on_demand::json_type type{};
  if (value.type().get(type) != simdjson::SUCCESS) return "";
  if (type == on_demand::json_type::string) {
    std::string_view text;
    return value.get_string().get(text) == simdjson::SUCCESS ? std::string(text) : "";
  }
  if (type == on_demand::json_type::number) return std::string(token_of(value));
  if (type != on_demand::json_type::array) return "";
  // Ranks as an array, in the form of the others.
  std::string text = "[";
  on_demand::array list;
  if (value.get_array().get(list) != simdjson::SUCCESS) return "";
  for (auto entry : list) text += (text.size() > 1 ? ", " : "") + std::string(token_of(entry));
  return text + "]";
}

bool read_sizes(on_demand::array inputs, KinetoEvent& event) {
  for (auto input : inputs) {
    if (input.error() != simdjson::SUCCESS) return false;
    if (event.dims.size() == kMostInputs) return true;
    event.dims.emplace_back();
    on_demand::array sizes;
    if (input.get_array().get(sizes) != simdjson::SUCCESS) continue;
    for (auto size : sizes) {
      const auto number = maybe_number(size);
      if (!number || event.dims.back().size() == kMostInputs) {
        event.dims.back().clear();
        break;
      }
      event.dims.back().push_back(*number);
    }
  }
  return true;
}

std::string first_text(on_demand::array list) {
  for (auto entry : list) return text_of(entry);
  return "";
}

// One argument of a collective; false when it is another one.
bool read_comm_argument(std::string_view key, on_demand::value& value, CommArguments& comm) {
  if (key == "Collective name")
    comm.collective = text_of(value);
  else if (key == "dtype")
    comm.type = text_of(value);
  else if (key == "In msg nelems")
    comm.sent = maybe_number(value);
  else if (key == "Out msg nelems")
    comm.received = maybe_number(value);
  else if (key == "Group size")
    comm.size = maybe_number(value);
  else if (key == "Process Group Name")
    comm.group = text_of(value);
  else if (key == "Process Group Description")
    comm.description = text_of(value);
  else if (key == "Process Group Ranks")
    comm.ranks = text_of(value);
  else if (key == "Global rank start")
    comm.rank_start = maybe_number(value);
  else if (key == "Global rank stride")
    comm.rank_stride = maybe_number(value);
  else if (key == "Seq")
    comm.sequence = maybe_number(value);
  else
    return false;
  return true;
}

void read_argument(std::string_view key, on_demand::value& value, KinetoEvent& event) {
  if (key == "correlation")
    event.correlation = whole_number<std::uint64_t>(value, 0);
  else if (key == "External id" || key == "external id")
    event.operation = whole_number<std::uint64_t>(value, 0);
  else if (key == "stream")
    event.stream = whole_number<std::int32_t>(value, 0);
  else if (key == "device")
    event.device = whole_number<std::int32_t>(value, 0);
  else if (key == "Input Dims" || key == "Input dims") {
    on_demand::array inputs;
    if (value.get_array().get(inputs) == simdjson::SUCCESS) static_cast<void>(read_sizes(inputs, event));
  } else if (key == "Input type") {
    on_demand::array types;
    if (value.get_array().get(types) == simdjson::SUCCESS) event.input_type = first_text(types);
  } else {
    static_cast<void>(read_comm_argument(key, value, event.comm));
  }
}

bool read_arguments(on_demand::value& value, KinetoEvent& event) {
  on_demand::object arguments;
  if (value.get_object().get(arguments) != simdjson::SUCCESS) return false;
  for (auto field : arguments) {
    std::string_view key;
    if (field.unescaped_key().get(key) != simdjson::SUCCESS) return false;
    on_demand::value argument;
    if (field.value().get(argument) != simdjson::SUCCESS) return false;
    read_argument(key, argument, event);
  }
  return true;
}

struct EventHead {
  std::string_view start, time;
  bool category_known = false, name_known = false, complete = true;
};

enum class FieldResult : std::uint8_t { kRead, kNotNeeded, kInvalid };

FieldResult read_field(std::string_view key, on_demand::value& value, KinetoEvent& event, EventHead& head) {
  if (key == "cat" || key == "name") {
    std::string_view text;
    if (value.get_string().get(text) != simdjson::SUCCESS) return FieldResult::kNotNeeded;
    if (key == "cat") {
      event.kind = kind_of_category(text);
      head.category_known = true;
    } else {
      event.name = text;
      head.name_known = true;
    }
    const bool decided = head.category_known && (head.name_known || event.kind == EventKind::kOther);
    return decided && !is_needed(event.kind, event.name) ? FieldResult::kNotNeeded : FieldResult::kRead;
  }
  if (key == "ph") return token_of(value) == "X" ? FieldResult::kRead : FieldResult::kNotNeeded;
  if (key == "ts") head.start = token_of(value);
  if (key == "dur") head.time = token_of(value);
  if (key == "tid") event.thread = whole_number<std::int64_t>(value, -1);
  if (key == "args" && !read_arguments(value, event)) return FieldResult::kInvalid;
  return FieldResult::kRead;
}

int small_number(std::optional<std::int64_t> number, int otherwise) {
  return number && *number >= 0 && *number <= std::int64_t{kMostRankNumber} ? static_cast<int>(*number) : otherwise;
}

ProcessGroupConfig read_group(on_demand::object object) {
  ProcessGroupConfig group;
  for (auto field : object) {
    std::string_view key;
    on_demand::value value;
    if (field.unescaped_key().get(key) != simdjson::SUCCESS || field.value().get(value) != simdjson::SUCCESS) break;
    if (key == "pg_name") group.name = text_of(value);
    if (key == "pg_desc") group.description = text_of(value);
    if (key == "pg_size") group.size = small_number(maybe_number(value), 0);
    on_demand::array ranks;
    if (key != "ranks" || value.get_array().get(ranks) != simdjson::SUCCESS) continue;
    for (auto rank : ranks) {
      const int number = small_number(maybe_number(rank), -1);
      if (number < 0) break;
      group.ranks.push_back(number);
    }
  }
  return group;
}

}  // namespace

struct KinetoParser::State {
  on_demand::parser parser;
  on_demand::document document;

  [[nodiscard]] bool open(const JsonPiece& piece) {
    const simdjson::padded_string_view text(piece.text.data(), piece.text.size(), piece.text.size() + kJsonPadding);
    return parser.iterate(text).get(document) == simdjson::SUCCESS;
  }
};

KinetoParser::KinetoParser() : state_(std::make_unique<State>()) {
  static_assert(kJsonPadding >= simdjson::SIMDJSON_PADDING);
}
KinetoParser::~KinetoParser() = default;

bool KinetoParser::event(const JsonPiece& piece, KinetoEvent& event) {
  event = {};
  on_demand::object object;
  if (!state_->open(piece) || state_->document.get_object().get(object) != simdjson::SUCCESS) return false;
  EventHead head;
  for (auto field : object) {
    std::string_view key;
    on_demand::value value;
    if (field.unescaped_key().get(key) != simdjson::SUCCESS || field.value().get(value) != simdjson::SUCCESS) {
      return false;
    }
    const FieldResult result = read_field(key, value, event, head);
    if (result == FieldResult::kInvalid) return false;
    if (result == FieldResult::kRead) continue;
    event.kind = EventKind::kOther;
    return true;
  }
  if (!head.category_known || !is_needed(event.kind, event.name)) {
    event.kind = EventKind::kOther;
    return true;
  }
  const auto start = scaled_decimal(head.start, 3);
  const auto time = scaled_decimal(head.time, 6);
  if (!start || !time || *time < 0) return false;
  event.start_ns = *start;
  event.time_ps = *time;
  return true;
}

std::optional<DistributedInfo> KinetoParser::distributed(const JsonPiece& piece) {
  on_demand::object object;
  if (!state_->open(piece) || state_->document.get_object().get(object) != simdjson::SUCCESS) return std::nullopt;
  DistributedInfo info;
  for (auto field : object) {
    std::string_view key;
    on_demand::value value;
    if (field.unescaped_key().get(key) != simdjson::SUCCESS || field.value().get(value) != simdjson::SUCCESS) {
      return std::nullopt;
    }
    if (key == "backend") info.backend = text_of(value);
    if (key == "nccl_version") info.nccl_version = text_of(value);
    if (key == "rank") info.rank = small_number(maybe_number(value), -1);
    if (key == "world_size") info.world_size = small_number(maybe_number(value), 0);
    on_demand::array groups;
    if (key != "pg_config" || value.get_array().get(groups) != simdjson::SUCCESS) continue;
    for (auto group : groups) {
      on_demand::object entry;
      if (group.get_object().get(entry) != simdjson::SUCCESS) break;
      info.groups.push_back(read_group(entry));
    }
  }
  return info;
}

std::string KinetoParser::device_name(const JsonPiece& piece) {
  on_demand::array devices;
  if (!state_->open(piece) || state_->document.get_array().get(devices) != simdjson::SUCCESS) return "";
  for (auto device : devices) {
    std::string_view name;
    if (device["name"].get_string().get(name) != simdjson::SUCCESS) return "";
    return std::string(name);
  }
  return "";
}

std::optional<std::int64_t> scaled_decimal(std::string_view text, int digits) {
  if (text.find_first_of("eE") != std::string_view::npos) {
    double value = 0.0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    value *= std::pow(10.0, digits);
    if (error != std::errc() || end != text.data() + text.size() || !(std::abs(value) < 9e18)) return std::nullopt;
    return static_cast<std::int64_t>(std::llround(value));
  }
  const bool negative = text.starts_with('-');
  if (negative) text.remove_prefix(1);
  std::int64_t value = 0;
  int fraction = -1;  // digits behind the point; -1: before it
  bool any = false;
  const auto push = [&](int digit) {
    return !__builtin_mul_overflow(value, 10, &value) && !__builtin_add_overflow(value, digit, &value);
  };
  for (const char c : text) {
    if (c == '.' && fraction < 0) {
      fraction = 0;
      continue;
    }
    if (c < '0' || c > '9') return std::nullopt;
    any = true;
    if (fraction >= digits) continue;
    if (fraction >= 0) ++fraction;
    if (!push(c - '0')) return std::nullopt;
  }
  if (!any) return std::nullopt;
  for (int i = fraction < 0 ? 0 : fraction; i < digits; ++i) {
    if (!push(0)) return std::nullopt;
  }
  return negative ? -value : value;
}

}  // namespace ringwright::traces
