// A value to try for every key of a scenario: the rows of key_trials.txt, and the job that they change.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace ringwright::configs {

using Settings = std::vector<std::string>;  // as of --set

struct KeyTrial {
  std::string key;
  std::string value;  // or another setting; UNTRIED: the reason for no value
  Settings before;
  Settings with;
};

[[nodiscard]] std::vector<KeyTrial> read_key_trials();

// The job that a key is tried on: four hosts of two GPUs, NVLink and network. A transformer with pipeline, tensor and
// data parallelism; for the keys of another kind of job, one of this kind. `workload.` has none but what its rows give.
[[nodiscard]] std::string trial_base(std::string_view key);

// The parts between the separators; empty ones are left out.
[[nodiscard]] Settings split_settings(const std::string& text, const std::string& separator = ";");

}  // namespace ringwright::configs
