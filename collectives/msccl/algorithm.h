// A program from a file as a channel algorithm, which the rung of chunks simulates like NCCL's own.
#pragma once

#include "collectives/msccl/program.h"
#include "core/ports/channel_algorithm.h"

namespace ringwright::collectives {

// A buffer is cut into the file's chunks. Chunks larger than a slot are processed in several loops, as in MSCCL's
// interpreter; several short chunks share a message.
class MscclAlgorithm final : public ChannelAlgorithm {
 public:
  explicit MscclAlgorithm(MscclProgram program);

  [[nodiscard]] std::string_view name() const override { return program_.name; }
  [[nodiscard]] std::string_view help() const override { return "an algorithm from an MSCCL file"; }
  [[nodiscard]] bool supports(const CollectiveCall& call, const CollectivePlan& plan) const override;
  [[nodiscard]] int blocks(const CollectiveCall& call, const CollectivePlan& plan) const override;
  void block(const CollectiveCall& call, const CollectivePlan& plan, int member, int block,
             ThreadBlock& out) const override;
  void primitive(const CollectiveCall& call, const CollectivePlan& plan, int member, int block, std::int64_t index,
                 Primitive& out) const override;

  // Chunks of the file. Programs have their own proof, since `re` adds two chunks of one memory.
  [[nodiscard]] int pieces(const CollectiveCall& call, const CollectivePlan& plan) const override;
  [[nodiscard]] Bytes piece_size(const CollectiveCall& call, const CollectivePlan& plan, int piece) const override;
  void contents(const CollectiveCall& call, const CollectivePlan& plan, int member, int block, std::int64_t index,
                PrimitiveContents& out) const override;

  // Whether the file is meant for the call: its kind, number of ranks and size.
  [[nodiscard]] bool matches(const CollectiveCall& call) const;
  // From the file: protocol, channels, threads.
  [[nodiscard]] CollectivePlan plan() const;
  [[nodiscard]] const MscclProgram& program() const { return program_; }

 private:
  struct Cutting;
  struct Part;
  [[nodiscard]] Cutting cut(const CollectiveCall& call, const CollectivePlan& plan) const;
  [[nodiscard]] const MscclBlock* find(int member, int block) const;

  MscclProgram program_;
  std::size_t most_blocks_ = 0;
  std::vector<std::vector<std::vector<bool>>> notifies_;  // by GPU, block, step: another block waits for it
};

}  // namespace ringwright::collectives
