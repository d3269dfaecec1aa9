#include "workload/step/point_writer.h"

namespace ringwright::workload {
namespace {

GradientShare share_of(Pass pass) {
  if (pass == Pass::kInputGradient) return GradientShare::kInputs;
  return pass == Pass::kWeightGradient ? GradientShare::kWeights : GradientShare::kWhole;
}

}  // namespace

PointWriter::PointWriter(SectionTable& sections, const ParallelOptions& parallel, const StepStreams& streams,
                         int context_place)
    : sections_(sections),
      context_(sections, parallel, {.collective = streams.context, .ring = streams.ring, .heads = streams.heads},
               context_place),
      tensor_(sections, context_, {.calls = streams.tensor, .tiles = streams.tensor_tiles}, parallel.tensor_overlap),
      expert_(sections, tensor_,
              {.all = streams.expert,
               .inner = streams.inner_expert,
               .outer = streams.outer_expert,
               .tensor = streams.expert_tensor}) {}

void PointWriter::forward(ProgramWriter& writer, PointKind kind) {
  switch (kind) {
    case PointKind::kEmbedding: return tensor_.embedding_forward(writer);
    case PointKind::kAttention: return tensor_.attention_forward(writer, AttentionSpan::kAll);
    case PointKind::kWindowedAttention: return tensor_.attention_forward(writer, AttentionSpan::kWindow);
    case PointKind::kMamba: return tensor_.mamba_forward(writer);
    case PointKind::kDeltaNet: return tensor_.delta_net_forward(writer);
    case PointKind::kNoMixer:
    case PointKind::kNoMlp: return;
    case PointKind::kMlp: return tensor_.mlp_forward(writer);
    case PointKind::kExperts: return expert_.forward(writer);
    case PointKind::kPredictor: return tensor_.predictor_forward(writer);
    case PointKind::kPredictorHead:
    case PointKind::kHead: return tensor_.head_forward(writer);
  }
}

void PointWriter::backward_whole(ProgramWriter& writer, PointKind kind) {
  switch (kind) {
    case PointKind::kEmbedding: return tensor_.embedding_backward(writer);
    case PointKind::kAttention: return tensor_.attention_backward(writer, AttentionSpan::kAll);
    case PointKind::kWindowedAttention: return tensor_.attention_backward(writer, AttentionSpan::kWindow);
    case PointKind::kMamba: return tensor_.mamba_backward(writer);
    case PointKind::kDeltaNet: return tensor_.delta_net_backward(writer);
    case PointKind::kNoMixer:
    case PointKind::kNoMlp: return;
    case PointKind::kMlp: return tensor_.mlp_backward(writer);
    case PointKind::kExperts: return expert_.backward(writer);
    case PointKind::kPredictor: return tensor_.predictor_backward(writer);
    case PointKind::kPredictorHead:
    case PointKind::kHead: return tensor_.head_backward(writer);
  }
}

// Weight gradients need no communication: the input gradients have already exchanged their data.
void PointWriter::backward(ProgramWriter& writer, PointKind kind, Pass pass) {
  sections_.take(share_of(pass));
  if (pass == Pass::kWeightGradient) writer.mute(Communication::kOff);
  backward_whole(writer, kind);
  writer.mute(Communication::kOn);
  sections_.take(GradientShare::kWhole);
}

}  // namespace ringwright::workload
