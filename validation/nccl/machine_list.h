// The machines whose logs ship: which logs are theirs, and on which of them their profile was fitted (machines.csv).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/diagnostic.h"
#include "traces/nccl_tests/collective_log.h"

namespace ringwright::validation {

// How a log's calls were timed. In a row, as nccl-tests does: the time of twenty calls that are issued without
// waiting, over twenty. Alone, through PyTorch: a CUDA event before and after each call on an otherwise idle device,
// so that the time of the call in torch.distributed is included.
enum class CallTiming : std::uint8_t { kInARow, kAlonePyTorch };
// "in a row", "alone PyTorch"; empty for other words.
[[nodiscard]] std::optional<CallTiming> parse_timing(std::string_view text);

struct ListedMachine {
  std::string name;                         // of the machine, and of its profile where one is shipped
  std::vector<std::string> sources;         // of its logs, or substrings of them
  std::string gpu;                          // as nodes call it: "a100"
  std::optional<int> gpus_per_process;      // of its logs that do not state it themselves
  CallTiming timing = CallTiming::kInARow;  // the same
  std::vector<std::string> fitted;   // logs, without folder and ending
  std::vector<std::string> settings;    // overrides that hold for all of its logs
  std::string nic;                      // a word of its NICs, where other machines have the same source and GPU
};

// Of the shipped list.
[[nodiscard]] Result<std::vector<ListedMachine>> read_machines();
// The same for a text in memory; `name` is used in messages.
[[nodiscard]] Result<std::vector<ListedMachine>> parse_machines(const std::string& name, std::string_view text);

// The machine of the log; null when it is of none. Where a machine's NICs are listed, a log of several hosts must name
// them, and a log of one host, which has none, must be one that the list names.
[[nodiscard]] const ListedMachine* find_machine(const std::vector<ListedMachine>& machines,
                                                const traces::CollectiveLog& log, std::string_view gpu);
// Whether the machine's profile was fitted on this log.
[[nodiscard]] bool is_fitted_on(const ListedMachine& machine, const traces::CollectiveLog& log);

}  // namespace ringwright::validation
