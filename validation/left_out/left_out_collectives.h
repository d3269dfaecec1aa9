// The errors that leave-one-machine-out found for collectives, by kind of network and size (left_out_errors.csv): what
// to expect of a machine that was never measured.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/base/diagnostic.h"

namespace ringwright::validation {

struct LeftOutError {
  std::string transport;  // "infiniband"; "none" within one host
  std::string band;       // "below 64 KiB"
  int machines = 0;
  double error = 0.0;  // mean of the absolute error, as a ratio
  double bias = 0.0;   // mean of the signed one: below 0 predictions are too fast
};

// The shipped ones; tools/leave_one_out.py makes them.
[[nodiscard]] Result<std::vector<LeftOutError>> read_left_out();
// The same for a text in memory; `name` is used in messages.
[[nodiscard]] Result<std::vector<LeftOutError>> parse_left_out(const std::string& name, std::string_view text);

// One line on the networks of this kind: "below 64 KiB 32 % (-20) on 5 machines, ..."; empty where there is none.
[[nodiscard]] std::string left_out_text(const std::vector<LeftOutError>& errors, std::string_view transport);

}  // namespace ringwright::validation
