// All rules by which processes share a GPU.
#pragma once

#include <memory>

#include "core/run/contention/sharing_rule.h"

namespace ringwright {

[[nodiscard]] std::unique_ptr<SharingRule> make_time_slicing();
[[nodiscard]] std::unique_ptr<SharingRule> make_mps();
[[nodiscard]] std::unique_ptr<SharingRule> make_mig();
[[nodiscard]] std::unique_ptr<SharingRule> make_antman();
[[nodiscard]] std::unique_ptr<SharingRule> make_tgs();

}  // namespace ringwright
