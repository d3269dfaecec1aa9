// The measured device: the lines that head every table.
#pragma once

#include <string>
#include <vector>

namespace ringwright::gpu {

// `gpu_key`: the shipped GPU's name; empty: found by the device's name. Ends the program where there is no GPU.
[[nodiscard]] std::vector<std::string> describe_device(const std::string& gpu_key);
[[nodiscard]] int sm_count();

}  // namespace ringwright::gpu
