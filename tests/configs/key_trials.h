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

// Four hosts of two GPUs: pipeline, tensor and data parallelism, NVLink and network.
[[nodiscard]] std::string_view trial_base();

// The parts between the separators; empty ones are left out.
[[nodiscard]] Settings split_settings(const std::string& text, const std::string& separator = ";");

}  // namespace ringwright::configs
