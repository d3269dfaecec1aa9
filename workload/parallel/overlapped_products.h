// Products of tensor-parallel ranks that run while their input comes in or their result goes out, in parts.
//
// Transformer Engine (common/comm_gemm_overlap): a ring exchange hands each part of the sequence to the next rank while
// the product of the part at hand runs, n products and n - 1 messages of 1/n of the input; a pipelined scatter cuts the
// rows of a product in chunks and sums each chunk over the ranks while the next one is computed.
#pragma once

#include <vector>

#include "workload/parallel/pieces.h"
#include "workload/program_writer.h"
#include "workload/tensor_overlap.h"

namespace ringwright::workload {

class OverlappedProducts {
 public:
  // Of an activation of that many bytes, whole.
  OverlappedProducts(PieceTable& pieces, const Channel& channel, const TensorOverlap& options, Bytes activation);

  enum class Input { kThere, kGathered };  // gathered: round the ring, while the first product runs
  enum class Result { kStays, kScattered };
  // The kernels of a piece, whose first and last products of that role have the exchanges. What the rest must wait for.
  struct Ways {
    ProductRole role = ProductRole::kForward;
    Input input = Input::kThere;
    Result result = Result::kStays;
  };
  [[nodiscard]] std::vector<TaskIndex> run(ProgramWriter& writer, Piece piece, AttentionReach reach, const Ways& ways);

 private:
  void gather(ProgramWriter& writer, PieceId share);
  [[nodiscard]] std::vector<TaskIndex> scatter(ProgramWriter& writer, PieceId share);

  PieceTable& pieces_;
  Channel channel_;
  int ranks_;
  int chunks_;
  Bytes activation_;
};

}  // namespace ringwright::workload
