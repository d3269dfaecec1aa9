// An execution plan of MSCCL++ as a channel algorithm, which the rung of chunks simulates like NCCL's own.
#pragma once

#include "collectives/msccl/execution_plan.h"
#include "core/ports/channel_algorithm.h"

namespace ringwright::collectives {

// Every operation is a primitive. Chunks travel whole: one-sided memory access has no slots.
class PlanAlgorithm final : public ChannelAlgorithm {
 public:
  explicit PlanAlgorithm(ExecutionPlan plan);

  [[nodiscard]] std::string_view name() const override { return plan_.name; }
  [[nodiscard]] std::string_view help() const override { return "an algorithm from an execution plan of MSCCL++"; }
  [[nodiscard]] bool supports(const CollectiveCall& call, const CollectivePlan& plan) const override;
  [[nodiscard]] int blocks(const CollectiveCall& call, const CollectivePlan& plan) const override;
  void block(const CollectiveCall& call, const CollectivePlan& plan, int member, int block,
             ThreadBlock& out) const override;
  void primitive(const CollectiveCall& call, const CollectivePlan& plan, int member, int block, std::int64_t index,
                 Primitive& out) const override;

  // Plans are proved when they are read, with memory that is accessible to all.
  [[nodiscard]] int pieces(const CollectiveCall& call, const CollectivePlan& plan) const override;
  [[nodiscard]] Bytes piece_size(const CollectiveCall& call, const CollectivePlan& plan, int piece) const override;
  void contents(const CollectiveCall& call, const CollectivePlan& plan, int member, int block, std::int64_t index,
                PrimitiveContents& out) const override;

  // Whether the plan is meant for the call: its kind, number of ranks and size, and memory channels inside hosts only.
  [[nodiscard]] bool matches(const CollectiveCall& call) const;
  [[nodiscard]] const ExecutionPlan& file() const { return plan_; }
  // From the file: protocol, thread blocks, threads.
  [[nodiscard]] CollectivePlan plan() const;

 private:
  // Ports of a thread block, one for each message, in the order of its operations.
  struct Ports {
    std::vector<int> sent;
    std::vector<int> awaited;
    std::vector<int> first_sent;  // by operation
    std::vector<int> first_awaited;
    std::vector<bool> notifies;
  };
  [[nodiscard]] const PlanBlock* find(int member, int block) const;
  [[nodiscard]] const Ports& ports(int member, int block) const;
  [[nodiscard]] bool fits_hosts(const GroupLayout& layout) const;

  ExecutionPlan plan_;
  int most_blocks_ = 0;
  std::vector<std::vector<Ports>> ports_;  // by GPU, by block
  std::vector<int> port_of_;               // by message: the writer's port
};

}  // namespace ringwright::collectives
