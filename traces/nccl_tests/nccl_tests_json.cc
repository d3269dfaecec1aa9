// The JSON of nccl-tests (-J, version 3): booleans are strings, NaN is the string "nan", and it contains the
// environment of the job, of which only NCCL's own variables are retained.
#include "traces/nccl_tests/nccl_tests_json.h"

#include <algorithm>
#include <set>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "traces/nccl_tests/run_options.h"

namespace ringwright::traces {
namespace {

using Json = nlohmann::json;

constexpr int kVersion = 3;
constexpr int kMostOfAProcess = 1024;  // GPUs

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

void warn(const LogText& input, CollectiveLogReading& reading, std::string why) {
  reading.warnings.add(
      {.severity = Severity::kWarning, .code = "W234", .place = {.file = input.name}, .message = std::move(why)});
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
  return measured_time(size, text_of(*found, "time"), text_of(*found, "alg_bw"));
}

// -C 1: the row has the processor's time to issue a call, and bandwidths that follow from it.
bool is_of_processor(const Json& row) {
  const auto has = [&row](const char* half) {
    const auto found = row.find(half);
    return found != row.end() && found->is_object() && found->contains("cpu_time");
  };
  return row.is_object() && (has("out_of_place") || has("in_place"));
}

bool is_wrong(const Json& row, const char* half) {
  const auto found = row.find(half);
  if (found == row.end() || !found->is_object()) return false;
  return parse_number<double>(text_of(*found, "nwrong")).value_or(0.0) >= 1.0;
}

// A number of `config`; 0: none.
int config_number(const Json& config, const char* key) {
  return parse_number<int>(text_of(config, key)).value_or(0);
}

// The test writes one device for each process, its first, whatever the number of its threads and GPUs (jsonRankInfo in
// src/util.cu of NVIDIA/nccl-tests): then ranks are multiples of that number.
int ranks_of_a_device(const Json& config, const Json& devices) {
  const std::int64_t ranks =
      std::int64_t{std::max(config_number(config, "nthreads"), 1)} * std::max(config_number(config, "ngpus"), 1);
  if (ranks > kMostOfAProcess) return 1;
  const bool firsts = std::ranges::all_of(devices, [&](const Json& device) {
    const auto rank = device.is_object() ? parse_number<int>(text_of(device, "rank")) : std::nullopt;
    return rank && *rank % ranks == 0;
  });
  return firsts ? static_cast<int>(ranks) : 1;
}

void take_devices(const LogText& input, const Json& config, CollectiveLogReading& reading) {
  CollectiveLog& log = reading.log;
  const auto devices = config.find("devices");
  if (devices == config.end() || !devices->is_array()) return;
  const int ranks = ranks_of_a_device(config, *devices);
  std::set<std::string> hosts, groups;
  std::string first_group;
  for (const Json& device : *devices) {
    if (!device.is_object()) continue;
    const std::string gpu = text_of(device, "device_info");
    if (log.gpu.empty()) log.gpu = gpu;
    if (gpu != log.gpu) log.facts["other_gpu"] = gpu;
    const std::string group = text_of(device, "group");
    if (groups.empty()) first_group = group;
    groups.insert(group);
    if (group != first_group) continue;
    log.ranks += ranks;
    hosts.insert(text_of(device, "hostname"));
  }
  log.nodes = static_cast<int>(hosts.size());
  if (log.nodes > 0) log.gpus_per_node = log.ranks / log.nodes;
  if (groups.size() > 1) warn(input, reading, why_groups_differ(groups.size()));
}

void take_config(const LogText& input, const Json& document, CollectiveLogReading& reading) {
  const auto config = document.find("config");
  if (config == document.end() || !config->is_object()) return;
  take_devices(input, *config, reading);
  if (const int gpus = config_number(*config, "ngpus"); gpus > 0) {
    reading.log.facts["gpus_per_process"] = fmt::format("{}", gpus);
  }
  if (text_of(*config, "blocking_collectives") == "true") warn(input, reading, why_blocking_differs());
}

void take_environment(const Json& document, CollectiveLog& log) {
  const auto env = document.find("env");
  if (env == document.end() || !env->is_array()) return;
  std::string kept;
  for (const Json& entry : *env) {
    if (!entry.is_string()) continue;
    const std::string& text = entry.get_ref<const std::string&>();
    const std::size_t equals = text.find('=');
    if (equals == std::string::npos) continue;
    add_variable({.name = text.substr(0, equals), .value = text.substr(equals + 1)}, kept);
  }
  log.facts["env"] = kept;
}

// The word after an option, or after its "=": 4 of "-g 4" and of "--ngpus=4".
std::string option_of(const Json& args, const std::string& letter, const std::string& word) {
  std::string found;
  for (std::size_t i = 1; i < args.size(); ++i) {
    if (!args[i].is_string()) continue;
    const std::string& option = args[i].get_ref<const std::string&>();
    if ((option == letter || option == word) && i + 1 < args.size() && args[i + 1].is_string()) found = args[i + 1];
    if (option.starts_with(word + "=")) found = option.substr(word.size() + 1);
  }
  return found;
}

void take_command(const LogText& input, const Json& document, CollectiveLogReading& reading) {
  CollectiveLog& log = reading.log;
  const auto args = document.find("args");
  if (args == document.end() || !args->is_array() || args->empty() || !args->front().is_string()) return;
  const std::string& program = args->front().get_ref<const std::string&>();
  log.operation = operation_in(program.substr(program.find_last_of('/') + 1));
  // One thread issues the calls of this many GPUs.
  if (const std::string gpus = option_of(*args, "-g", "--ngpus"); !gpus.empty()) {
    log.facts.emplace("gpus_per_process", gpus);
  }
  const auto number = [&](const std::string& letter, const std::string& word) {
    return parse_number<int>(option_of(*args, letter, word)).value_or(0);
  };
  const Json none = Json::object();
  const auto stated = document.find("config");
  const Json& config = stated != document.end() && stated->is_object() ? *stated : none;
  const int together = std::max(number("-m", "--agg_iters"), config_number(config, "aggregated_iterations"));
  if (together > 1) warn(input, reading, why_aggregated_differs(together));
  if (std::max(number("-G", "--cudagraph"), config_number(config, "graph")) > 0)
    warn(input, reading, why_graphs_differ());
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
      if (is_wrong(result, "out_of_place") || is_wrong(result, "in_place")) {
        warn(input, reading, fmt::format("the row of {} bytes has wrong values", row.size.count()));
      }
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
  take_config(input, document, reading);
  take_environment(document, reading.log);
  take_command(input, document, reading);
  reading.log.version_of_library = library_version_in(text_of(document, "nccl_version"));
  take_played(document, reading.log);
  const auto results = document.find("results");
  if (results != document.end() && results->is_array() && std::ranges::any_of(*results, is_of_processor)) {
    return tl::unexpected(failure("E231", std::string(kOfProcessor), {.file = input.name}, std::string(kWithoutC)));
  }
  take_rows(input, document, reading);
  return reading;
}

}  // namespace ringwright::traces
