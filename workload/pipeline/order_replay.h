// An order of passes, prepared to be simulated on an instantaneous network with many sets of times, as timeline.h does:
// in which sequence passes can follow each other does not depend on how long they take.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "workload/pipeline/schedule.h"
#include "workload/pipeline/timeline.h"

namespace ringwright::workload {

class OrderReplay {
 public:
  // Slots must be within the shape and the microbatches.
  OrderReplay(const PipelineOrder& order, const PipelineShape& shape, int microbatches);

  // Whether no stage waits forever.
  [[nodiscard]] bool finishes() const { return finishes_; }
  struct Ends {
    std::int64_t last = 0;  // of all stages
    std::int64_t first_stage = 0;
  };
  // Of an order that finishes; with the times of every model chunk, in model order.
  [[nodiscard]] Ends play(std::span<const PassTimes> times_of_part);

 private:
  // One pass; joined ones are one block.
  struct Step {
    std::array<std::uint32_t, 2> needs{};  // of `ends_`: those that it waits for
    std::uint32_t end = 0;                 // of `ends_`: its own
    std::uint32_t time = 0;                // of the table of times
    std::uint16_t stage = 0;
    bool ends_block = true;
  };
  class Sequencer;

  PipelineShape shape_;
  std::vector<Step> steps_;
  std::vector<std::int64_t> ends_;
  bool finishes_ = false;
};

}  // namespace ringwright::workload
