#include "workload/layout/stage_chunks.h"

namespace ringwright::workload {
namespace {

void add_point(ModelChunk& part, PointKind kind, std::vector<ParameterTensor> tensors) {
  part.points.push_back(kind);
  part.tensors.push_back(std::move(tensors));
}

void add_mixer(ModelChunk& part, const ModelShape& shape, const ParallelOptions& parallel, std::int64_t layer) {
  switch (halves_of(shape, layer).mixer) {
    case Mixer::kAttention:
      return add_point(part, is_windowed(shape, layer) ? PointKind::kWindowedAttention : PointKind::kAttention,
                       attention_tensors(shape, parallel.tp));
    case Mixer::kMamba: return add_point(part, PointKind::kMamba, mamba_tensors(shape, parallel.tp));
    case Mixer::kNone: return add_point(part, PointKind::kNoMixer, {});
  }
}

void add_layer(ModelChunk& part, const ModelShape& shape, const ParallelOptions& parallel, std::int64_t layer) {
  add_mixer(part, shape, parallel, layer);
  const TensorSplit split{.tp = parallel.tp, .ep = parallel.experts.ep, .etp = parallel.experts.etp};
  switch (halves_of(shape, layer).mlp) {
    case MlpKind::kDense: return add_point(part, PointKind::kMlp, mlp_tensors(shape, parallel.tp));
    case MlpKind::kExperts: return add_point(part, PointKind::kExperts, expert_tensors(shape, split));
    case MlpKind::kNone: return add_point(part, PointKind::kNoMlp, {});
  }
}

// Whether the stage with the head also has the embedding.
bool head_finds_embedding(const ParallelOptions& parallel, int stage) {
  for (int chunk = 0; chunk < parallel.virtual_stages; ++chunk) {
    if (part_at(parallel.pipeline(), {.stage = stage, .chunk = chunk}) == 0) return true;
  }
  return false;
}

// Layers of multi-token prediction are on the head's stage; without the embedding it holds a copy of it for them.
void add_predictors(ModelChunk& part, const ModelShape& shape, const ParallelOptions& parallel, int stage) {
  for (std::int64_t number = 0; number < shape.predictors; ++number) {
    std::vector<ParameterTensor> tensors = predictor_tensors(shape, parallel.tp);
    if (number == 0 && !head_finds_embedding(parallel, stage) && shape.embeddings == Embeddings::kUntied) {
      tensors.push_back(embedding_tensors(shape, parallel.tp).front());
    }
    add_point(part, PointKind::kPredictor, std::move(tensors));
    add_layer(part, shape, parallel, shape.layers + number);
    add_point(part, PointKind::kPredictorHead, {});
    ++part.layers;
  }
}

}  // namespace

std::vector<ModelChunk> stage_chunks(const ModelShape& shape, const ParallelOptions& parallel, int stage) {
  std::vector<ModelChunk> parts;
  for (int chunk = 0; chunk < parallel.virtual_stages; ++chunk) {
    ModelChunk part{.number = part_at(parallel.pipeline(), {.stage = stage, .chunk = chunk})};
    const auto number = static_cast<std::size_t>(part.number);
    part.layers = parallel.layers_per_part[number];
    part.embedding = part.number == 0;
    part.head = part.number == parallel.parts() - 1;
    if (part.embedding) add_point(part, PointKind::kEmbedding, embedding_tensors(shape, parallel.tp));
    std::int64_t layer = 0;
    for (std::size_t before = 0; before < number; ++before) layer += parallel.layers_per_part[before];
    for (const std::int64_t end = layer + part.layers; layer < end; ++layer) add_layer(part, shape, parallel, layer);
    if (part.head) {
      add_predictors(part, shape, parallel, stage);
      const bool shared = shape.embeddings == Embeddings::kTied && head_finds_embedding(parallel, stage);
      add_point(part, PointKind::kHead,
                head_tensors(shape, parallel.tp, shared ? OutputWeights::kShared : OutputWeights::kOwn));
    }
    parts.push_back(std::move(part));
  }
  return parts;
}

LayerHalves halves_at(PointKind mixer, PointKind mlp) {
  LayerHalves halves;
  if (mixer == PointKind::kMamba) halves.mixer = Mixer::kMamba;
  if (mixer == PointKind::kNoMixer) halves.mixer = Mixer::kNone;
  if (mlp == PointKind::kExperts) halves.mlp = MlpKind::kExperts;
  if (mlp == PointKind::kNoMlp) halves.mlp = MlpKind::kNone;
  return halves;
}

std::int64_t count_elements(const std::vector<ModelChunk>& parts) {
  std::int64_t total = 0;
  for (const ModelChunk& part : parts) {
    for (const std::vector<ParameterTensor>& tensors : part.tensors) total += count_elements(tensors);
  }
  return total;
}

std::int64_t count_replicated(const std::vector<ModelChunk>& parts) {
  std::int64_t total = 0;
  for (const ModelChunk& part : parts) {
    for (const std::vector<ParameterTensor>& tensors : part.tensors) {
      for (const ParameterTensor& tensor : tensors) total += tensor.replicated && !tensor.frozen ? tensor.elements : 0;
    }
  }
  return total;
}

std::int64_t count_trainable(const std::vector<ModelChunk>& parts) {
  std::int64_t total = 0;
  for (const ModelChunk& part : parts) {
    for (const std::vector<ParameterTensor>& tensors : part.tensors) total += count_trainable(tensors);
  }
  return total;
}

std::int64_t count_expert_elements(const std::vector<ModelChunk>& parts) {
  std::int64_t total = 0;
  for (const ModelChunk& part : parts) {
    for (const std::vector<ParameterTensor>& tensors : part.tensors) {
      for (const ParameterTensor& tensor : tensors) total += tensor.expert ? tensor.elements : 0;
    }
  }
  return total;
}

bool shares_embedding(const ModelShape& shape, const ParallelOptions& parallel) {
  if (shape.adapters) return false;  // frozen weights have no gradients to sum
  return (shape.embeddings == Embeddings::kTied || shape.predictors > 0) && parallel.pp > 1 &&
         parallel.placement == Placement::kLooped;
}

}  // namespace ringwright::workload
