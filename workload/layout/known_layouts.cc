#include "workload/layout/known_layouts.h"

namespace ringwright::workload {

std::size_t number_of(const KernelContext& context) {
  const auto& training = context.training;
  std::size_t number = 0;
  for (const std::int64_t part :
       {context.tp, context.cp, std::int64_t{context.experts.ep}, std::int64_t{context.experts.etp},
        training.micro_batch, static_cast<std::int64_t>(training.recompute)}) {
    number = 1'000'003 * number + static_cast<std::size_t>(part);
  }
  return number;
}

}  // namespace ringwright::workload
