// A test with a scenario and the file that it names, in one folder.
#pragma once

#include <filesystem>
#include <fstream>
#include <string>

#include <gtest/gtest.h>

#include "configs/scenario/scenario.h"

namespace ringwright::configs {

class NamedFile : public testing::Test {
 protected:
  void SetUp() override {
    const auto* test = testing::UnitTest::GetInstance()->current_test_info();
    folder_ = std::filesystem::path(testing::TempDir()) / (std::string("imports_") + test->name());
    std::filesystem::create_directories(folder_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  Result<Scenario> load(const std::string& file, const std::string& training, const std::string& parallel) {
    std::ofstream(folder_ / "named") << file;
    std::ofstream(folder_ / "scenario.yaml")
        << "model: {num_layers: 4, hidden_size: 256, num_attention_heads: 8, ffn_hidden_size: 512, vocab_size: 1000, "
           "seq_length: 128}\ntraining: {"
        << training << "}\nparallel: {" << parallel << "}\n"
        << "cluster: {nodes: 1, node: {preset: dgx-h100, storage: {drives: 2, read: 6GB/s, write: 3GB/s}}}\n";
    return load_scenario((folder_ / "scenario.yaml").string());
  }
  Result<Scenario> deepspeed(const std::string& file, const std::string& training = "",
                             const std::string& parallel = "") {
    return load(file, "deepspeed: named" + (training.empty() ? "" : ", " + training), parallel);
  }
  Result<Scenario> fsdp(const std::string& file, const std::string& parallel = "") {
    return load(file, "global_batch: 8", "fsdp_config: named" + (parallel.empty() ? "" : ", " + parallel));
  }

  // A run of Megatron-LM that names a file of user buffers, which is in the scenario's folder or not.
  Result<Scenario> megatron(const std::string& overlap) {
    if (!overlap.empty()) std::ofstream(folder_ / "ub.yaml") << overlap;
    std::ofstream(folder_ / "run.sh")
        << "--num-layers 4 --hidden-size 256 --num-attention-heads 8 --seq-length 128 "
           "--max-position-embeddings 128 --vocab-size 1000 --micro-batch-size 1 "
           "--global-batch-size 8 --bf16 --tensor-model-parallel-size 8 --sequence-parallel "
           "--tp-comm-overlap --tp-comm-overlap-cfg ub.yaml\n";
    std::ofstream(folder_ / "scenario.yaml") << "megatron: run.sh\ncluster: {nodes: 1, node: {preset: dgx-h100}}\n";
    return load_scenario((folder_ / "scenario.yaml").string());
  }

 private:
  std::filesystem::path folder_;
};

inline std::string problems(const Result<Scenario>& scenario) {
  return scenario ? render(scenario->document.log().diagnostics()) : render(scenario.error());
}

}  // namespace ringwright::configs
