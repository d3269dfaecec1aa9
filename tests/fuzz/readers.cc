#include "tests/fuzz/readers.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "collectives/msccl/execution_plan.h"
#include "collectives/msccl/program.h"
#include "collectives/nccl/cost/tuner_file.h"
#include "collectives/nccl/search/graph_file.h"
#include "configs/scenario/imports/huggingface/model_import.h"
#include "configs/scenario/imports/imports.h"
#include "configs/scenario/imports/megatron_file.h"
#include "configs/scenario/scenario.h"
#include "core/base/check.h"
#include "network_models/imports/graph_file.h"
#include "network_models/imports/graph_file_yaml.h"
#include "network_models/imports/node_import.h"
#include "network_models/topologies/dimensions/network_file.h"
#include "planning/compare/comparison.h"
#include "planning/operation/goodput_file.h"
#include "planning/report/page.h"
#include "planning/sweep/sweep_file.h"
#include "tests/fuzz/config_reader.h"
#include "traces/astra/memory_file.h"
#include "traces/astra/system_file.h"
#include "traces/chakra/groups.h"
#include "traces/chakra/reader.h"
#include "traces/chakra/replay.h"
#include "traces/chakra/writer.h"
#include "traces/cluster_logs/job_log.h"
#include "traces/file_kinds.h"
#include "traces/goal/binary_form.h"
#include "traces/goal/goal_file.h"
#include "traces/goal/text_reader.h"
#include "traces/inspector/communication_log.h"
#include "traces/kineto/host_link.h"
#include "traces/kineto/kineto_trace.h"
#include "traces/kineto/replay.h"
#include "traces/nccl_tests/collective_log.h"
#include "traces/text_workload/layer_loop.h"
#include "traces/text_workload/text_workload.h"
#include "validation/gpu/interference_table.h"
#include "validation/gpu/primitives_table.h"
#include "validation/kernels/kernel_table.h"
#include "validation/left_out/left_out_collectives.h"
#include "validation/left_out/left_out_steps.h"
#include "validation/mpi/mpi_table.h"
#include "validation/nccl/machine_list.h"
#include "validation/tables/csv_table.h"
#include "validation/training/row.h"
#include "validation/training/vocabulary.h"
#include "workload/pipeline/schedule_file.h"

namespace ringwright::fuzz {
namespace {

template <typename Value>
void check_result(const Result<Value>& result) {
  if (result) return;
  CHECK(result.error().has_errors(), "a failure has an error");
  CHECK(!render(result.error()).empty(), "a failure can be shown");
}

template <auto kParse>
void name_first(std::string_view text) {
  check_result(kParse("file", text));
}

template <auto kParse>
void text_first(std::string_view text) {
  check_result(kParse(text, "file"));
}

// JSON when it begins with '{', else YAML.
template <typename Use>
void document(std::string_view text, const Use& use) {
  const std::string name = text.substr(0, 1) == "{" ? "fuzz.json" : "fuzz.yaml";
  auto loaded = ConfigDocument::load_text(name, text);
  check_result(loaded);
  if (!loaded) return;
  use(*loaded);
  CHECK(!loaded->log().diagnostics().has_errors() || !render(loaded->log().diagnostics()).empty(),
        "what was found can be shown");
}

void result_page(std::string_view text) {
  auto json = planning::parse_json("result.json", text);
  check_result(json);
  if (!json) return;
  const auto section = planning::section_of({.name = "result.json", .json = std::move(*json)});
  check_result(section);
  if (section) static_cast<void>(planning::page_data({&*section, 1}));
}

// A scenario that a text names would be simulated.
void goodput_file(std::string_view text) {
  if (text.find("scenario") != std::string_view::npos) return;
  check_result(planning::load_goodput_text("file", text, {}, {.threads = 1, .progress = {}}));
}

void node_of_nccl(std::string_view text) {
  const auto node = network_models::parse_nccl_topology(std::string(text), "topo.xml");
  check_result(node);
  if (node) static_cast<void>(network_models::node_text(*node, "topo.xml"));
}

void node_of_smi(std::string_view text) {
  const auto node = network_models::parse_smi_topology(std::string(text), "topo.txt");
  check_result(node);
  if (node) static_cast<void>(network_models::node_text(*node, "topo.txt"));
}

void graph_document(std::string_view text) {
  auto loaded = ConfigDocument::load_text(text.substr(0, 1) == "{" ? "fuzz.json" : "fuzz.yaml", text);
  check_result(loaded);
  if (loaded) check_result(network_models::read_graph_document(std::move(*loaded)));
}

void hugging_face(std::string_view text) {
  auto scenario = ConfigDocument::load_text("job.yaml", "model: {seq_length: 128}\n").value();
  document(text, [&](ConfigDocument& config) {
    ConfigMap root = config.root();
    ConfigMap model = scenario.root().map("model", "the model");
    static_cast<void>(configs::read_hf_model(root, model));
  });
}

void schedule(std::string_view text) {
  document(text, [](ConfigDocument& file) {
    ConfigMap root = file.root();
    const auto listed = workload::read_listed_schedule(root);
    workload::check_listed_schedule(root, listed, 2, 4);
  });
}

template <auto kRead>
void settings(std::string_view text) {
  document(text, [](ConfigDocument& file) {
    configs::Imports imports;
    kRead(file.root(), imports);
  });
}

template <class Value, Value (*kRead)(ConfigMap& root)>
void astra(std::string_view text) {
  document(text, [](ConfigDocument& file) {
    ConfigMap root = file.root();
    static_cast<void>(kRead(root));
  });
}

void deepspeed(std::string_view text) {
  document(text, [](ConfigDocument& file) {
    configs::Imports imports;
    configs::read_deepspeed(file.root(), {.replicas = 8}, imports);
  });
}

void fsdp(std::string_view text) {
  document(text, [](ConfigDocument& file) {
    configs::Imports imports;
    configs::read_fsdp_config(file.root(), {.ranks = 8, .replicas = 8}, imports);
  });
}

void megatron(std::string_view text) {
  ConfigSource source{.name = "run.sh", .kind = SourceKind::kFile, .path = "run.sh", .lines = {}};
  Diagnostics problems;
  const auto tree = configs::import_run(text, source, problems);
  CHECK(tree || problems.has_errors(), "a failure has an error");
  static_cast<void>(render(problems));
}

void training_rows(std::string_view text) {
  const auto table = validation::parse_csv("runs.csv", text);
  check_result(table);
  if (table) check_result(validation::read_training_rows(*table));
}

void scenario(std::string_view text) { check_result(configs::load_scenario_text("fuzz.yaml", text)); }

// What can be read can be replayed.
void kineto(std::string_view text) {
  const auto reading = traces::read_kineto_text("file", text);
  check_result(reading);
  if (!reading) return;
  const auto ranks = static_cast<std::size_t>(std::clamp(reading->trace.world_size, 1, 64));
  const auto made = traces::kineto_as_job({reading->trace}, ranks);
  check_result(made);
  if (made) check_result(traces::replay_chakra(made->job, made->groups));
}

// For readers of streams, which open files by name.
template <typename Use>
void with_file(std::string_view text, const Use& use) {
  const std::string path = (std::filesystem::temp_directory_path() / fmt::format("fuzz.{}.trace", ::getpid())).string();
  std::ofstream(path, std::ios::binary) << text;
  use(path);
  std::filesystem::remove(path);
}

// What can be read can be checked, replayed and written.
void chakra(std::string_view text) {
  with_file(text, [](const std::string& path) {
    auto reading = traces::read_chakra(path);
    check_result(reading);
    if (!reading) return;
    static_cast<void>(traces::chakra_records(reading->trace));
    traces::ChakraJob job{.prefix = path, .traces = {}, .trace_of = {0, 0}};
    job.traces.push_back(std::move(reading->trace));
    const auto groups = traces::groups_in_traces(job);
    check_result(groups);
    const auto replay = traces::replay_chakra(job, groups ? *groups : traces::ChakraGroups());
    check_result(replay);
    if (replay) CHECK(check_task_graph(replay->graph).empty(), "a replay is a sound plan");
  });
}

// The execution trace of a host and the profiler's trace of its process in one file: each reader takes its members.
void host_link(std::string_view text) {
  with_file(text, [](const std::string& path) { static_cast<void>(traces::summarise_host_link(path, path)); });
}

void trace_file(std::string_view text) {
  with_file(text, [](const std::string& path) {
    const auto inspected = traces::inspect_file(path);
    check_result(inspected);
    if (inspected) static_cast<void>(render(inspected->summary.problems));
  });
}

void chakra_groups(std::string_view text) { check_result(traces::parse_group_file("groups.json", text, 64)); }

// What is read can be written and read again, and is the same then.
void job_log(std::string_view text) {
  using traces::JobLogForm;
  for (const JobLogForm form : {JobLogForm::kPhilly, JobLogForm::kPai, JobLogForm::kAcme, JobLogForm::kCsv}) {
    static_cast<void>(traces::parse_job_log("file", text, form));
  }
}

void goal(std::string_view text) {
  const bool binary = traces::looks_like_goal_binary(text);
  const auto schedule = binary ? traces::parse_goal_binary("file", text) : traces::parse_goal_text("file", text);
  check_result(schedule);
  if (!schedule) return;
  const auto again = traces::parse_goal_binary("file", traces::goal_binary(*schedule));
  CHECK(again && again->ranks.size() == schedule->ranks.size(), "a schedule survives its binary form");
  static_cast<void>(traces::replay_chakra(traces::goal_as_job(*schedule), {}));
}

void text_workload(std::string_view text) {
  const auto workload = traces::parse_text_workload("file", text);
  check_result(workload);
  if (!workload) return;
  const auto replay = traces::replay_text_workload(*workload, {.ranks = workload->gpus.value_or(8) % 1'024 + 1});
  if (replay) CHECK(check_task_graph(replay->graph).empty(), check_task_graph(replay->graph));
}

constexpr auto kReaders = std::to_array<Reader>({
    {"astra_memory", astra<traces::AstraMemory, traces::read_astra_memory>},
    {"astra_network", astra<network_models::AstraTopology, network_models::read_astra_network>},
    {"astra_system", astra<traces::AstraSystem, traces::read_astra_system>},
    {"chakra", chakra},
    {"chakra_groups", chakra_groups},
    {"config", load_and_read},
    {"csv", name_first<validation::parse_csv>},
    {"deepspeed", deepspeed},
    {"fsdp", fsdp},
    {"goal", goal},
    {"goodput", goodput_file},
    {"graph", text_first<network_models::parse_graph>},
    {"graph_document", graph_document},
    {"hf", hugging_face},
    {"host_link", host_link},
    {"inspector", name_first<traces::read_communication_log_text>},
    {"interference_table", name_first<validation::parse_interference_table>},
    {"job_log", job_log},
    {"kernel_table", name_first<validation::parse_kernel_table>},
    {"kineto", kineto},
    {"left_out", name_first<validation::parse_left_out>},
    {"left_out_steps", name_first<validation::parse_left_out_steps>},
    {"log", name_first<traces::read_collective_log_text>},
    {"machines", name_first<validation::parse_machines>},
    {"megatron", megatron},
    {"mpi_table", name_first<validation::parse_mpi_table>},
    {"msccl", text_first<collectives::parse_msccl>},
    {"nccl_graph", text_first<collectives::parse_nccl_graphs>},
    {"nccl_topology", node_of_nccl},
    {"plan", text_first<collectives::parse_execution_plan>},
    {"primitives_table", name_first<validation::parse_primitives_table>},
    {"result", result_page},
    {"run_result", name_first<planning::read_result>},
    {"scenario", scenario},
    {"schedule", schedule},
    {"smi_topology", node_of_smi},
    {"sweep", name_first<planning::load_sweep_text>},
    {"tensor_overlap", settings<configs::read_tensor_overlap>},
    {"text_workload", text_workload},
    {"trace_file", trace_file},
    {"training_rows", training_rows},
    {"tuner", text_first<collectives::parse_tuner_file>},
    {"vocabulary", name_first<validation::parse_vocabulary>},
});

}  // namespace

std::span<const Reader> readers() { return kReaders; }

const Reader* find_reader(std::string_view name) {
  const auto found = std::ranges::find(kReaders, name, &Reader::name);
  return found == kReaders.end() ? nullptr : &*found;
}

}  // namespace ringwright::fuzz
