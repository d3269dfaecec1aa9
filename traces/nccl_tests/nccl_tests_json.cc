// The JSON of nccl-tests (-J, version 3): booleans are strings, NaN is the string "nan", and it contains the
// environment of the job, of which only NCCL's own variables are retained.
#include "traces/nccl_tests/nccl_tests_json.h"

#include <set>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace ringwright::traces {
namespace {

using Json = nlohmann::json;

constexpr int kVersion = 3;

Place place_of_byte(const LogText& input, std::size_t byte) {
  Place place{.file = input.name, .line = 1, .column = 1};
  for (std::size_t i = 0; i + 1 < byte && i < input.text.size(); ++i) {
    ++place.column;
    if (input.text[i] != '\n') continue;
    ++place.line;
    place.column = 1;
  }
  return place;
}

// A number, or a string that holds one.
std::string text_of(const Json& object, const char* key) {
  const auto found = object.find(key);
  if (found == object.end()) return "";
  if (found->is_string()) return std::string(trimmed(found->get_ref<const std::string&>()));
  return found->is_number() ? found->dump() : "";
}

std::optional<Duration> half_time(const Json& row, const char* half, Bytes size) {
  const auto found = row.find(half);
  if (found == row.end() || !found->is_object()) return std::nullopt;
  const std::string time = text_of(*found, "time");
  return measured_time(size, time.empty() ? text_of(*found, "cpu_time") : time, text_of(*found, "alg_bw"));
}

void take_devices(const Json& document, CollectiveLog& log) {
  const Json empty = Json::object();
  const auto config = document.find("config");
  if (config == document.end() || !config->is_object()) return;
  const auto devices = config->find("devices");
  if (devices == config->end() || !devices->is_array()) return;
  std::set<std::string> hosts;
  for (const Json& device : *devices) {
    if (!device.is_object()) continue;
    ++log.ranks;
    hosts.insert(text_of(device, "hostname"));
    log.gpu = text_of(device, "device_info");
  }
  log.nodes = static_cast<int>(hosts.size());
  if (log.nodes > 0) log.gpus_per_node = log.ranks / log.nodes;
}

void take_environment(const Json& document, CollectiveLog& log) {
  const auto env = document.find("env");
  if (env == document.end() || !env->is_array()) return;
  std::string kept;
  for (const Json& entry : *env) {
    if (!entry.is_string()) continue;
    const std::string& text = entry.get_ref<const std::string&>();
    if (text.starts_with("NCCL_")) kept += (kept.empty() ? "" : "; ") + text;
  }
  log.facts["env"] = kept;
}

void take_operation(const Json& document, CollectiveLog& log) {
  const auto args = document.find("args");
  if (args == document.end() || !args->is_array() || args->empty() || !args->front().is_string()) return;
  log.operation = operation_in(args->front().get_ref<const std::string&>());
  // One thread issues the calls of this many GPUs.
  for (std::size_t i = 1; i + 1 < args->size(); ++i) {
    const Json& option = (*args)[i];
    const bool gpus = option.is_string() && (option == "-g" || option == "--ngpus");
    if (gpus && (*args)[i + 1].is_string()) log.facts["gpus_per_process"] = (*args)[i + 1].get<std::string>();
  }
}

// What `ringwright collective --json` reports about its own run.
void take_played(const Json& document, CollectiveLog& log) {
  // "played" is the key of earlier versions.
  const auto played = document.find(document.contains("simulated") ? "simulated" : "played");
  if (played == document.end() || !played->is_object()) return;
  const auto number = [&](const Json& object, const char* key, int fallback) {
    return parse_number<int>(text_of(object, key)).value_or(fallback);
  };
  log.operation = text_of(document, "operation");
  log.ranks = number(document, "ranks", 0);
  log.nodes = number(document, "hosts", 0);
  log.gpu = text_of(document, "gpu");
  PlayedMachine& machine = log.played.emplace();
  machine.cluster = text_of(*played, "cluster");
  machine.gpus_per_process = number(*played, "gpus_per_process", 1);
  machine.warmup = number(*played, "warmup", 0);
  machine.iterations = number(*played, "iterations", 1);
  const auto settings = played->find("set");
  if (settings == played->end() || !settings->is_array()) return;
  for (const Json& setting : *settings) {
    if (setting.is_string()) machine.settings.push_back(setting.get<std::string>());
  }
}

void take_rows(const LogText& input, const Json& document, CollectiveLogReading& reading) {
  const auto results = document.find("results");
  if (results == document.end() || !results->is_array()) return;
  std::size_t index = 0;
  for (const Json& result : *results) {
    ++index;
    const auto size = result.is_object() ? parse_number<std::int64_t>(text_of(result, "size")) : std::nullopt;
    if (size && *size == 0) continue;
    CollectiveRow row{.size = Bytes(size.value_or(0))};
    if (size) {
      row.count = parse_number<std::int64_t>(text_of(result, "count")).value_or(0);
      row.type = text_of(result, "type");
      row.redop = text_of(result, "redop");
      row.root = parse_number<int>(text_of(result, "root")).value_or(-1);
      row.experiment = text_of(result, "experiment_name");
      row.out_of_place = half_time(result, "out_of_place", row.size);
      row.in_place = half_time(result, "in_place", row.size);
      if (reading.log.played) row.out_of_place = measured_time(row.size, text_of(result, "time_us"), "");
    }
    if (!row.time()) {
      reading.warnings.add({.severity = Severity::kWarning,
                            .code = "W232",
                            .place = {.file = input.name},
                            .message = fmt::format("result {} has no size or no time and is left out", index)});
      continue;
    }
    reading.log.rows.push_back(std::move(row));
  }
}

}  // namespace

Result<CollectiveLogReading> read_json_log(const LogText& input) {
  Json document;
  try {
    document = Json::parse(input.text);
  } catch (const Json::parse_error& error) {
    return tl::unexpected(failure("E231", "the JSON of '" + input.name + "' is truncated or malformed",
                                  place_of_byte(input, error.byte), "a test that was stopped leaves half a file"));
  } catch (const Json::out_of_range&) {
    return tl::unexpected(
        failure("E231", "a number in the JSON of '" + input.name + "' is too large", {.file = input.name}));
  }
  const auto version = parse_number<int>(text_of(document, "version"));
  CollectiveLogReading reading;
  if (version && *version != kVersion) {
    reading.warnings.add({.severity = Severity::kWarning,
                          .code = "W233",
                          .place = {.file = input.name},
                          .message = fmt::format("version {} of the JSON is read as version {}", *version, kVersion)});
  }
  take_devices(document, reading.log);
  take_environment(document, reading.log);
  take_operation(document, reading.log);
  reading.log.version_of_library = library_version_in(text_of(document, "nccl_version"));
  take_played(document, reading.log);
  take_rows(input, document, reading);
  return reading;
}

}  // namespace ringwright::traces
