// What machines of a class have in common, for those of which no profile is shipped: constants of the kernels by the
// generation of the GPUs, and of messages by the kind of network.
//
// They are fitted jointly, one set of a generation or a network over the logs of all machines of it, each log weighing
// alike (`tools/refit.py --classes`; class_values.csv), and not means of what machines by themselves came to: a
// constant that one machine cannot determine is determined by another, or by none, and then stays at what planning
// takes.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/base/diagnostic.h"

namespace ringwright::validation {

// What is known of a machine beforehand.
struct MachineClass {
  std::string generation;         // "hopper"
  std::string network;            // "infiniband"; "none" within one host
  std::string link_efficiency;    // what NCCL plans with, of the nominal rate of its links; empty without such links
  bool work_by_channel = false;   // the library hands every channel its work by itself, as NCCL before 2.14 does
  bool slow_device_work = false;  // of them, one of the slower ones
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
// The same for a text at hand; `name` stands in messages.
[[nodiscard]] Result<std::vector<ClassValue>> parse_class_values(const std::string& name, std::string_view text);

// As overrides "path=value", what is known more closely later.
[[nodiscard]] std::vector<std::string> overrides_of(const MachineClass& machine, const std::vector<ClassValue>& values);

}  // namespace ringwright::validation
