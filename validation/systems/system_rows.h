// The table of published systems: what each is checked by, and why some run nothing.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/base/diagnostic.h"

namespace ringwright::validation {

// What a row runs: nothing, a training step, a job with failures, one collective on a machine, several jobs, the study
// of parameter servers or of embedding tables, a cluster over days, the probing of a fabric, the tuning of NCCL for a
// step, or compression that follows delays.
enum class SystemRun {
  kNone,
  kStep,
  kGoodput,
  kCollective,
  kJobs,
  kServers,
  kEmbeddings,
  kCluster,
  kProbe,
  kTune,
  kAdapt
};

// kExact: to 0.1 %. kWithin: to a tolerance. kAtLeast and kAtMost: bounds. kDirection: a ratio is above or below 1 as
// the published one is; only the sign is compared.
enum class SystemCheck { kExact, kWithin, kAtLeast, kAtMost, kDirection };

struct SystemRow {
  std::string id;    // "P4"
  std::string name;  // "ZeRO stage 2: memory"
  SystemRun run = SystemRun::kNone;
  std::string scenario;               // shipped name; of a collective: of a node
  std::vector<std::string> settings;  // as --set takes them; "phase 20 a=b": as --phase does
  std::vector<std::string> base;      // settings of the run in the numerator of a ratio; empty: no ratio
  std::string figure;                 // a name that system_figures.h knows
  SystemCheck check = SystemCheck::kExact;
  double expected = 0.0;
  double tolerance = 0.0;  // ratio, of kWithin
  std::string source;
  std::string note;  // of a row that runs nothing: why, or where the system is checked
  Place place;
};

inline constexpr std::string_view kPhase = "phase ";

// E560 for a row that contradicts itself, E160 to E163 for a table that cannot be read.
[[nodiscard]] Result<std::vector<SystemRow>> read_system_rows(const std::string& path);

// The command line that prints the figure; of a ratio, the one of its numerator as well.
[[nodiscard]] std::vector<std::string> commands_of(const SystemRow& row);

// Whether a figure meets the check.
[[nodiscard]] bool meets(const SystemRow& row, double figure);

}  // namespace ringwright::validation
