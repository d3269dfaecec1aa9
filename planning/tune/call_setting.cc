#include "planning/tune/call_setting.h"

#include <algorithm>

#include <fmt/format.h>

namespace ringwright::planning {

std::string tuner_algorithm(const std::string& variable) {
  if (variable == "nvlstree") return "nvls_tree";
  if (variable == "collnetdirect") return "collnet_direct";
  if (variable == "collnetchain") return "collnet_chain";
  return variable;
}

std::string algorithm_variable(std::string_view reported) {
  const auto known = std::ranges::find(kTunedAlgorithms, reported, &TunableAlgorithm::reported);
  return std::string(known == kTunedAlgorithms.end() ? reported : known->variable);
}

std::vector<std::string> kernel_variables(const CallSetting& setting) {
  std::vector<std::string> variables;
  const std::string_view infix = setting.protocol == "ll128" ? "LL128_" : setting.protocol == "ll" ? "LL_" : "";
  if (setting.threads > 0) {
    variables.push_back(fmt::format("NCCL_{}NTHREADS={}", infix == "LL128_" ? infix : "", setting.threads));
  }
  if (setting.buffer > Bytes(0)) {
    variables.push_back(fmt::format("NCCL_{}BUFFSIZE={}", infix, setting.buffer.count()));
  }
  return variables;
}

std::string setting_text(const CallSetting& setting) {
  if (setting.protocol.empty()) return setting.algorithm;  // NCCL's own choice, which a log does not name
  if (setting.channels == 0) return tuner_algorithm(setting.algorithm) + " " + setting.protocol;
  std::string text = fmt::format("{} {} {}", tuner_algorithm(setting.algorithm), setting.protocol, setting.channels);
  for (const std::string& variable : kernel_variables(setting)) text += " " + variable;
  return text;
}

std::vector<std::string> variables_of(const CallSetting& setting) {
  std::vector<std::string> variables = {"NCCL_ALGO=" + setting.algorithm, "NCCL_PROTO=" + setting.protocol};
  if (setting.channels > 0) {
    variables.push_back(fmt::format("NCCL_MIN_NCHANNELS={}", setting.channels));
    variables.push_back(fmt::format("NCCL_MAX_NCHANNELS={}", setting.channels));
  }
  for (std::string& variable : kernel_variables(setting)) variables.push_back(std::move(variable));
  return variables;
}

}  // namespace ringwright::planning
