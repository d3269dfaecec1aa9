#include "configs/listed_schedule.h"

#include <filesystem>
#include <utility>

namespace ringwright::configs {

ScheduleFile read_schedule_file(ConfigMap parallel, const std::string& scenario_path, Diagnostics& foreign) {
  ScheduleFile file;
  const std::string name = parallel.text({.name = "schedule_file",
                                          .doc = "a YAML file with the passes of every stage, instead of schedule",
                                          .fallback = std::string()});
  if (name.empty()) return file;
  const std::filesystem::path path = std::filesystem::path(scenario_path).parent_path() / name;
  auto document = ConfigDocument::load(path.string());
  if (!document) {
    for (const Diagnostic& diagnostic : document.error().all()) foreign.add(diagnostic);
    return file;
  }
  file.document = std::move(*document);
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
