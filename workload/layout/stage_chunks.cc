#include "workload/layout/stage_chunks.h"

#include <map>
#include <optional>
#include <utility>

namespace ringwright::workload {
namespace {

void add_point(ModelChunk& part, PointKind kind, std::vector<ParameterTensor> tensors) {
  part.points.push_back(kind);
  part.tensors.push_back(std::move(tensors));
}

// The halves of layers; those of one kind have the same tensors.
class LayerWriter {
 public:
  LayerWriter(const ModelShape& shape, const ParallelOptions& parallel)
      : shape_(shape), split_{.tp = parallel.tp, .ep = parallel.experts.ep, .etp = parallel.experts.etp} {}

  void add(ModelChunk& part, std::int64_t layer) {
    const LayerHalves halves = halves_of(shape_, layer);
    switch (halves.mixer) {
      case Mixer::kAttention:
        add(part, is_windowed(shape_, layer) ? PointKind::kWindowedAttention : PointKind::kAttention, attention_,
            [this] { return attention_tensors(shape_, split_.tp); });
        break;
      case Mixer::kMamba:
        add(part, PointKind::kMamba, mamba_, [this] { return mamba_tensors(shape_, split_.tp); });
        break;
      case Mixer::kDeltaNet:
        add(part, PointKind::kDeltaNet, delta_net_, [this] { return delta_net_tensors(shape_, split_.tp); });
        break;
      case Mixer::kNone: add_point(part, PointKind::kNoMixer, {}); break;
    }
    switch (halves.mlp) {
      case MlpKind::kDense: return add(part, PointKind::kMlp, mlp_, [this] { return mlp_tensors(shape_, split_.tp); });
      case MlpKind::kExperts:
        return add(part, PointKind::kExperts, experts_, [this] { return expert_tensors(shape_, split_); });
      case MlpKind::kNone: return add_point(part, PointKind::kNoMlp, {});
    }
  }

 private:
  // A list, and the first point of the current chunk that has it.
  struct Known {
    std::optional<PointTensors::List> tensors;
    int part = -1;  // its number
    std::size_t point = 0;
  };
  template <class Make>
  static void add(ModelChunk& part, PointKind kind, Known& known, const Make& make) {
    part.points.push_back(kind);
    if (known.part == part.number) return part.tensors.repeat(known.point);
    if (!known.tensors) known.tensors = make();
    known.part = part.number;
    known.point = part.tensors.size();
    part.tensors.push_back(*known.tensors);
  }

  const ModelShape& shape_;
  TensorSplit split_;
  Known attention_;
  Known mamba_;
  Known delta_net_;
  Known mlp_;
  Known experts_;
};

// Whether the stage with the head also has the embedding.
bool head_finds_embedding(const ParallelOptions& parallel, int stage) {
  for (int chunk = 0; chunk < parallel.virtual_stages; ++chunk) {
    if (part_at(parallel.pipeline(), {.stage = stage, .chunk = chunk}) == 0) return true;
  }
  return false;
}

// Layers of multi-token prediction are on the head's stage; without the embedding it holds a copy of it for them. A
// repeated layer has its weights once: at its first use, whose backward pass is the last to add to their gradients.
void add_predictors(ModelChunk& part, LayerWriter& layers, const ModelShape& shape, const ParallelOptions& parallel,
                    int stage) {
  for (std::int64_t number = 0; number < shape.predictors; ++number) {
    const bool again = shape.repeated_predictor && number > 0;
    std::vector<ParameterTensor> tensors = predictor_tensors(shape, parallel.tp);
    if (again) tensors.clear();
    if (number == 0 && !head_finds_embedding(parallel, stage) && shape.embeddings == Embeddings::kUntied) {
      tensors.push_back(embedding_tensors(shape, parallel.tp).front());
    }
    add_point(part, PointKind::kPredictor, std::move(tensors));
    layers.add(part, shape.layers + number);
    if (again) {
      part.tensors.clear(part.tensors.size() - 2);
      part.tensors.clear(part.tensors.size() - 1);
    }
    add_point(part, PointKind::kPredictorHead, {});
    ++part.layers;
  }
}

std::int64_t kind_of_layer(const ModelShape& shape, std::int64_t layer) {
  const LayerHalves halves = halves_of(shape, layer);
  return 8 * static_cast<int>(halves.mixer) + 2 * static_cast<int>(halves.mlp) + (is_windowed(shape, layer) ? 1 : 0);
}

}  // namespace

std::vector<ModelChunk> stage_chunks(const ModelShape& shape, const ParallelOptions& parallel, int stage) {
  std::vector<ModelChunk> parts;
  LayerWriter layers(shape, parallel);
  for (int chunk = 0; chunk < parallel.virtual_stages; ++chunk) {
    ModelChunk part{.number = part_at(parallel.pipeline(), {.stage = stage, .chunk = chunk})};
    const auto number = static_cast<std::size_t>(part.number);
    part.layers = parallel.layers_per_part[number];
    part.embedding = part.number == 0;
    part.head = part.number == parallel.parts() - 1;
    const auto points = static_cast<std::size_t>(2 * part.layers) + (part.embedding ? 1 : 0) +
                        (part.head ? static_cast<std::size_t>(4 * shape.predictors) + 1 : 0);
    part.points.reserve(points);
    part.tensors.reserve(points);
    if (part.embedding) add_point(part, PointKind::kEmbedding, embedding_tensors(shape, parallel.tp));
    std::int64_t layer = 0;
    for (std::size_t before = 0; before < number; ++before) layer += parallel.layers_per_part[before];
    for (const std::int64_t end = layer + part.layers; layer < end; ++layer) layers.add(part, layer);
    if (part.head) {
      add_predictors(part, layers, shape, parallel, stage);
      const bool shared = shape.embeddings == Embeddings::kTied && head_finds_embedding(parallel, stage);
      part.shares_output = shared && part.embedding;
      add_point(part, PointKind::kHead,
                head_tensors(shape, parallel.tp, shared ? OutputWeights::kShared : OutputWeights::kOwn));
    }
    parts.push_back(std::move(part));
  }
  return parts;
}

std::vector<int> first_with_same_chunks(const ModelShape& shape, const ParallelOptions& parallel) {
  const std::vector<std::int64_t>& counts = parallel.layers_per_part;
  std::vector<std::int64_t> layers;  // their kinds
  std::vector<std::size_t> begins;   // by part: its first layer
  for (const std::int64_t count : counts) {
    begins.push_back(layers.size());
    for (std::int64_t left = count; left > 0; --left) layers.push_back(kind_of_layer(shape, std::ssize(layers)));
  }
  std::map<std::vector<std::int64_t>, int> firsts;  // by what a stage's chunks consist of
  std::vector<int> result;
  std::vector<std::int64_t> content;
  for (int stage = 0; stage < parallel.pp; ++stage) {
    content.clear();
    for (int chunk = 0; chunk < parallel.virtual_stages; ++chunk) {
      const int number = part_at(parallel.pipeline(), {.stage = stage, .chunk = chunk});
      const auto part = static_cast<std::size_t>(number);
      content.insert(content.end(), {number == 0 ? 1 : 0, number == parallel.parts() - 1 ? 1 : 0, counts[part]});
      const auto begin = layers.begin() + static_cast<std::ptrdiff_t>(begins[part]);
      content.insert(content.end(), begin, begin + counts[part]);
    }
    result.push_back(firsts.try_emplace(content, stage).first->second);
  }
  return result;
}

LayerHalves halves_at(PointKind mixer, PointKind mlp) {
  LayerHalves halves;
  if (mixer == PointKind::kMamba) halves.mixer = Mixer::kMamba;
  if (mixer == PointKind::kDeltaNet) halves.mixer = Mixer::kDeltaNet;
  if (mixer == PointKind::kNoMixer) halves.mixer = Mixer::kNone;
  if (mlp == PointKind::kExperts) halves.mlp = MlpKind::kExperts;
  if (mlp == PointKind::kNoMlp) halves.mlp = MlpKind::kNone;
  return halves;
}

std::int64_t count_elements(const std::vector<ModelChunk>& parts) {
  std::int64_t total = 0;
  for (const ModelChunk& part : parts) {
    for (std::size_t point = 0; point < part.tensors.size(); ++point) total += part.tensors.elements(point);
  }
  return total;
}

std::int64_t count_replicated(const std::vector<ModelChunk>& parts) {
  std::int64_t total = 0;
  for (const ModelChunk& part : parts) {
    for (std::size_t point = 0; point < part.tensors.size(); ++point) {
      for (const ParameterTensor& tensor : part.tensors[point]) {
        total += tensor.replicated && !tensor.frozen ? tensor.elements : 0;
      }
    }
  }
  return total;
}

std::int64_t count_trainable(const std::vector<ModelChunk>& parts) {
  std::int64_t total = 0;
  for (const ModelChunk& part : parts) {
    for (std::size_t point = 0; point < part.tensors.size(); ++point) {
      for (const Holding holding : {Holding::kDense, Holding::kExpert}) {
        total += part.tensors.trained(point, holding).elements;
      }
    }
  }
  return total;
}

std::int64_t local_experts(const ModelShape& shape, const ParallelOptions& parallel) {
  return shape.experts ? std::max<std::int64_t>(1, shape.experts->count / parallel.experts.ep) : 1;
}

LayerMatrices layer_matrices(const std::vector<ModelChunk>& parts, std::int64_t local_experts, Matrices of) {
  LayerMatrices all;
  for (const ModelChunk& part : parts) {
    for (std::size_t point = 0; point < part.tensors.size(); ++point) {
      const PointTensors::List& tensors = part.tensors[point];
      for (std::size_t i = 0; i < tensors.size(); ++i) {
        if (!part.tensors.is_matrix(point, i) || (of == Matrices::kTrained && tensors[i].frozen)) continue;
        all.count += tensors[i].expert ? local_experts : 1;
        all.elements += tensors[i].elements;
      }
    }
  }
  return all;
}

std::int64_t count_expert_elements(const std::vector<ModelChunk>& parts) {
  std::int64_t total = 0;
  for (const ModelChunk& part : parts) {
    for (std::size_t point = 0; point < part.tensors.size(); ++point) {
      for (const ParameterTensor& tensor : part.tensors[point]) total += tensor.expert ? tensor.elements : 0;
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
