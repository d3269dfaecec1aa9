// Algorithms from files take precedence: the first one that matches a call runs it, MSCCL's files before MSCCL++'s.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "collectives/msccl/algorithm.h"
#include "collectives/msccl/plan_algorithm.h"
#include "core/ports/channel_algorithm.h"

namespace ringwright::collectives {

class FileChooser final : public ChannelChooser {
 public:
  // `rest` must outlive it.
  FileChooser(const std::vector<MscclProgram>& programs, const std::vector<ExecutionPlan>& plans,
              const ChannelChooser& rest)
      : algorithms_(programs.begin(), programs.end()), plans_(plans.begin(), plans.end()), rest_(rest) {}

  [[nodiscard]] ChannelChoice choose(const CollectiveCall& call) const override;
  [[nodiscard]] ChannelChoice choose_message(const MessageCall& call) const override {
    return rest_.choose_message(call);
  }
  // Files that run none of these calls, and what they are for: "ring.xml: for all_gather among 4 ranks below 8 KiB".
  [[nodiscard]] std::vector<std::string> idle(std::span<const CollectiveCall> calls) const;

 private:
  std::vector<MscclAlgorithm> algorithms_;
  std::vector<PlanAlgorithm> plans_;
  const ChannelChooser& rest_;
};

}  // namespace ringwright::collectives
