#include "traces/kineto/kineto_event.h"

#include <algorithm>
#include <array>

#include "traces/calls/recorded_call.h"
#include "traces/input/json_values.h"
#include "traces/kineto/operator_kernels.h"

namespace ringwright::traces {

namespace {

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

constexpr std::size_t kMostInputs = 12;
constexpr std::size_t kMostDimensions = 8;
constexpr std::size_t kMostRankNumber = 1'000'000;

EventKind kind_of_category(std::string_view name) {
  for (const CategoryName& entry : kCategories) {
    if (entry.name == name) return entry.kind;
  }
  return EventKind::kOther;
}

bool is_needed(EventKind kind, std::string_view name, HostEvents host) {
  switch (kind) {
    case EventKind::kOther: return false;
    case EventKind::kKernel:
    case EventKind::kCopy:
    case EventKind::kMemset: return true;
    case EventKind::kOperation:
      return host == HostEvents::kAll || name == "record_param_comms" || calls_collective(name) || has_known_work(name);
    case EventKind::kLaunch: return host == HostEvents::kAll || name.find("Launch") != std::string_view::npos;
    case EventKind::kAnnotation:
      return host == HostEvents::kAll || name.starts_with("nccl:") || name.starts_with("ProfilerStep");
    case EventKind::kGpuAnnotation: return name.starts_with("ProfilerStep");
  }
  return false;
}

// [16, 559, 1024]; false where an entry is no number.
bool read_tensor(on_demand::array sizes, std::vector<std::int64_t>& result) {
  for (auto size : sizes) {
    const auto number = maybe_number(size);
    if (!number || result.size() == kMostDimensions) return false;
    result.push_back(*number);
  }
  return true;
}

std::int64_t elements_of_tensor(const std::vector<std::int64_t>& sizes) {
  if (sizes.empty()) return 0;
  std::int64_t product = 1;
  for (const std::int64_t size : sizes) {
    if (size < 0 || __builtin_mul_overflow(product, size, &product)) return 0;
  }
  return product > kMostElements ? 0 : product;
}

// Sizes of a tensor, or a list of them for a list of tensors.
void read_input(on_demand::array sizes, OperatorInput& input) {
  bool is_list = false;
  std::vector<std::int64_t> one;
  for (auto entry : sizes) {
    on_demand::array inner;
    if (entry.get_array().get(inner) == simdjson::SUCCESS) {
      is_list = true;
      one.clear();
      if (read_tensor(inner, one)) input.elements = std::min(kMostElements, input.elements + elements_of_tensor(one));
      continue;
    }
    const auto number = maybe_number(entry);
    if (is_list || !number || input.sizes.size() == kMostDimensions) {
      input.sizes.clear();
      return;
    }
    input.sizes.push_back(*number);
  }
  if (!is_list) input.elements = elements_of_tensor(input.sizes);
}

std::string first_text(on_demand::array list) {
  for (auto entry : list) return text_of(entry);
  return "";
}

using ListEntry = simdjson::simdjson_result<on_demand::value>;
using EntryReader = void (*)(ListEntry&, OperatorInput&);

void read_sizes(ListEntry& entry, OperatorInput& input) {
  on_demand::array sizes;
  if (entry.get_array().get(sizes) == simdjson::SUCCESS) read_input(sizes, input);
}

// Of a list of tensors, the type of the first one.
void read_type(ListEntry& entry, OperatorInput& input) {
  on_demand::array listed;
  input.type = entry.get_array().get(listed) == simdjson::SUCCESS ? first_text(listed) : text_of(entry);
}

void read_value(ListEntry& entry, OperatorInput& input) {
  input.value = text_of(entry);
}

// One of the lists with an entry for each input.
void read_list(on_demand::value& value, KinetoEvent& event, EntryReader reader) {
  on_demand::array list;
  if (value.get_array().get(list) != simdjson::SUCCESS) return;
  std::size_t index = 0;
  for (ListEntry entry : list) {
    if (entry.error() != simdjson::SUCCESS || index == kMostInputs) return;
    if (event.inputs.size() <= index) event.inputs.resize(index + 1);
    reader(entry, event.inputs[index++]);
  }
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
  else if (key == "Record function id")
    event.record = whole_number<std::uint64_t>(value, 0);
  else if (key == "stream")
    event.stream = whole_number<std::int32_t>(value, 0);
  else if (key == "device")
    event.device = whole_number<std::int32_t>(value, 0);
  else if (key == "Input Dims" || key == "Input dims")
    read_list(value, event, read_sizes);
  else if (key == "Input type")
    read_list(value, event, read_type);
  else if (key == "Concrete Inputs")
    read_list(value, event, read_value);
  else
    static_cast<void>(read_comm_argument(key, value, event.comm));
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
  HostEvents host = HostEvents::kNeeded;
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
    return decided && !is_needed(event.kind, event.name, head.host) ? FieldResult::kNotNeeded : FieldResult::kRead;
  }
  if (key == "ph") return token_of(value) == "X" ? FieldResult::kRead : FieldResult::kNotNeeded;
  if (key == "ts") head.start = token_of(value);
  if (key == "dur") head.time = token_of(value);
  if (key == "tid") event.thread = whole_number<std::int64_t>(value, -1);
  if (key == "pid") event.process = whole_number<std::int64_t>(value, -1);
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

bool is_base_collective(std::string_view operation) {
  return operation.starts_with("c10d::") && operation.ends_with("_base_");
}

bool calls_collective(std::string_view operation) {
  constexpr std::string_view kLibrary = "c10d::";
  return operation.starts_with(kLibrary) && !operation_of(operation.substr(kLibrary.size())).empty();
}

struct KinetoParser::State : JsonDocument {
  HostEvents host = HostEvents::kNeeded;
};

KinetoParser::KinetoParser(HostEvents host) : state_(std::make_unique<State>()) {
  state_->host = host;
}
KinetoParser::~KinetoParser() = default;

bool KinetoParser::event(const JsonPiece& piece, KinetoEvent& event) {
  event = {};
  on_demand::object object;
  if (!state_->open(piece) || state_->document.get_object().get(object) != simdjson::SUCCESS) return false;
  EventHead head{.host = state_->host};
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
  if (!head.category_known || !is_needed(event.kind, event.name, state_->host)) {
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

}  // namespace ringwright::traces
