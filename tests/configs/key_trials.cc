#include "tests/configs/key_trials.h"

#include <fstream>

#include "tests/paths.h"

namespace ringwright::configs {

namespace {

std::string job_of(std::string_view key) {
  if (key.starts_with("workload.")) return "";
  if (key.starts_with("layer_table.")) {
    return "layer_table:\n  global_batch: 48\n  bucket: 4MiB\n  layers:\n"
           "  - {name: conv, positions: 196, k: 2304, n: 256, inputs: 50176, epilogue: batch_norm, count: 3}\n"
           "  - {name: fc, k: 50176, n: 100, inputs: 50176, relu: false}\n";
  }
  if (key.starts_with("recommendation.") || key.starts_with("collectives.mp")) {
    return "recommendation:\n  dense_features: 16\n  bottom_mlp: [64, 32]\n  top_mlp: [64, 1]\n"
           "  global_batch: 4096\n  tables:\n"
           "  - {count: 9, rows: 100000, dim: 32, pooling: 4, sharding: table_wise}\n"
           "  - {count: 2, rows: 900000, dim: 32, pooling: 7, sharding: row_wise}\n"
           "  - {count: 3, rows: 100, dim: 32, sharding: data_parallel}\n";
  }
  constexpr std::string_view kModel =
      "model: {num_layers: 4, hidden_size: 256, num_attention_heads: 8, num_query_groups: 4, ffn_hidden_size: 512,"
      " vocab_size: 1000, seq_length: 128}\ntraining: {global_batch: 8}\n";
  const std::string_view layout = key.starts_with("parallel.stages") ? "{}" : "{tp: 2, pp: 2, dp: auto}";
  return std::string(kModel) + "parallel: " + std::string(layout) + "\n";
}

}  // namespace

std::string trial_base(std::string_view key) {
  return job_of(key) +
         "cluster: {nodes: 4, node: {preset: dgx-h100, gpus: 2, nic: {count: 2}, pcie: {switches: 1}},"
         " fabric: {type: rail_optimized}}\n";
}

Settings split_settings(const std::string& text, const std::string& separator) {
  Settings parts;
  std::size_t from = 0;
  for (std::size_t at = text.find(separator); at != std::string::npos; at = text.find(separator, from)) {
    parts.push_back(text.substr(from, at - from));
    from = at + separator.size();
  }
  parts.push_back(text.substr(from));
  std::erase(parts, "");
  return parts;
}

std::vector<KeyTrial> read_key_trials() {
  std::ifstream file(test_data() + "/configs/key_trials.txt");
  std::vector<KeyTrial> trials;
  for (std::string line; std::getline(file, line);) {
    if (line.empty() || line.front() == '#') continue;
    for (std::size_t at = line.find("TESTS"); at != std::string::npos; at = line.find("TESTS")) {
      line.replace(at, 5, test_data());
    }
    // An empty column stays one.
    for (std::size_t at = line.find("|  |"); at != std::string::npos; at = line.find("|  |")) line.insert(at + 2, ";");
    Settings columns = split_settings(line, " | ");
    columns.resize(4);
    trials.push_back({columns[0], columns[1], split_settings(columns[2], ";"), split_settings(columns[3], ";")});
  }
  return trials;
}

}  // namespace ringwright::configs
