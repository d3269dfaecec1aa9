// GEMMs of tensor-parallel ranks that overlap the arrival of their input or the sending of their result, in parts.
//
// Transformer Engine (common/comm_gemm_overlap): a ring exchange passes each part of the sequence to the next rank
// while the GEMM of the current part runs, n GEMMs and n - 1 messages of 1/n of the input; a pipelined scatter splits
// the rows of a GEMM into chunks and reduces each chunk over the ranks while the next one is computed.
//
// Flux (Chang et al., arXiv 2406.06858): the GEMM is one kernel of S shares of tiles, no more than it has waves, and an
// activation n x t parts, t of each rank. Share s waits for the first ceil((s + 1) n t / S) parts of its input, the
// rank's own, then those of the next ranks in turn; or it stores the parts that are complete after it into the memory
// of the ranks that sum them. With e seconds for the GEMM and c for its exchange a gather takes about
// max(e, c) + min(e, c) / S, and e + c in one share. The paper's effective communication time is what the pair takes
// beyond the unsplit GEMM, and its overlap efficiency 1 - that / the same without overlap. Where shares add up to the
// GEMM, as here, both follow from the exposed communication of a report.
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
  // In one kernel of so many shares.
  struct FusedKernel {
    SectionId share = 0;
    int shares = 1;
  };
  void gather_tiles(ProgramWriter& writer, const FusedKernel& kernel);
  [[nodiscard]] std::vector<TaskIndex> scatter_tiles(ProgramWriter& writer, const FusedKernel& kernel);
  // Of an activation: all parts, and the message of one to or from a rank at this distance.
  [[nodiscard]] int parts() const { return ranks_ * options_.tiles; }
  [[nodiscard]] MessageSpec part_of(int distance, Bytes activation, MovedBy moved_by) const;
  [[nodiscard]] bool fused() const { return options_.method == OverlapMethod::kFlux; }

  SectionTable& sections_;
  CommStream channel_;
  TensorOverlap options_;
  int ranks_;
  int chunks_;
  Sizes sizes_;
  SectionId local_sum_ = 0;  // of the ranks' results, with flux
};

}  // namespace ringwright::workload
