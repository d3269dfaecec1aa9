// Recorded against simulated collectives, and matrix multiplications, as text and JSON.
#pragma once

#include <optional>
#include <string>

#include "validation/kineto/call_replay.h"
#include "validation/kineto/gemm_replay.h"

namespace ringwright::validation {

[[nodiscard]] std::string calls_text(const CallReplay& replay, CallsBy by);
[[nodiscard]] std::string gemms_text(const GemmReplay& replay);
// Empty where nothing was compared.
[[nodiscard]] std::string bands_text(const CallReplay& replay);
[[nodiscard]] std::string calls_json(const CallReplay& replay, const GemmReplay& gemms);
// No band's geometric mean of the absolute error is above the threshold. Without one, all is well.
[[nodiscard]] bool within(const CallReplay& replay, std::optional<double> threshold);
// One warning for each reason why calls are not compared.
[[nodiscard]] Diagnostics why_left_out(const CallReplay& replay, const std::string& file);

}  // namespace ringwright::validation
