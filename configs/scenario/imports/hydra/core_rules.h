// Rules by which several keys of Megatron-Core, of Megatron-Bridge's sections mixed_precision and comm_overlap, make
// flags.
#pragma once

#include "configs/scenario/imports/hydra/hydra_value.h"
#include "configs/scenario/imports/hydra/run_sections.h"

namespace ringwright::configs {

// Of the sections model, tokenizer and dataset.
void apply_core_model(RunSections& run);
// Parts of it.
void apply_core_heads(RunSections& run);
void apply_core_width(RunSections& run);
void apply_core_positions(RunSections& run);
void apply_core_kinds_of_layers(RunSections& run);
void apply_core_lengths(RunSections& run);

// Of model, optimizer and ddp.
void apply_core_layout(RunSections& run);
// Parts of it.
void apply_core_stages(RunSections& run);
void apply_core_recomputation(RunSections& run);
// Which GEMMs overlap with their exchange, and how: a file's name, or a map.
void apply_core_tensor_overlap(RunSections& run, const HydraKey& methods);
// What overlaps with experts' exchanges.
void apply_core_expert_overlap(RunSections& run);

// A recipe's name, or keys in the section mixed_precision, else in model and ddp.
void apply_mixed_precision(RunSections& run, const HydraKey& mixed_precision);
// The section comm_overlap, else keys of model and ddp.
void apply_overlap(RunSections& run);

}  // namespace ringwright::configs
