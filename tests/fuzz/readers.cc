#include "tests/fuzz/readers.h"

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "collectives/msccl/execution_plan.h"
#include "collectives/msccl/program.h"
#include "collectives/nccl/cost/tuner_file.h"
#include "collectives/nccl/search/graph_file.h"
#include "configs/scenario/imports/imports.h"
#include "configs/scenario/imports/megatron/megatron_import.h"
#include "configs/scenario/scenario.h"
#include "core/base/check.h"
#include "network_models/imports/graph_file.h"
#include "network_models/imports/graph_file_yaml.h"
#include "network_models/imports/node_import.h"
#include "tests/fuzz/config_reader.h"
#include "traces/astra/network_file.h"
#include "traces/astra/system_file.h"
#include "traces/collective_log.h"
#include "validation/gpu/interference_table.h"
#include "validation/gpu/primitives_table.h"
#include "validation/kernels/kernel_table.h"
#include "validation/mpi/mpi_table.h"
#include "validation/nccl/class_values.h"
#include "validation/nccl/machine_list.h"
#include "validation/tables/csv_table.h"
#include "validation/training/training_row.h"
#include "workload/model/hf_config.h"
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
    static_cast<void>(workload::read_hf_model(root, model));
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

void megatron(std::string_view text) {
  ConfigSource source{.name = "run.sh", .kind = SourceKind::kFile, .path = "run.sh", .lines = {}};
  Diagnostics problems;
  const auto tree = configs::import_megatron(text, source, problems);
  CHECK(tree || problems.has_errors(), "a failure has an error");
  static_cast<void>(render(problems));
}

void training_rows(std::string_view text) {
  const auto table = validation::parse_csv("runs.csv", text);
  check_result(table);
  if (table) check_result(validation::read_training_rows(*table));
}

void scenario(std::string_view text) { check_result(configs::load_scenario_text("fuzz.yaml", text)); }

constexpr std::array<Reader, 28> kReaders = {{
    {"astra_memory", astra<traces::AstraMemory, traces::read_astra_memory>},
    {"astra_network", astra<traces::AstraNetwork, traces::read_astra_network>},
    {"astra_system", astra<traces::AstraSystem, traces::read_astra_system>},
    {"class_values", name_first<validation::parse_class_values>},
    {"config", load_and_read},
    {"csv", name_first<validation::parse_csv>},
    {"deepspeed", deepspeed},
    {"fsdp", settings<configs::read_fsdp_config>},
    {"graph", text_first<network_models::parse_graph>},
    {"graph_document", graph_document},
    {"hf", hugging_face},
    {"interference_table", name_first<validation::parse_interference_table>},
    {"kernel_table", name_first<validation::parse_kernel_table>},
    {"log", name_first<traces::read_collective_log_text>},
    {"machines", name_first<validation::parse_machines>},
    {"megatron", megatron},
    {"mpi_table", name_first<validation::parse_mpi_table>},
    {"msccl", text_first<collectives::parse_msccl>},
    {"nccl_graph", text_first<collectives::parse_nccl_graphs>},
    {"nccl_topology", node_of_nccl},
    {"plan", text_first<collectives::parse_execution_plan>},
    {"primitives_table", name_first<validation::parse_primitives_table>},
    {"scenario", scenario},
    {"schedule", schedule},
    {"smi_topology", node_of_smi},
    {"tensor_overlap", settings<configs::read_tensor_overlap>},
    {"training_rows", training_rows},
    {"tuner", text_first<collectives::parse_tuner_file>},
}};

}  // namespace

std::span<const Reader> readers() { return kReaders; }

const Reader* find_reader(std::string_view name) {
  const auto found = std::ranges::find(kReaders, name, &Reader::name);
  return found == kReaders.end() ? nullptr : &*found;
}

}  // namespace ringwright::fuzz
