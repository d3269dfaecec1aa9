#include "traces/file_kinds.h"

#include <algorithm>
#include <array>
#include <filesystem>

#include <fmt/format.h>

#include "core/config/text_lines.h"
#include "traces/chakra/json_reader.h"
#include "traces/chakra/pytorch_trace.h"
#include "traces/chakra/rank_files.h"
#include "traces/chakra/record_reader.h"
#include "traces/chakra/summary.h"
#include "traces/goal/goal_file.h"
#include "traces/input/byte_stream.h"
#include "traces/inspector/log_file.h"
#include "traces/kineto/host_link.h"
#include "traces/kineto/kineto_file.h"
#include "traces/nccl_tests/collective_log.h"
#include "traces/text_workload/summary.h"
#include "traces/text_workload/text_workload.h"

namespace ringwright::traces {
namespace {

// The output of nccl-tests and rccl-tests: printed, as JSON, or as a table.
bool looks_like_collective_log(std::string_view beginning) {
  const std::array printed = {std::string_view("# nThread "), std::string_view("busbw"),
                              std::string_view("size_bytes,"), std::string_view("\"average_bus_bandwidth\""),
                              std::string_view("\"out_of_place\"")};
  return std::ranges::any_of(printed,
                             [&](std::string_view words) { return beginning.find(words) != std::string::npos; });
}

FileSummary inspect_collective_log(const std::string& path) {
  FileSummary summary;
  auto reading = read_collective_log(path);
  if (!reading) {
    summary.problems = std::move(reading.error());
    return summary;
  }
  const CollectiveLog& log = reading->log;
  summary.problems = std::move(reading->warnings);
  summary.facts = {{.name = "collective", .value = log.operation},
                   {.name = "ranks", .value = std::int64_t{log.ranks}},
                   {.name = "rows", .value = static_cast<std::int64_t>(log.rows.size())}};
  if (!log.gpu.empty()) summary.facts.push_back({.name = "gpu", .value = log.gpu});
  if (!log.version_of_library.empty()) summary.facts.push_back({.name = "library", .value = log.version_of_library});
  SummaryTable table{.title = "measured", .columns = {"size", "time"}, .rows = {}};
  for (const CollectiveRow& row : log.rows) {
    if (row.time()) table.rows.push_back({row.size, *row.time()});
  }
  summary.tables.push_back(std::move(table));
  return summary;
}

constexpr std::string_view kChakraUse =
    "a scenario with a 'cluster' and 'workload: {chakra: PREFIX}' replays PREFIX.RANK.et (or .json) of all ranks";

constexpr std::array kKinds = {
    FileKind{"chakra", "Chakra execution trace", kChakraUse, looks_like_chakra_records, summarise_chakra_file},
    FileKind{"chakra-json", "Chakra execution trace in JSON", kChakraUse, looks_like_chakra_json,
             summarise_chakra_file},
    FileKind{"goal", "GOAL schedule", "a scenario with a 'cluster' and 'workload: {goal: FILE}' replays it",
             looks_like_goal, summarise_goal_file},
    FileKind{"text-workload", "text workload of ASTRA-sim 1.0 or SimAI",
             "a scenario with a 'cluster' and 'workload: {text: FILE}' replays it", looks_like_text_workload,
             summarise_text_workload},
    FileKind{"pytorch-et", "PyTorch execution trace of the host", "", looks_like_pytorch_trace,
             summarise_pytorch_trace},
    FileKind{"kineto", "trace of PyTorch's profiler",
             "a scenario with a 'cluster' and 'workload: {kineto: [FILE]}' replays it, and `ringwright validate "
             "kineto` compares it",
             looks_like_kineto, summarise_kineto_file},
    FileKind{"communication-log", "log of NCCL Inspector, or dump of PyTorch's Flight Recorder",
             "`ringwright validate nccl-inspector` compares it", looks_like_communication_log,
             summarise_communication_log_file},
    FileKind{"nccl-tests", "output of nccl-tests or rccl-tests", "`ringwright validate nccl` compares it",
             looks_like_collective_log, inspect_collective_log},
};

Result<std::string> beginning_of(const std::string& path) {
  auto bytes = ByteStream::open(path);
  if (!bytes) return tl::unexpected(failure("E252", "cannot read it: " + bytes.error(), {.file = path}));
  std::string beginning(kBeginningBytes, '\0');
  const auto got = bytes->read(beginning);
  if (!got) return tl::unexpected(failure("E252", "cannot read it: " + got.error(), {.file = path}));
  beginning.resize(*got);
  return beginning;
}

std::string known_kinds() {
  std::string text;
  for (const FileKind& kind : kKinds) text += fmt::format("{}{}", text.empty() ? "" : ", ", kind.doc);
  return "traces and logs that are read: " + text +
         ". Configurations (config.json, DeepSpeed, Megatron-LM's scripts) are named in a scenario";
}

}  // namespace

std::span<const FileKind> file_kinds() {
  return kKinds;
}

const FileKind* kind_of_content(std::string_view beginning) {
  beginning = without_byte_order_mark(beginning);
  const auto* found = std::ranges::find_if(kKinds, [&](const FileKind& kind) { return kind.matches(beginning); });
  return found == kKinds.end() ? nullptr : found;
}

const FileKind* kind_of_file(const std::string& path) {
  const auto beginning = beginning_of(path);
  return beginning ? kind_of_content(*beginning) : nullptr;
}

Result<InspectedFile> inspect_file(const std::string& path) {
  std::error_code error;
  const bool is_prefix = !std::filesystem::is_regular_file(path, error) && has_rank_files(path);
  if (is_prefix) {
    return InspectedFile{.path = path,
                         .kind = "chakra-job",
                         .doc = "Chakra execution traces of a job",
                         .summary = summarise_chakra_job(path)};
  }
  if (std::filesystem::is_directory(path, error)) {
    return InspectedFile{.path = path,
                         .kind = "communication-log",
                         .doc = "folder of communication logs",
                         .summary = summarise_communication_log_file(path)};
  }
  const auto beginning = beginning_of(path);
  if (!beginning) return tl::unexpected(beginning.error());
  const FileKind* const kind = kind_of_content(*beginning);
  if (is_utf16(*beginning)) {
    return tl::unexpected(failure("E252", fmt::format("cannot read it: {}", kUtf16Refused), {.file = path}));
  }
  if (kind == nullptr) {
    return tl::unexpected(failure("E252", "it is no trace or log of a known kind", {.file = path}, known_kinds()));
  }
  return InspectedFile{.path = path, .kind = kind->name, .doc = kind->doc, .summary = kind->inspect(path)};
}

std::vector<InspectedFile> inspect_together(const std::vector<InspectedFile>& files) {
  std::vector<std::string> kineto, logs, hosts;
  for (const InspectedFile& file : files) {
    if (file.summary.problems.has_errors()) continue;
    if (file.kind == "kineto") kineto.push_back(file.path);
    if (file.kind == "communication-log") logs.push_back(file.path);
    if (file.kind == "pytorch-et") hosts.push_back(file.path);
  }
  std::vector<InspectedFile> together;
  const auto add = [&](const std::vector<std::string>& paths, std::string_view kind, std::string_view doc,
                       FileSummary (*summarise)(const std::vector<std::string>&)) {
    if (paths.size() < 2) return;
    InspectedFile joined{
        .path = fmt::format("{} files together", paths.size()), .kind = kind, .doc = doc, .summary = summarise(paths)};
    // Warnings are those of the files, which have been shown.
    if (!joined.summary.problems.has_errors()) joined.summary.problems = {};
    together.push_back(std::move(joined));
  };
  add(kineto, "kineto-job", "traces of PyTorch's profiler of a job", summarise_kineto_job);
  add(logs, "communication-log-job", "communication logs of a job", summarise_communication_log_job);
  const std::vector<std::size_t> profiles = profiles_of_hosts(hosts, kineto);
  for (std::size_t i = 0; i < hosts.size(); ++i) {
    if (profiles[i] == kNoProfile) continue;
    const std::string& profile = kineto[profiles[i]];
    together.push_back({.path = fmt::format("{} with {}", hosts[i], profile),
                        .kind = "pytorch-et-kineto",
                        .doc = "operators of the host, and the work of the GPU that they launched",
                        .summary = summarise_host_link(hosts[i], profile)});
  }
  return together;
}

}  // namespace ringwright::traces
