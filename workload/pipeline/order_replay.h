// Simulates an order of passes on an instantaneous network with many sets of times, as timeline.h does: what each pass
// waits for does not depend on how long passes take.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "workload/pipeline/schedule.h"
#include "workload/pipeline/timeline.h"

namespace ringwright::workload {

class OrderReplay {
 public:
  OrderReplay(const PipelineShape& shape, int microbatches);

  struct Ends {
    std::int64_t last = 0;  // of all stages
    std::int64_t first_stage = 0;
  };
  // With the times of every model chunk, in model order; nothing where stages wait forever. Slots must be within the
  // shape and the microbatches.
  [[nodiscard]] std::optional<Ends> play(const PipelineOrder& order, std::span<const PassTimes> times_of_part);

 private:
  // The passes of one kind through one chunk: where in `ends_` those of microbatch 0 are, the others follow.
  struct Row {
    std::array<std::size_t, 2> needs{};  // that it waits for
    std::size_t end = 0;                 // its own
    std::size_t part = 0;                // in model order
    Pass pass = Pass::kForward;
    std::int64_t time = 0;
  };
  struct Stage {
    std::size_t next = 0;  // pass
    std::int64_t end = 0;  // of those before
  };

  [[nodiscard]] Row row_of(int stage, const Slot& slot) const;
  [[nodiscard]] std::size_t first_end(const std::optional<Need>& need) const;
  [[nodiscard]] bool advance(const std::vector<Slot>& slots, std::size_t stage);
  [[nodiscard]] bool take_block(const std::vector<Slot>& slots, const Row* rows, Stage& stage);

  PipelineShape shape_;
  std::size_t microbatches_;
  std::vector<Row> rows_;  // by stage, chunk, pass
  std::vector<Stage> stages_;
  std::vector<std::int64_t> ends_;  // negative: not yet
};

}  // namespace ringwright::workload
