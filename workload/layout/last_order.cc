#include "workload/layout/last_order.h"

#include <utility>

#include "workload/layout/pipeline_order.h"
#include "workload/pipeline/schedule_check.h"
#include "workload/pipeline/steady_passes.h"

namespace ringwright::workload {

OrderKey order_key(const ParallelOptions& parallel, const TrainingOptions& training) {
  return {.schedule = parallel.schedule,
          .stages = parallel.pp,
          .chunks = parallel.virtual_stages,
          .microbatches = parallel.microbatches(training),
          .group = parallel.microbatch_group,
          .joined = parallel.experts.overlap_exchange};
}

const PipelineOrder& LastOrder::of(const ParallelOptions& parallel, const TrainingOptions& training) {
  std::optional<OrderKey> key;
  if (!parallel.listed) key = order_key(parallel, training);
  if (key && key == key_) return order_;
  *this = {};
  key_ = std::move(key);
  order_ = pipeline_order(parallel, training);
  return order_;
}

const PipelineOrder& LastOrder::for_memory(const ParallelOptions& parallel, const TrainingOptions& training,
                                           Cycles cycles) {
  const PipelineOrder& whole = of(parallel, training);
  const auto [known, is_new] = for_memory_.try_emplace(cycles);
  if (!is_new) return known->second;
  for (const std::vector<Slot>& slots : whole) {
    std::vector<Slot> met = release_first(slots);
    known->second.push_back(cycles == Cycles::kOne ? without_repeated_cycles(met) : std::move(met));
  }
  return known->second;
}

std::optional<OrderReplay::Ends> LastOrder::ends(const ParallelOptions& parallel, const TrainingOptions& training,
                                                 std::span<const PassTimes> times_of_part) {
  const PipelineOrder& whole = of(parallel, training);
  if (!replay_) replay_.emplace(parallel.pipeline(), static_cast<int>(parallel.microbatches(training)));
  std::vector<std::int64_t> times;
  for (const PassTimes& part : times_of_part) times.insert(times.end(), {part.forward, part.input, part.weight});
  const auto [known, is_new] = known_ends_.try_emplace(std::move(times));
  if (is_new) known->second = replay_->play(whole, times_of_part);
  return known->second;
}

}  // namespace ringwright::workload
