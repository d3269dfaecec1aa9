// A setting of NCCL's kernels that a tuner tries: algorithm, protocol, channels, threads and buffers.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/units.h"

namespace ringwright::planning {

// How a call is carried out. Texts as NCCL's variables have them; no channels: NCCL's own number.
struct CallSetting {
  std::string algorithm;  // "ring", "nvlstree"
  std::string protocol;   // "ll128"
  int channels = 0;
  int threads = 0;  // of a channel; 0: NCCL's own number
  Bytes buffer;     // of a channel; 0: NCCL's own size
};

// One setting that was simulated, with the channels that it got.
struct TriedSetting {
  CallSetting setting;
  Duration time;
};

struct TunableAlgorithm {
  std::string_view variable;  // in NCCL_ALGO
  std::string_view reported;  // in results
};
inline constexpr std::array kTunedAlgorithms = {TunableAlgorithm{"ring", "ring"},
                                                TunableAlgorithm{"tree", "tree"},
                                                TunableAlgorithm{"nvls", "nvls"},
                                                TunableAlgorithm{"nvlstree", "nvls_tree"},
                                                TunableAlgorithm{"pat", "pat"},
                                                TunableAlgorithm{"collnetdirect", "collnet_direct"},
                                                TunableAlgorithm{"collnetchain", "collnet_chain"}};
inline constexpr std::array<std::string_view, 3> kTunedProtocols = {"ll", "ll128", "simple"};

// As results and the plug-in spell what NCCL_ALGO has.
[[nodiscard]] std::string tuner_algorithm(const std::string& variable);
// As NCCL_ALGO has what results report.
[[nodiscard]] std::string algorithm_variable(std::string_view reported);
[[nodiscard]] std::vector<std::string> kernel_variables(const CallSetting& setting);  // "NCCL_NTHREADS=256"
// All of the process: "NCCL_ALGO=ring".
[[nodiscard]] std::vector<std::string> variables_of(const CallSetting& setting);
[[nodiscard]] std::string setting_text(const CallSetting& setting);

}  // namespace ringwright::planning
