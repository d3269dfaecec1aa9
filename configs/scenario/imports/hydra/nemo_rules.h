// Rules by which several keys of NeMo make flags.
#pragma once

#include "configs/scenario/imports/hydra/run_sections.h"

namespace ringwright::configs {

void apply_nemo_model(RunSections& run);
// Of a trainer, or of a plugin: "bf16-mixed".
void apply_nemo_type(RunSections& run, const HydraKey& key);
void apply_nemo_precision(RunSections& run);
void apply_nemo_recomputation(RunSections& run);
void apply_nemo_optimizer(RunSections& run);
void apply_nemo_overlap(RunSections& run);
void apply_nemo_machine(RunSections& run);

}  // namespace ringwright::configs
