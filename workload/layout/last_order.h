// The order of passes of the layout that was looked at last, with what is derived from it: layouts that follow each
// other in a search often share it.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "workload/options/training_options.h"
#include "workload/pipeline/order_replay.h"

namespace ringwright::workload {

// Everything that a generated order depends on.
struct OrderKey {
  std::string schedule;
  int stages = 1;
  int chunks = 1;
  std::int64_t microbatches = 1;
  int group = 0;
  bool joined = false;  // backward passes to forward passes, so that exchanges of experts overlap
  friend auto operator<=>(const OrderKey&, const OrderKey&) = default;
};
[[nodiscard]] OrderKey order_key(const ParallelOptions& parallel, const TrainingOptions& training);

// References that it returns hold until the next layout.
class LastOrder {
 public:
  [[nodiscard]] const PipelineOrder& of(const ParallelOptions& parallel, const TrainingOptions& training);
  // In the order in which passes allocate and release memory (release_first of pipeline/schedule_check.h); with one
  // cycle, without those that repeat it (pipeline/steady_passes.h).
  enum class Cycles { kAll, kOne };
  [[nodiscard]] const PipelineOrder& for_memory(const ParallelOptions& parallel, const TrainingOptions& training,
                                                Cycles cycles);
  // On an instantaneous network; nothing where stages wait forever.
  [[nodiscard]] std::optional<OrderReplay::Ends> ends(const ParallelOptions& parallel, const TrainingOptions& training,
                                                      std::span<const PassTimes> times_of_part);

 private:
  std::optional<OrderKey> key_;  // none: of a listed order
  PipelineOrder order_;
  std::map<Cycles, PipelineOrder> for_memory_;
  std::optional<OrderReplay> replay_;
  std::map<std::vector<std::int64_t>, std::optional<OrderReplay::Ends>> known_ends_;  // by the times of all parts
};

}  // namespace ringwright::workload
