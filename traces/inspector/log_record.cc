#include "traces/inspector/log_record.h"

#include <algorithm>
#include <array>

#include "traces/input/json_values.h"

namespace ringwright::traces {

namespace {

// Read or without effect on times: everything that the plugin writes in versions 4.0 to 4.2, and in verbose files.
constexpr std::array<std::string_view, 24> kKnownUnused = {"inspector_output_format_version",
                                                           "git_rev",
                                                           "rec_mechanism",
                                                           "dump_timestamp_us",
                                                           "coll_timing_source",
                                                           "coll_algobw_gbs",
                                                           "coll_busbw_gbs",
                                                           "event_trace_sn",
                                                           "p2p_timing_source",
                                                           "p2p_algobw_gbs",
                                                           "p2p_busbw_gbs",
                                                           "p2p_peer",
                                                           "coll_records",
                                                           "p2p_records",
                                                           "coll_dropped_total",
                                                           "p2p_dropped_total",
                                                           "coll_stop_ts",
                                                           "p2p_stop_ts",
                                                           "kernel_events",
                                                           "events",
                                                           "coll_n_channels",
                                                           "slurm_job_id",
                                                           "gpu",
                                                           "cuda_dev"};

constexpr std::size_t kMostUnknownKeys = 1000;
constexpr std::int64_t kMostDropped = 1'000'000'000'000;

// Calls `use(key, value)` for every field; false where the object is no valid JSON.
template <class Use>
bool for_fields(on_demand::object& object, Use&& use) {
  for (auto field : object) {
    std::string_view key;
    on_demand::value value;
    if (field.unescaped_key().get(key) != simdjson::SUCCESS) return false;
    if (field.value().get(value) != simdjson::SUCCESS) return false;
    if (!use(key, value)) return false;
  }
  return true;
}

// The same for a value that may be an object; another value has no fields.
template <class Use>
bool for_fields(on_demand::value& value, Use&& use) {
  on_demand::object object;
  if (value.get_object().get(object) != simdjson::SUCCESS) return true;
  return for_fields(object, use);
}

void set_number(std::optional<std::int64_t>& target, on_demand::value& value) {
  target = maybe_number(value);
}

bool read_header(std::string_view key, on_demand::value& value, InspectorRecord& record) {
  if (key == "id")
    record.communicator = text_of(value);
  else if (key == "comm_name")
    record.name = text_of(value);
  else if (key == "rank")
    set_number(record.rank, value);
  else if (key == "n_ranks")
    set_number(record.ranks, value);
  else if (key == "nnodes")
    set_number(record.hosts, value);
  else
    return false;
  return true;
}

bool read_metadata(std::string_view key, on_demand::value& value, InspectorRecord& record) {
  if (key == "hostname")
    record.hostname = text_of(value);
  else if (key == "pid")
    record.process = maybe_number(value).value_or(0);
  else
    return false;
  return true;
}

bool read_call(std::string_view key, on_demand::value& value, InspectorRecord& record) {
  if (key == "coll" || key == "p2p") {
    record.operation = text_of(value);
    record.message = key == "p2p";
  } else if (key == "coll_algo")
    record.algorithm = text_of(value);
  else if (key == "coll_proto")
    record.protocol = text_of(value);
  else if (key == "coll_sn" || key == "p2p_sn")
    set_number(record.sequence, value);
  else if (key == "coll_msg_size_bytes" || key == "p2p_msg_size_bytes")
    set_number(record.bytes, value);
  else if (key == "coll_exec_time_us" || key == "p2p_exec_time_us")
    set_number(record.time_us, value);
  else if (key == "event_trace_ts") {
    return for_fields(value, [&](std::string_view name, on_demand::value& entry) {
      if (name == "coll_start_ts" || name == "p2p_start_ts") set_number(record.start_us, entry);
      return true;
    });
  } else if (key == "coll_dropped_since_last_dump" || key == "p2p_dropped_since_last_dump") {
    record.dropped += std::clamp<std::int64_t>(maybe_number(value).value_or(0), 0, kMostDropped);
  } else {
    return false;
  }
  return true;
}

std::int64_t elements_in(on_demand::value& value) {
  on_demand::array tensors;
  if (value.get_array().get(tensors) != simdjson::SUCCESS) return -1;
  std::int64_t sum = 0;
  for (auto tensor : tensors) {
    on_demand::array sizes;
    if (tensor.get_array().get(sizes) != simdjson::SUCCESS) return -1;
    std::int64_t product = 1;
    for (auto size : sizes) {
      const auto number = maybe_number(size);
      if (!number || *number < 0 || __builtin_mul_overflow(product, *number, &product)) return -1;
    }
    if (__builtin_add_overflow(sum, product, &sum)) return -1;
  }
  return sum;
}

std::string first_of(on_demand::value& value) {
  on_demand::array list;
  if (value.get_array().get(list) != simdjson::SUCCESS) return text_of(value);
  for (auto entry : list) return text_of(entry);
  return "";
}

void read_group_name(on_demand::value& value, FlightEntry& entry) {
  on_demand::array names;
  if (value.get_array().get(names) != simdjson::SUCCESS) return;
  std::size_t index = 0;
  for (auto name : names) {
    if (index == 0) entry.group = text_of(name);
    if (index == 1) entry.description = text_of(name);
    ++index;
  }
}

bool read_entry(std::string_view key, on_demand::value& value, FlightEntry& entry) {
  if (key == "process_group") read_group_name(value, entry);
  if (key == "pg_id" && entry.group.empty()) entry.group = text_of(value);
  if (key == "profiling_name") entry.operation = text_of(value);
  if (key == "state") entry.state = text_of(value);
  if (key == "collective_seq_id") set_number(entry.sequence, value);
  if (key == "time_discovered_started_ns") set_number(entry.started_ns, value);
  // Milliseconds; only where the job asked for timing.
  if (key == "duration_ms") entry.time_ps = scaled_decimal(token_of(value), 9);
  if (key == "input_sizes") entry.sent = elements_in(value);
  if (key == "output_sizes") entry.received = elements_in(value);
  if (key == "input_dtypes") entry.type = first_of(value);
  if (key == "is_p2p") entry.message = token_of(value) == "true";
  return true;
}

}  // namespace

struct LogRecordParser::State : JsonDocument {};

LogRecordParser::LogRecordParser() : state_(std::make_unique<State>()) {}
LogRecordParser::~LogRecordParser() = default;

LogRecordParser::Form LogRecordParser::form_of(const JsonPiece& piece) {
  on_demand::object object;
  if (!state_->open(piece) || state_->document.get_object().get(object) != simdjson::SUCCESS) return Form::kInvalid;
  Form form = Form::kUnknown;
  const bool valid = for_fields(object, [&](std::string_view key, on_demand::value&) {
    if (key == "header" || key == "coll_perf" || key == "p2p_perf") form = Form::kInspector;
    if (key == "entries" || key == "pg_status") form = Form::kFlightRecorder;
    return true;
  });
  return valid ? form : Form::kInvalid;
}

bool LogRecordParser::inspector(const JsonPiece& piece, InspectorRecord& record) {
  record = {};
  on_demand::object object;
  if (!state_->open(piece) || state_->document.get_object().get(object) != simdjson::SUCCESS) return false;
  const auto count = [&](std::string_view key) {
    if (std::ranges::find(kKnownUnused, key) != kKnownUnused.end()) return;
    if (unknown_.size() < kMostUnknownKeys || unknown_.contains(std::string(key))) ++unknown_[std::string(key)];
  };
  return for_fields(object, [&](std::string_view section, on_demand::value& value) {
    const bool header = section == "header", metadata = section == "metadata";
    if (!header && !metadata && section != "coll_perf" && section != "p2p_perf" && section != "dump_stats") {
      count(section);
      return true;
    }
    return for_fields(value, [&](std::string_view key, on_demand::value& entry) {
      const bool known = header     ? read_header(key, entry, record)
                         : metadata ? read_metadata(key, entry, record)
                                    : read_call(key, entry, record);
      if (!known) count(key);
      return true;
    });
  });
}

bool LogRecordParser::flight_dump(const JsonPiece& piece, FlightDump& dump) {
  dump = {};
  on_demand::object object;
  if (!state_->open(piece) || state_->document.get_object().get(object) != simdjson::SUCCESS) return false;
  const auto read_groups = [&](std::string_view name, on_demand::value& value) {
    FlightGroup& group = dump.groups[std::string(name)];
    return for_fields(value, [&](std::string_view key, on_demand::value& entry) {
      if (key == "desc") group.description = text_of(entry);
      if (key == "ranks") group.ranks = text_of(entry);
      return true;
    });
  };
  return for_fields(object, [&](std::string_view key, on_demand::value& value) {
    if (key == "rank" || key == "global_rank") set_number(dump.rank, value);
    if (key == "pg_config") return for_fields(value, read_groups);
    on_demand::array entries;
    if (key != "entries" || value.get_array().get(entries) != simdjson::SUCCESS) return true;
    for (auto entry : entries) {
      on_demand::object fields;
      if (entry.get_object().get(fields) != simdjson::SUCCESS) return false;
      FlightEntry& added = dump.entries.emplace_back();
      const bool valid = for_fields(
          fields, [&](std::string_view name, on_demand::value& field) { return read_entry(name, field, added); });
      if (!valid) return false;
    }
    return true;
  });
}

}  // namespace ringwright::traces
