// The list of passes that `parallel.schedule_file` names.
#pragma once

#include <optional>
#include <string>

#include "core/base/diagnostic.h"
#include "core/config/config_document.h"
#include "workload/options/training_options.h"
#include "workload/pipeline/schedule_file.h"

namespace ringwright::configs {

struct ScheduleFile {
  std::optional<ConfigDocument> document;
  workload::ListedSchedule schedule;

  [[nodiscard]] const workload::ListedSchedule* get() const { return document ? &schedule : nullptr; }
};

// Mistakes go to `foreign`; a file is empty when none is named.
[[nodiscard]] ScheduleFile read_schedule_file(ConfigMap parallel, Diagnostics& foreign);
void check_schedule_file(ScheduleFile& file, const workload::ParallelOptions& parallel, std::int64_t microbatches,
                         Diagnostics& foreign);

}  // namespace ringwright::configs
