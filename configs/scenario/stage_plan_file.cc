#include "configs/scenario/stage_plan_file.h"

namespace ringwright::configs {

StagePlanFile open_stage_plan(ConfigMap parallel, Diagnostics& foreign) {
  StagePlanFile file;
  file.document = named_document(parallel,
                                 {.name = "plan_file",
                                  .doc = "a YAML file with the list `stages`, as parallel.stages has it; relative to "
                                         "this file",
                                  .fallback = std::string()},
                                 foreign);
  if (file.document) file.map = file.document->root();
  return file;
}

void close_stage_plan(StagePlanFile& file, ConfigMap parallel, Diagnostics& foreign) {
  if (!file.document) return;
  file.document->check_all_read();
  for (const Diagnostic& diagnostic : file.document->log().diagnostics().all()) foreign.add(diagnostic);
  parallel.note_values("plan_file", file.document->log());
}

}  // namespace ringwright::configs
