#include "configs/scenario/trace_job.h"

#include <array>
#include <filesystem>
#include <optional>

#include <fmt/format.h>

#include "core/base/sha256.h"
#include "core/config/input_file.h"
#include "traces/chakra/groups.h"
#include "traces/chakra/job.h"
#include "traces/chakra/replay.h"
#include "traces/chakra/writer.h"

namespace ringwright::configs {
namespace {

constexpr std::array kComputeOptions = {
    Option{"recorded", "as long as the trace says"}, Option{"scaled", "as long as the trace says, times `scale`"},
    Option{"roofline",
           "num_ops at the GPU's peak or tensor_size at its memory bandwidth, whichever is longer, times "
           "`scale`; as recorded where a node has no num_ops"}};

constexpr std::array kPrecisions = {Option{"bf16", ""}, Option{"fp16", ""}, Option{"fp8", ""}, Option{"tf32", ""},
                                    Option{"fp32", ""}};

DataType precision_of(std::string_view word) {
  for (const DataType type : {DataType::kBf16, DataType::kFp16, DataType::kFp8, DataType::kTf32, DataType::kFp32}) {
    if (to_string(type) == word) return type;
  }
  return DataType::kBf16;
}

// Identifies what a replay uses of the traces.
std::string digest(const traces::ChakraJob& job) {
  std::string all;
  std::vector<std::string> of_trace;
  for (const traces::ChakraTrace& trace : job.traces) of_trace.push_back(sha256(traces::chakra_records(trace)));
  for (const std::uint32_t trace : job.trace_of) all += of_trace[trace];
  return sha256(all);
}

void add_to(Diagnostics& to, const Diagnostics& found) {
  for (const Diagnostic& problem : found.all()) to.add(problem);
}

// Relative to the file that names it; for --set, to the working directory.
std::string next_to_document(const ConfigMap& map, std::string_view key, const std::string& name) {
  const std::string file = map.place(key).file;
  const bool from_command = file.starts_with("--");
  return ((from_command ? std::filesystem::path() : std::filesystem::path(file).parent_path()) / name)
      .lexically_normal()
      .string();
}

struct Settings {
  std::string prefix;
  std::optional<InputFile> groups;
  traces::ReplayOptions options;
};

Settings read_settings(ConfigMap& map, const workload::GpuSpec& gpu, TraceJob& job) {
  Settings settings;
  const std::string name = map.text({.name = "chakra",
                                     .doc = "Chakra execution traces PREFIX.RANK.et of a recorded step, one per rank, "
                                            "to replay; relative to this file"});
  settings.prefix = map.documenting() ? name : next_to_document(map, "chakra", name);
  job.name = std::filesystem::path(name).filename().string();
  settings.groups = map.file({.name = "groups",
                              .doc = "process groups of the traces: a JSON file {\"1\": [0, 1], ...}; default: those "
                                     "that the traces define, else all ranks",
                              .fallback = std::string()});
  job.compute = map.choice({.name = "compute", .doc = "the time of computing", .fallback = std::string("recorded")},
                           kComputeOptions);
  const bool roofline = job.compute == "roofline";
  if (roofline) settings.options.times = traces::ReplayTimes::kRoofline;
  if (job.compute != "recorded" || map.documenting()) {
    settings.options.scale =
        map.number({.name = "scale", .doc = "factor of all computing times", .fallback = 1.0, .min = 0.0, .max = 1e6});
  } else if (map.has("scale")) {
    map.ignore("scale", "'workload.compute: recorded' leaves times as they are; take 'scaled'");
  }
  if (roofline || map.documenting()) {
    job.precision = precision_of(map.choice(
        {.name = "precision", .doc = "type whose peak bounds num_ops", .fallback = std::string("bf16")}, kPrecisions));
    settings.options.peak = gpu.peak_of(job.precision);
    settings.options.memory = gpu.memory_bandwidth;
    if (!map.documenting() && !(settings.options.peak > FlopRate(0.0))) {
      map.error("precision", "E135",
                fmt::format("{} has no {} arithmetic (cluster.node.gpu.peak)", gpu.name, to_string(job.precision)));
    }
  } else if (map.has("precision")) {
    map.ignore("precision", "only 'workload.compute: roofline' computes times");
  }
  return settings;
}

void warn_about(const traces::ChakraReplay& replay, bool roofline, ConfigMap& map) {
  const std::int64_t all = replay.recorded + replay.computed + replay.without_time;
  if (replay.without_time > 0) {
    map.warn("chakra", "W251",
             fmt::format("{} of {} nodes that compute have no duration and take no time", replay.without_time, all));
  }
  if (roofline && replay.recorded > 0) {
    map.warn(
        "compute", "W251",
        fmt::format("{} of {} nodes that compute have no num_ops: they take the recorded time", replay.recorded, all));
  }
}

}  // namespace

TraceJob read_trace_job(ConfigMap& map, const workload::GpuSpec& gpu, std::int64_t ranks, Diagnostics& foreign) {
  TraceJob job;
  const Settings settings = read_settings(map, gpu, job);
  if (map.documenting() || job.name.empty()) return job;
  auto reading = traces::read_chakra_job(settings.prefix, static_cast<std::size_t>(ranks));
  if (!reading) {
    add_to(foreign, reading.error());
    return job;
  }
  add_to(foreign, reading->warnings);
  auto groups = settings.groups
                    ? traces::parse_group_file(settings.groups->path, settings.groups->text, reading->job.ranks())
                    : traces::groups_in_traces(reading->job);
  if (!groups) {
    add_to(foreign, groups.error());
    return job;
  }
  auto replay = traces::replay_chakra(reading->job, *groups, settings.options);
  if (!replay) {
    add_to(foreign, replay.error());
    return job;
  }
  warn_about(*replay, job.compute == "roofline", map);
  map.note_content("chakra", job.name, digest(reading->job));
  job.operations = Flops(replay->operations);
  job.graph = std::move(replay->graph);
  return job;
}

std::vector<std::string> dimension_names_of(const TraceJob& trace) {
  std::vector<std::string> names;
  for (const Dimension& dimension : trace.graph.dimensions) names.push_back(dimension.name);
  return names;
}

}  // namespace ringwright::configs
