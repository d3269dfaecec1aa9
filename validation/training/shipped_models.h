// Rows that name a shipped model and state no structure of their own.
#pragma once

#include "validation/training/row.h"

namespace ringwright::validation {

// Gives such a row the layers of the model's preset, by which stages are divided.
void take_shipped_model(TrainingRow& row);

}  // namespace ringwright::validation
