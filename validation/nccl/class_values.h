// Values common to machines of a class, for those without a shipped profile: constants of the kernels by the
// generation of the GPUs, and of messages by the kind of network.
//
// They are fitted jointly, one set of a generation or a network over the logs of all machines of it, with equal weight
// for each log (`tools/refit.py --classes`; class_values.csv), and are not means of single machines' fits: a constant
// that one machine cannot determine is determined by another, or by none, and then stays at its planning value.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/base/diagnostic.h"

namespace ringwright::validation {

// Prior knowledge of a machine.
struct MachineClass {
  std::string generation;         // "hopper"
  std::string network;            // "infiniband"; "none" within one host
  std::string link_efficiency;    // planning rate, of the nominal rate of its links; empty without them
  bool work_by_channel = false;   // the library sets up every channel separately, as NCCL before 2.14 does
  bool slow_device_work = false;  // of those machines, one of the slower ones
};

struct ClassValue {
  std::string name;   // of the class: "hopper"
  std::string path;   // "comm.costs.launch"
  std::string value;  // "4.46us"
};

inline constexpr std::string_view kShippedClasses = "shipped";
inline constexpr std::string_view kNoClasses = "none";

// The shipped ones, none, or those of a file.
[[nodiscard]] Result<std::vector<ClassValue>> read_class_values(const std::string& which);
// The same for a text in memory; `name` is used in messages.
[[nodiscard]] Result<std::vector<ClassValue>> parse_class_values(const std::string& name, std::string_view text);

// As overrides "path=value", to which more specific values are added later.
[[nodiscard]] std::vector<std::string> overrides_of(const MachineClass& machine, const std::vector<ClassValue>& values);

}  // namespace ringwright::validation
