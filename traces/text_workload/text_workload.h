// Text workloads: a training iteration as one row per layer, as ASTRA-sim 1.0 and SimAI (written by AICB) read them.
//
//   HYBRID_TRANSFORMER_FWD_IN_BCKWD model_parallel_NPU_group: 8 ep: 1 pp: 1 vpp: 8 ga: 1 all_gpus: 32 checkpoints: 0
//   <number of rows>
//   name  reserved  fwd_compute fwd_comm fwd_bytes  ig_compute ig_comm ig_bytes  wg_compute wg_comm wg_bytes  update
//
// The first line is one line; `ig` is the gradient of the input, `wg` that of the weights; times are in nanoseconds.
// Of several `checkpoints: n` the n numbers of layers follow. A communication is NONE, ALLREDUCE, ALLGATHER,
// REDUCESCATTER or ALLTOALL; with the suffix _EP or _DP_EP it is that of another group.
//
// Sources: ASTRA-sim 1.0 (Rashidi et al., ISPASS 2020), format of its workload inputs; SimAI (Wang et al., NSDI 2025).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/diagnostic.h"
#include "core/base/units.h"
#include "core/plan/collective_call.h"

namespace ringwright::traces {

// The order of computing and communication; with the names of the format.
enum class TextLoop : std::uint8_t {
  kData,
  kModel,
  kHybridDataModel,
  kHybridModelData,
  kTransformer,
  kTransformerRecompute,
  kInference
};
[[nodiscard]] std::string_view to_string(TextLoop loop);  // "HYBRID_TRANSFORMER"

// kOfPhase: that of the phase, such as tensor parallelism in the forward pass and data parallelism for weights.
enum class TextGroup : std::uint8_t { kOfPhase, kExpert, kExpertData };

struct TextCall {
  CollectiveKind kind = CollectiveKind::kAllReduce;
  TextGroup group = TextGroup::kOfPhase;
  Bytes bytes;  // as written; 0: none
  friend bool operator==(const TextCall&, const TextCall&) = default;
};

struct TextPhase {
  Duration compute;
  TextCall call;
  friend bool operator==(const TextPhase&, const TextPhase&) = default;
};

struct TextLayer {
  std::string name;
  TextPhase forward;
  TextPhase input_gradient;
  TextPhase weight_gradient;
  Duration update;  // after each communication of the layer
  friend bool operator==(const TextLayer&, const TextLayer&) = default;
};

// Sizes of groups: empty where the file does not give them.
struct TextWorkload {
  std::string file;
  std::string digest;  // SHA-256 of its text
  TextLoop loop = TextLoop::kData;
  std::optional<std::int64_t> tensor;    // model_parallel_NPU_group
  std::optional<std::int64_t> expert;    // ep
  std::optional<std::int64_t> pipeline;  // pp
  std::optional<std::int64_t> virtual_stages;
  std::optional<std::int64_t> accumulation;  // ga: rows are those of all microbatches
  std::optional<std::int64_t> gpus;          // all_gpus: written by AICB
  Bytes pipeline_message;                    // pp_comm
  std::vector<std::size_t> checkpoints;      // layers whose input is stored
  std::vector<std::size_t> initiates;        // layers whose backward pass begins with recomputing from a checkpoint
  std::vector<TextLayer> layers;

  // SimAI counts the gathered buffer of an all-gather, ASTRA-sim 1.0 one rank's shard.
  [[nodiscard]] bool is_of_simai() const { return gpus.has_value(); }
};

[[nodiscard]] bool looks_like_text_workload(std::string_view beginning);

// All mistakes at once (E622), each with its line. `file` is for messages.
[[nodiscard]] Result<TextWorkload> parse_text_workload(const std::string& file, std::string_view text);
// Plain or gzip, at most 256 MiB.
[[nodiscard]] Result<TextWorkload> read_text_workload(const std::string& path);

}  // namespace ringwright::traces
