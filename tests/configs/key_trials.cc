#include "tests/configs/key_trials.h"

#include <fstream>

#include "tests/paths.h"

namespace ringwright::configs {

std::string_view trial_base() {
  return "model: {num_layers: 4, hidden_size: 256, num_attention_heads: 8, num_query_groups: 4, ffn_hidden_size: 512,"
         " vocab_size: 1000, seq_length: 128}\n"
         "training: {global_batch: 8}\nparallel: {tp: 2, pp: 2, dp: auto}\n"
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
