#include "configs/scenario/trace_job.h"

#include <array>
#include <filesystem>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "core/base/sha256.h"
#include "core/config/input_file.h"
#include "traces/chakra/groups.h"
#include "traces/chakra/job.h"
#include "traces/chakra/rank_files.h"
#include "traces/chakra/replay.h"
#include "traces/chakra/trace_identity.h"
#include "traces/goal/goal_file.h"
#include "traces/kineto/kineto_trace.h"
#include "traces/kineto/replay.h"
#include "traces/text_workload/layer_loop.h"
#include "traces/text_workload/text_workload.h"

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
  std::vector<std::string> of_trace(job.traces.size());
#pragma omp parallel for schedule(dynamic)
  for (std::size_t trace = 0; trace < of_trace.size(); ++trace) {
    of_trace[trace] = sha256(traces::trace_identity(job.traces[trace]));
  }
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
  std::string prefix;  // of Chakra traces; empty: one of the next two
  std::string goal;
  std::string text;
  std::vector<std::string> kineto;
  std::optional<InputFile> groups;
  traces::ReplayOptions options;
};

// Which of the kinds of recordings the scenario names; "chakra" where it names none.
std::string_view recording_kind(ConfigMap& map) {
  std::string_view named;
  for (const std::string_view kind : {"chakra", "goal", "text", "kineto"}) {
    if (!map.has(kind)) continue;
    if (!named.empty()) {
      map.error(kind, "E391",
                fmt::format("{} and {} both name the recorded step", map.path_of(named), map.path_of(kind)),
                "keep one of them");
    }
    named = kind;
  }
  return named.empty() ? "chakra" : named;
}

// The file of a recorded step without process groups of its own.
std::string read_one_file(ConfigMap& map, std::string_view key, std::string_view doc, TraceJob& job) {
  const std::string name = map.text({.name = key, .doc = doc, .fallback = std::string()});
  if (map.documenting()) return name;
  job.name = std::filesystem::path(name).filename().string();
  if (map.has("groups")) map.ignore("groups", fmt::format("'{}' has no process groups by name", map.path_of(key)));
  return next_to_document(map, key, name);
}

// Traces of PyTorch's profiler.
void read_profiles(ConfigMap& map, Settings& settings, TraceJob& job) {
  const std::vector<std::string> names =
      map.texts({.name = "kineto",
                 .doc = "traces of PyTorch's profiler (JSON, also gzip) whose last marked step is replayed: of all "
                        "ranks, or of one that stands for all; relative to this file",
                 .fallback = std::string()});
  if (map.documenting()) return;
  if (map.has("groups")) map.ignore("groups", "'workload.kineto' names its process groups");
  for (const std::string& name : names) settings.kineto.push_back(next_to_document(map, "kineto", name));
  if (!names.empty()) job.name = std::filesystem::path(names.front()).filename().string();
}

// The files of the recorded step: `chakra` and `groups`, `goal`, `text`, or `kineto`.
void read_recording(ConfigMap& map, std::string_view kind, Settings& settings, TraceJob& job) {
  if (kind == "goal" || map.documenting()) {
    settings.goal = read_one_file(map, "goal",
                                  "a GOAL schedule (text or binary) of a recorded step, in nanoseconds, to replay; "
                                  "relative to this file",
                                  job);
  }
  if (kind == "text" || map.documenting()) {
    settings.text = read_one_file(map, "text",
                                  "a text workload of ASTRA-sim 1.0 or SimAI (AICB), in nanoseconds, to replay; "
                                  "relative to this file",
                                  job);
  }
  if (kind == "kineto" || map.documenting()) read_profiles(map, settings, job);
  if (kind != "chakra") return;
  const std::string name = map.text({.name = "chakra",
                                     .doc = "Chakra execution traces PREFIX.RANK.et of a recorded step, one per rank, "
                                            "to replay; relative to this file"});
  settings.prefix = map.documenting() ? name : next_to_document(map, "chakra", name);
  job.name = std::filesystem::path(name).filename().string();
  settings.groups = map.file({.name = "groups",
                              .doc = "process groups of the traces: a JSON file {\"1\": [0, 1], ...}; default: those "
                                     "that the traces define, else all ranks",
                              .fallback = std::string()});
}

// The recorded job as one of several data-parallel replicas. False after a mistake.
bool read_replicas(ConfigMap& map, const Settings& settings, std::int64_t gpus, traces::ReplicaOptions& replicas) {
  const std::int64_t count =
      map.integer({.name = "replicas",
                   .doc = "data-parallel replicas of the recorded job: the cluster has `replicas` times as many GPUs "
                          "as there are recorded ranks, and data-parallel groups have the members of all",
                   .fallback = std::int64_t{1},
                   .min = 1,
                   .max = std::int64_t{traces::kMostTraceRanks}});
  const bool groups = map.has("data_parallel_groups");
  if (count > 1 || map.documenting()) {
    replicas.data_parallel =
        map.texts({.name = "data_parallel_groups",
                   .doc = "names of the recorded process groups that get the ranks of all replicas; default: those of "
                          "all recorded ranks",
                   .fallback = std::string()});
  } else if (groups) {
    map.ignore("data_parallel_groups", "'workload.replicas' is 1");
  }
  if (count == 1 || map.documenting()) return true;
  if (settings.prefix.empty() && settings.kineto.empty()) {
    map.error("replicas", "E626",
              "only Chakra and Kineto traces can be replicated: other recordings have no process groups",
              "workload: { chakra: PREFIX, groups: PREFIX.groups.json }");
  } else if (gpus % count != 0) {
    map.error("replicas", "E626", fmt::format("{} GPUs are not a multiple of {} replicas", gpus, count),
              "change cluster.nodes or cluster.node.gpus");
  } else {
    replicas.count = static_cast<std::uint32_t>(count);
    return true;
  }
  return false;
}

Settings read_settings(ConfigMap& map, const TraceMachine& machine, TraceJob& job) {
  const workload::GpuSpec& gpu = machine.gpu;
  Settings settings;
  const std::string_view kind = recording_kind(map);
  read_recording(map, kind, settings, job);
  if (job.name.empty() && map.has(kind) && !map.documenting()) {
    map.error(kind, "E391", fmt::format("'{}' names no file", map.path_of(kind)));
  }
  if (!read_replicas(map, settings, machine.ranks, settings.options.replicas)) job.name.clear();
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
    map.warn(recording_kind(map), "W251",
             fmt::format("{} of {} nodes that compute have no duration and take no time", replay.without_time, all));
  }
  const bool chakra = recording_kind(map) == "chakra";
  if (chakra && replay.without_bytes > 0) {
    map.warn("chakra", "W251", fmt::format("{} collectives have comm_size 0 and take no time", replay.without_bytes));
  }
  if (chakra && replay.without_kind > 0) {
    map.warn("chakra", "W251", fmt::format("{} nodes of type INVALID_NODE are left out", replay.without_kind));
  }
  if (replay.in_some_dimensions > 0) {
    map.warn("chakra", "W251",
             fmt::format("{} collectives name some dimensions of a network only (involved_dim); all members of their "
                         "group take part",
                         replay.in_some_dimensions));
  }
  if (roofline && replay.recorded > 0) {
    map.warn(
        "compute", "W251",
        fmt::format("{} of {} nodes that compute have no num_ops: they take the recorded time", replay.recorded, all));
  }
}

// What the files of a recorded step hold.
struct Recording {
  traces::ChakraJob job;
  traces::ChakraGroups groups;
  Duration time;  // of the step, where it is recorded
};

Result<Recording> read_schedule(const std::string& path, std::int64_t ranks) {
  auto schedule = traces::read_goal(path);
  if (!schedule) return tl::unexpected(std::move(schedule.error()));
  if (std::cmp_not_equal(schedule->ranks.size(), ranks)) {
    return tl::unexpected(
        failure("E390", fmt::format("the schedule has {} ranks and the cluster {} GPUs", schedule->ranks.size(), ranks),
                {.file = path}, "each rank is a GPU: change cluster.nodes or cluster.node.gpus"));
  }
  return Recording{.job = traces::goal_as_job(*schedule), .groups = {}};
}

Result<Recording> read_traces(const Settings& settings, std::int64_t ranks, Diagnostics& foreign) {
  auto reading = traces::read_chakra_job(settings.prefix, static_cast<std::size_t>(ranks));
  if (!reading) return tl::unexpected(std::move(reading.error()));
  add_to(foreign, reading->warnings);
  auto groups = settings.groups
                    ? traces::parse_group_file(settings.groups->path, settings.groups->text, reading->job.ranks())
                    : traces::groups_in_traces(reading->job);
  if (!groups) return tl::unexpected(std::move(groups.error()));
  return Recording{.job = std::move(reading->job), .groups = std::move(*groups)};
}

Result<Recording> read_profiled_step(const Settings& settings, std::int64_t ranks, Diagnostics& foreign) {
  std::vector<traces::KinetoTrace> read;
  for (const std::string& path : settings.kineto) {
    auto reading = traces::read_kineto(path);
    if (!reading) return tl::unexpected(std::move(reading.error()));
    add_to(foreign, reading->warnings);
    read.push_back(std::move(reading->trace));
  }
  auto made = traces::kineto_as_job(read, static_cast<std::size_t>(ranks), settings.options.scale);
  if (!made) return tl::unexpected(std::move(made.error()));
  add_to(foreign, made->warnings);
  return Recording{.job = std::move(made->job), .groups = std::move(made->groups), .time = made->recorded};
}

// Mistakes go into `foreign`; empty then.
std::optional<Recording> read_files(const Settings& settings, std::int64_t ranks, Diagnostics& foreign) {
  auto recording = !settings.goal.empty()     ? read_schedule(settings.goal, ranks)
                   : !settings.kineto.empty() ? read_profiled_step(settings, ranks, foreign)
                                              : read_traces(settings, ranks, foreign);
  if (recording) return std::move(*recording);
  add_to(foreign, recording.error());
  return std::nullopt;
}

}  // namespace

namespace {

// Into `job`; mistakes go into `foreign`.
void replay_text(const Settings& settings, const TraceMachine& machine, ConfigMap& map, Diagnostics& foreign,
                 TraceJob& job) {
  const auto workload = traces::read_text_workload(settings.text);
  if (!workload) return add_to(foreign, workload.error());
  auto replay = traces::replay_text_workload(
      *workload, {.ranks = machine.ranks, .gpus_per_host = machine.gpus_per_host}, settings.options.scale);
  if (!replay) return add_to(foreign, replay.error());
  add_to(foreign, replay->warnings);
  if (job.compute == "roofline") {
    map.warn("compute", "W251", "the rows of a text workload have no num_ops: they take the recorded time");
  }
  map.note_content("text", job.name, workload->digest);
  job.graph = std::move(replay->graph);
}

// A schedule's cycles are named by lines of its file, which its traces do not have.
Diagnostics by_line(const Settings& settings, const Diagnostics& problems) {
  if (settings.goal.empty()) return problems;
  const auto schedule = traces::read_goal(settings.goal);
  Diagnostics cycles = schedule ? traces::find_goal_cycles(*schedule) : Diagnostics();
  return cycles.has_errors() ? std::move(cycles) : problems;
}

}  // namespace

TraceJob read_trace_job(ConfigMap& map, const TraceMachine& machine, Diagnostics& foreign) {
  TraceJob job;
  const Settings settings = read_settings(map, machine, job);
  if (map.documenting() || job.name.empty()) return job;
  if (!settings.text.empty()) {
    replay_text(settings, machine, map, foreign, job);
    return job;
  }
  const std::int64_t recorded_ranks = machine.ranks / settings.options.replicas.count;
  const std::optional<Recording> recording = read_files(settings, recorded_ranks, foreign);
  if (!recording) return job;
  traces::ReplayOptions options = settings.options;
  if (!settings.kineto.empty()) options.scale = 1.0;  // the times of the job are scaled already
  auto replay = traces::replay_chakra(recording->job, recording->groups, options);
  if (!replay) {
    add_to(foreign, by_line(settings, replay.error()));
    return job;
  }
  const bool schedule = !settings.goal.empty();
  // A calc of no length is how a schedule joins its branches; a kernel within another one of its stream takes none.
  if (schedule || !settings.kineto.empty()) replay->without_time = 0;
  add_to(foreign, replay->warnings);
  warn_about(*replay, job.compute == "roofline", map);
  map.note_content(recording_kind(map), job.name, digest(recording->job));
  job.recorded = recording->time;
  job.replicas = settings.options.replicas.count;
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
