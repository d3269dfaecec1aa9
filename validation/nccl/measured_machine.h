// The machine on which a collective was measured, as the log describes it: a shipped node with the log's network.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/diagnostic.h"
#include "traces/nccl_tests/collective_log.h"

namespace ringwright::validation {

enum class UseProfile { kYes, kNo };

struct MeasuredMachine {
  std::string node;     // the shipped node: "gh200-x4"
  std::string network;  // what moves its messages: "slingshot", "infiniband", "efa"; "none" within one host, "unknown"
  int hosts = 1;
  int gpus_per_host = 1;
  std::optional<int> gpus_per_process;  // driven by one thread, where the log or its machine states it
  std::optional<Duration> alone;        // calls that were timed one at a time: the host's share of each
  std::vector<std::string> overrides;   // "path=value", values of the log that differ from the node
  std::vector<std::string> assumed;     // the same: constants that the log's age suggests, where there is no profile
  std::string listed;                   // its name in the list of machines; empty: it is not in the list
  std::string profile;                  // shipped constants of this very machine; empty: values of the class
  bool fitted_on = false;               // the profile was fitted on this log
  std::vector<std::string> notes;       // assumptions
};

// Fails when the log names no GPU that is known, or more GPUs a host than its node has.
[[nodiscard]] Result<MeasuredMachine> machine_of(const traces::CollectiveLog& log, UseProfile use);

// The library's version and those of its variables that change its choices, as "path=value".
[[nodiscard]] std::vector<std::string> library_settings(const traces::CollectiveLog& log);

// GPUs that one thread drives, where the log states it: never more than a host has.
[[nodiscard]] std::optional<int> threads_gpus(const traces::CollectiveLog& log, int gpus_per_host);

// "slingshot" of "4 x HPE Slingshot 11 200 Gb/s": as `cluster.node.nic.transport`, "none" or "unknown".
[[nodiscard]] std::string network_class(std::string_view nic);

}  // namespace ringwright::validation
