// Which flags and keys of a run's file are read: for `explain megatron`.
#pragma once

#include <string>

namespace ringwright::configs {

[[nodiscard]] std::string run_keys_page();

}  // namespace ringwright::configs
