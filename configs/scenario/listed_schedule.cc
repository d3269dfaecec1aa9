#include "configs/scenario/listed_schedule.h"

#include <utility>

namespace ringwright::configs {

ScheduleFile read_schedule_file(ConfigMap parallel, Diagnostics& foreign) {
  ScheduleFile file;
  file.document = named_document(parallel,
                                 {.name = "schedule_file",
                                  .doc = "a YAML file with the passes of every stage, instead of schedule",
                                  .fallback = std::string()},
                                 foreign);
  if (!file.document) return file;
  ConfigMap root = file.document->root();
  file.schedule = workload::read_listed_schedule(root);
  return file;
}

void check_schedule_file(ScheduleFile& file, const workload::ParallelOptions& parallel, std::int64_t microbatches,
                         Diagnostics& foreign) {
  if (!file.document) return;
  ConfigMap root = file.document->root();
  if (!file.document->log().diagnostics().has_errors()) {
    workload::check_listed_schedule(root, file.schedule, parallel.pp, static_cast<int>(microbatches));
  }
  file.document->check_all_read();
  for (const Diagnostic& diagnostic : file.document->log().diagnostics().all()) foreign.add(diagnostic);
}

}  // namespace ringwright::configs
