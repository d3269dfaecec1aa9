// The machine on which a collective was measured, as the log describes it: a shipped node with the log's network.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/diagnostic.h"
#include "traces/nccl_tests/collective_log.h"
#include "validation/nccl/class_values.h"

namespace ringwright::validation {

enum class UseProfile { kYes, kNo };

struct MeasuredMachine {
  std::string node;     // the shipped node: "gh200-x4"
  std::string network;  // the class of its NICs: "slingshot", "infiniband", "roce", "efa"; "none" within one host
  int hosts = 1;
  int gpus_per_host = 1;
  std::optional<int> gpus_per_process;  // driven by one thread, where the log or its machine states it
  std::optional<Duration> alone;        // calls that were timed one at a time: the host's share of each
  std::vector<std::string> overrides;   // "path=value", values of the log that differ from the node
  std::string profile;                  // shipped constants of this very machine; empty: values of the class
  bool fitted_on = false;               // the profile was fitted on this log
  std::vector<std::string> notes;       // assumptions
};

// Fails when the log names no GPU that is known, or more GPUs a host than its node has. `classes`: values of which file
// (class_values.h).
[[nodiscard]] Result<MeasuredMachine> machine_of(const traces::CollectiveLog& log, UseProfile use,
                                                 const std::string& classes = std::string(kShippedClasses));

// Data's share of the nominal rate of a generation's NVLink or xGMI links: "82.4%" of "hopper".
[[nodiscard]] std::string_view link_efficiency_of(std::string_view generation);

// "slingshot" of "4 x HPE Slingshot 11 200 Gb/s".
[[nodiscard]] std::string network_class(std::string_view nic);

}  // namespace ringwright::validation
