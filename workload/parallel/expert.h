// Expert parallelism: tokens are dispatched to the ranks of the experts that the router chose, and combined.
//
// Bytes per layer and microbatch for T tokens on a rank, K experts each: dispatch and combine are all-to-alls of T K h
// values (dispatch in fp8: one byte and a 4-byte scale per 128 values), and again in the backward pass with roles
// swapped. Flex (DeepEP): T h values for each of the M hosts per token go between hosts (DeepSeek-V3, arXiv 2412.19437,
// section 3.2.2), and inside them T h values for each rank with at least one of the token's experts (is_token_in_rank
// in DeepEP's deep_ep/buffer.py). All-gather: T h values of every rank go to all. Experts that are split over ranks
// gather their tokens first and reduce the results afterwards (Megatron-LM, token_dispatcher.py). All wait for the rank
// with the most tokens: its tokens set the size of the exchange for all.
#pragma once

#include <optional>
#include <vector>

#include "workload/parallel/tensor.h"

namespace ringwright::workload {

class ExpertParallel {
 public:
  struct CommStreams {
    std::optional<CommStream> all;     // ep
    std::optional<CommStream> inner;   // ep within a host, flex dispatcher
    std::optional<CommStream> outer;   // ep between hosts, flex dispatcher
    std::optional<CommStream> tensor;  // etp
  };
  ExpertParallel(SectionTable& sections, TensorParallel& tensor, const CommStreams& channels);

  // An expert layer's second half, from its norm to its residual addition.
  void forward(ProgramWriter& writer);
  void backward(ProgramWriter& writer);

  // The same in parts, between which tokens travel: until they leave, the experts, after the results are back.
  using Travel = std::vector<TaskIndex>;
  [[nodiscard]] Travel forward_dispatch(ProgramWriter& writer);
  [[nodiscard]] Travel forward_experts(ProgramWriter& writer, const Travel& arriving);
  void forward_finish(ProgramWriter& writer, const Travel& arriving);
  [[nodiscard]] Travel backward_dispatch(ProgramWriter& writer);
  [[nodiscard]] Travel backward_experts(ProgramWriter& writer, const Travel& arriving);
  void backward_finish(ProgramWriter& writer, const Travel& arriving);

 private:
  enum class Direction { kToExperts, kBack };
  [[nodiscard]] std::vector<TaskIndex> travel(ProgramWriter& writer, Direction direction);
  [[nodiscard]] std::vector<TaskIndex> travel_to_all(ProgramWriter& writer, Direction direction);
  [[nodiscard]] Bytes vectors(double count, std::int64_t ranks, Direction direction) const;
  void split(ProgramWriter& writer, Direction direction);
  void await(ProgramWriter& writer, const Travel& arriving);
  // A forward pass from the norm's result on: until the tokens leave, and to the sum of the returned tokens.
  [[nodiscard]] Travel dispatch_result(ProgramWriter& writer);
  void results_again(ProgramWriter& writer);
  void shared_forward(ProgramWriter& writer);
  void shared_backward(ProgramWriter& writer);
  [[nodiscard]] const ExpertOptions& options() const { return sections_.context().experts; }
  [[nodiscard]] const ExpertShape& shape() const { return *sections_.context().shape.experts; }

  SectionTable& sections_;
  TensorParallel& tensor_;
  CommStreams channels_;
  double tokens_;  // T
};

}  // namespace ringwright::workload
