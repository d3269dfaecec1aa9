// Products of tensor-parallel ranks that run while their input comes in or their result goes out, in parts.
//
// Transformer Engine (common/comm_gemm_overlap): a ring exchange hands each part of the sequence to the next rank while
// the product of the part at hand runs, n products and n - 1 messages of 1/n of the input; a pipelined scatter cuts the
// rows of a product in chunks and sums each chunk over the ranks while the next one is computed.
#pragma once

#include <vector>

#include "workload/options/tensor_overlap.h"
#include "workload/parallel/sections.h"
#include "workload/program/program_writer.h"

namespace ringwright::workload {

class OverlappedGemms {
 public:
  // Bytes of a whole activation: as it is gathered, and as results are summed up.
  struct Sizes {
    Bytes gathered;
    Bytes scattered;
  };
  OverlappedGemms(SectionTable& sections, const CommStream& channel, const TensorOverlap& options, const Sizes& sizes);

  enum class Input { kThere, kGathered };  // gathered: round the ring, while the first product runs
  enum class Result { kStays, kScattered };
  // The kernels of a piece, whose first and last products of that role have the exchanges. What the rest must wait for.
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
