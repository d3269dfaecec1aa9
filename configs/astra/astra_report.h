// What a run by ASTRA-sim's rules found, for people, for programs, and in ASTRA-sim's own words.
#pragma once

#include <string>

#include "configs/astra/astra_files.h"
#include "core/base/diagnostic.h"
#include "core/run/astra/job_outcome.h"

namespace ringwright::configs {

// "sys[0] finished, 64440 cycles, exposed communication 64440 cycles.", in the order in which ranks finish.
[[nodiscard]] std::string astra_log(const JobOutcome& outcome);
[[nodiscard]] std::string astra_report(const AstraJob& job, const JobOutcome& outcome);
[[nodiscard]] std::string astra_json(const AstraJob& job, const JobOutcome& outcome);

// Why ranks did not finish; empty when all did.
[[nodiscard]] Diagnostics astra_failures(const JobOutcome& outcome, const std::string& workload);

}  // namespace ringwright::configs
