// GEMMs of tensor-parallel ranks that overlap the arrival of their input or the sending of their result, in parts.
//
// Transformer Engine (common/comm_gemm_overlap): a ring exchange passes each part of the sequence to the next rank
// while the GEMM of the current part runs, n GEMMs and n - 1 messages of 1/n of the input; a pipelined scatter splits
// the rows of a GEMM into chunks and reduces each chunk over the ranks while the next one is computed.
#pragma once

#include <vector>

#include "workload/options/tensor_overlap.h"
#include "workload/parallel/sections.h"
#include "workload/program/program_writer.h"

namespace ringwright::workload {

class OverlappedGemms {
 public:
  // Bytes of a whole activation: when gathered, and when results are reduced.
  struct Sizes {
    Bytes gathered;
    Bytes scattered;
  };
  OverlappedGemms(SectionTable& sections, const CommStream& channel, const TensorOverlap& options, const Sizes& sizes);

  enum class Input { kThere, kGathered };  // gathered: around the ring, while the first GEMM runs
  enum class Result { kStays, kScattered };
  // The kernels of a section, whose first and last GEMM of that role overlap communication. Returns the task that the
  // rest must wait for.
  struct Paths {
    GemmRole role = GemmRole::kForward;
    Input input = Input::kThere;
    Result result = Result::kStays;
  };
  [[nodiscard]] std::vector<TaskIndex> run(ProgramWriter& writer, LayerSection section, AttentionSpan span,
                                           const Paths& paths);

 private:
  void gather(ProgramWriter& writer, SectionId share);
  [[nodiscard]] std::vector<TaskIndex> scatter(ProgramWriter& writer, SectionId share);

  SectionTable& sections_;
  CommStream channel_;
  int ranks_;
  int chunks_;
  Sizes sizes_;
};

}  // namespace ringwright::workload
