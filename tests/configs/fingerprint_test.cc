// The fingerprint of a configuration covers the contents of the files that a scenario names, not their location.
#include <filesystem>
#include <fstream>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "configs/scenario/scenario.h"
#include "core/base/sha256.h"
#include "tests/collectives/msccl/example_programs.h"
#include "tests/support/own_folder.h"

namespace ringwright::configs::fingerprint_test {
namespace {

namespace fs = std::filesystem;

// A scenario that names `file`, of which `other` differs in a value or in a comment.
struct Kind {
  std::string name;
  std::string scenario;
  std::string file;
  std::string other;
};

const std::string kModel =
    "model: {num_layers: 8, hidden_size: 256, num_attention_heads: 8, vocab_size: 32000, seq_length: 128}\n";
const std::string kTraining = "training: {global_batch: 8}\n";
const std::string kCluster = "cluster: {nodes: 1, node: {preset: dgx-h100}}\n";
const std::string kHf = R"({"model_type": "llama", "num_hidden_layers": 48, "hidden_size": 256,
  "num_attention_heads": 8, "intermediate_size": 512, "vocab_size": 1000, "max_position_embeddings": 128})";
const std::string kMegatron =
    "--num-layers 4 --hidden-size 256 --num-attention-heads 8 --seq-length 128 --max-position-embeddings 128 "
    "--vocab-size 1000 --micro-batch-size 1 --global-batch-size 8 --bf16\n";
const std::string kGraph =
    "<graphs version=\"1\"><graph id=\"0\" pattern=\"4\" crossnic=\"0\" nchannels=\"1\" speedintra=\"20\" "
    "speedinter=\"20\" typeintra=\"NVL\" typeinter=\"PXB\" samechannels=\"1\"><channel><gpu dev=\"0\"/><gpu dev=\"1\"/>"
    "<gpu dev=\"2\"/><gpu dev=\"3\"/><gpu dev=\"4\"/><gpu dev=\"5\"/><gpu dev=\"6\"/><gpu dev=\"7\"/></channel>"
    "</graph></graphs>\n";
const std::string kTopology =
    "<system version=\"1\"><cpu numaid=\"0\" arch=\"x86_64\" vendor=\"AuthenticAMD\" familyid=\"143\" modelid=\"49\">"
    "<pci busid=\"0001:00:00.0\" class=\"0x030200\" link_speed=\"16 GT/s\" link_width=\"16\"/>"
    "<pci busid=\"0002:00:00.0\" class=\"0x030200\" link_speed=\"16 GT/s\" link_width=\"16\"/></cpu></system>\n";
const std::string kSmi = "GPU0 GPU1\nGPU0 X NV6\nGPU1 NV6 X\n";
const std::string kPair =
    "node,gpu0,gpu\nnode,gpu1,gpu\nnode,tor,switch\nlink,gpu0,tor,100Gbps,1us\nlink,gpu1,tor,100Gbps,1us\n";

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  return text.replace(text.find(from), from.size(), to);
}

std::vector<Kind> kinds() {
  const std::string job = kModel + kTraining;
  return {
      {"extends", "extends: FILE\n" + kCluster, job, replaced(job, "num_layers: 8", "num_layers: 4")},
      {"preset of one's own", kModel + kTraining + "cluster: {node: {preset: FILE.yaml}}\n", "preset: dgx-h100\n",
       "preset: dgx-a100\n"},
      {"Hugging Face config", "model: {hf: FILE}\n" + kTraining + kCluster, kHf, replaced(kHf, "48", "24")},
      {"Megatron", "megatron: FILE\n" + kCluster, kMegatron, replaced(kMegatron, "--num-layers 4", "--num-layers 8")},
      {"DeepSpeed", kModel + "training: {deepspeed: FILE}\n" + kCluster, "{\"train_batch_size\": 8}",
       "{\"train_batch_size\": 16}"},
      {"FSDP", job + "parallel: {fsdp_config: FILE}\n" + kCluster,
       "distributed_type: FSDP\nfsdp_config: {fsdp_sharding_strategy: 1}\n",
       "distributed_type: FSDP\nfsdp_config: {fsdp_sharding_strategy: 2}\n"},
      {"user buffers", job + "parallel: {tp: 8, sequence_parallel: true, tp_comm_overlap_cfg: FILE}\n" + kCluster,
       "qkv_fprop: {method: ring_exchange}\n", "qkv_fprop: {method: ring_exchange}  # ours\n"},
      {"schedule", kModel + "training: {global_batch: 8}\nparallel: {pp: 2, dp: 4, schedule_file: FILE}\n" + kCluster,
       "stages:\n  0: F0 F1 B0 B1\n  1: F0 B0 F1 B1\n", "stages:\n  0: F0 F1 B0 B1\n  1: F0 F1 B0 B1\n"},
      {"NCCL graph", job + kCluster + "comm: {graph: FILE}\n", kGraph,
       replaced(kGraph, "speedintra=\"20\"", "speedintra=\"10\"")},
      {"tuner", job + kCluster + "comm: {tuner_config: FILE}\n", "allreduce,0,1024,tree,ll,2,-1,-1\n",
       "allreduce,0,1024,ring,ll,2,-1,-1\n"},
      {"MSCCL", job + kCluster + "collectives: {model: chunks}\ncomm: {algorithms: [FILE]}\n",
       collectives::ring_all_reduce(8), collectives::ring_all_reduce(4)},
      {"NCCL topology", job + "cluster: {node: {nccl_topo: FILE}}\n", kTopology,
       replaced(kTopology, "vendor=\"AuthenticAMD\"", "vendor=\"GenuineIntel\"")},
      {"nvidia-smi", job + "cluster: {node: {nvidia_smi_topo: FILE}}\n", kSmi, kSmi + "\nLegend:\n"},
      {"graph of the fabric",
       job + "cluster: {nodes: 2, node: {preset: dgx-h100, gpus: 1}, fabric: {type: graph, file: FILE}}\n", kPair,
       replaced(kPair, "100Gbps", "50Gbps")},
  };
}

std::string fingerprint(const Kind& kind, const std::string& content, const std::string& folder,
                        const std::vector<std::string>& overrides = {}) {
  fs::create_directories(folder);
  const bool yaml = kind.scenario.find("FILE.yaml") != std::string::npos;
  std::ofstream(folder + (yaml ? "/named.yaml" : "/named")) << content;
  std::ofstream(folder + "/scenario.yaml") << replaced(kind.scenario, "FILE", "named");
  const auto scenario = load_scenario(folder + "/scenario.yaml", {.overrides = overrides, .share_folders = {}});
  EXPECT_TRUE(scenario.has_value()) << kind.name << "\n" << (scenario ? "" : render(scenario.error()));
  return scenario ? sha256(canonical_text(scenario->document.log())) : std::string();
}

TEST(Fingerprint, CoversWhatIsInEveryKindOfFile) {
  for (const Kind& kind : kinds()) {
    const std::string folder = test::own_folder() + "/content";
    EXPECT_NE(fingerprint(kind, kind.file, folder), fingerprint(kind, kind.other, folder)) << kind.name;
  }
}

TEST(Fingerprint, IsTheSameInEveryFolder) {
  for (const Kind& kind : kinds()) {
    const std::string folder = test::own_folder();
    EXPECT_EQ(fingerprint(kind, kind.file, folder + "/here"), fingerprint(kind, kind.file, folder + "/there/deeper"))
        << kind.name;
  }
}

TEST(Fingerprint, CoversAFileThatANamedFileExtends) {
  const std::string folder = test::own_folder();
  const Kind kind{"", "model: {hf: FILE}\n" + kTraining + kCluster, "", ""};
  std::ofstream(folder + "/base.json") << kHf;
  const std::string before = fingerprint(kind, "extends: base.json\n", folder);
  std::ofstream(folder + "/base.json") << replaced(kHf, "48", "24");
  EXPECT_NE(fingerprint(kind, "extends: base.json\n", folder), before);
}

TEST(Fingerprint, ShowsAValueOfANamedModel) {
  const std::string folder = test::own_folder();
  std::ofstream(folder + "/config.json") << kHf;
  std::ofstream(folder + "/scenario.yaml") << "model: {hf: config.json}\n" << kTraining << kCluster;
  const auto scenario = load_scenario(folder + "/scenario.yaml");
  ASSERT_TRUE(scenario.has_value()) << render(scenario.error());
  const std::string resolved = resolved_text(scenario->document.log());
  EXPECT_THAT(resolved, testing::HasSubstr("model.hf.num_hidden_layers = 48"));
  EXPECT_THAT(resolved, testing::HasSubstr("model.hf = config.json"));
}

TEST(Fingerprint, AChangedScenarioKeepsTheFilesOfTheFirst) {
  const Kind topology = kinds()[11];
  const std::string folder = test::own_folder();
  const std::string whole = fingerprint(topology, topology.file, folder);
  const auto scenario = load_scenario(folder + "/scenario.yaml");
  ASSERT_TRUE(scenario.has_value());
  const auto same = changed_scenario(*scenario, {});
  ASSERT_TRUE(same.has_value());
  EXPECT_EQ(sha256(canonical_text(same->document.log())), whole);
}

TEST(Fingerprint, ANamedFileThatIsMissingIsAnErrorWithItsPlace) {
  const std::string folder = test::own_folder();
  std::ofstream(folder + "/scenario.yaml") << kModel << kTraining << kCluster << "comm: {tuner_config: none.csv}\n";
  const auto scenario = load_scenario(folder + "/scenario.yaml");
  ASSERT_FALSE(scenario.has_value());
  EXPECT_THAT(render(scenario.error()), testing::HasSubstr("scenario.yaml:4:22: error[E100]"));
}

}  // namespace
}  // namespace ringwright::configs::fingerprint_test
