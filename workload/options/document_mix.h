// Documents of several lengths that are packed into sequences: how many scores their tokens have among themselves.
//
// A mix of lengths l fills sequences of s tokens, s / sum(l) times each. A causal mask leaves l^2 / 2 scores of a
// document, so that long ones have most of them: s sum(l^2) / (2 sum(l)) of a sequence, where documents of the mean
// length have s sum(l) / (2 n).
#pragma once

#include <cstdint>

#include "core/config/config_map.h"
#include "workload/model/model_shape.h"
#include "workload/options/training_options.h"

namespace ringwright::workload {

void read_documents(ConfigMap& training, TrainingOptions& options);
// Once the kind of attention is known.
void warn_of_unfused_documents(ConfigMap& training, const TrainingOptions& options);

// Pairs of query and key of one document in a sequence.
[[nodiscard]] double document_pairs(const ModelShape& shape, const TrainingOptions& training, bool windowed);
// So many equal documents fill a sequence and have as many scores, to whole ones.
[[nodiscard]] std::int64_t attended_documents(const TrainingOptions& training, std::int64_t sequence);
// Chunks of a sequence's documents, whose last ones may be partly empty.
[[nodiscard]] std::int64_t document_chunks(const TrainingOptions& training, std::int64_t sequence, std::int64_t chunk);

}  // namespace ringwright::workload
