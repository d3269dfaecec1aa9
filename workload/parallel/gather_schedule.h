// When units of sharded parameters are gathered and released: a plan over all uses of a training step, without a clock.
//
// The uses after a use are known, as from DeepSpeed's trace of a first step. With FSDP one unit is gathered ahead; with
// ZeRO-3 as many elements as stage3_prefetch_bucket_size, as long as stage3_max_live_parameters are not exceeded, and a
// unit stays when it is used again within stage3_max_reuse_distance.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "workload/parallel/shard_units.h"

namespace ringwright::workload {

class GatherSchedule {
 public:
  struct Step {
    bool waits = false;               // this use is the first since its unit was gathered
    bool completes_gradients = false;
    bool last_gradients = false;  // no later backward pass through the unit
    std::int64_t live = 0;        // elements that are gathered, or being gathered, during the use
    std::int64_t matrices = 0;    // of these, of the layers' GEMMs
  };

  // `cycles`: the passes with which three equal cycles of passes begin, and that after them; empty: no matter.
  GatherSchedule(const ShardUnits& units, const ShardingOptions& options, std::vector<UnitUse> uses,
                 const std::vector<std::size_t>& cycles = {});

  [[nodiscard]] const std::vector<UnitUse>& uses() const { return uses_; }
  [[nodiscard]] const std::vector<Step>& steps() const { return steps_; }
  // Uses whose units are gathered with an issue before this use.
  [[nodiscard]] std::span<const std::size_t> before(std::size_t use) const {
    return std::span(gathers_).subspan(issued_[use].begin, issued_[use].own - issued_[use].begin);
  }
  // Issued after it, before its gradients are scattered.
  [[nodiscard]] std::span<const std::size_t> after(std::size_t use) const {
    const std::size_t end = use + 1 < issued_.size() ? issued_[use + 1].begin : gathers_.size();
    return std::span(gathers_).subspan(issued_[use].own, end - issued_[use].own);
  }
  // Whether further cycles between the second and the third would repeat the steps of the second. They do if the second
  // ends with the units gathered that it began with, and nothing up to its end depended on what follows the third: then
  // each further one begins as the second did, and finds the same ahead.
  [[nodiscard]] bool repeats() const { return watch_.repeats; }

 private:
  // Of the cycles.
  struct Watch {
    std::size_t second = 0, third = 0, end = 0;  // their first uses, and the first after them; all 0: none
    std::vector<char> live, waited;              // when the second begins
    bool repeats = false;
  };

  void begin_watch(const std::vector<std::size_t>& cycles);
  void watch(std::size_t use);
  // That a decision before `use` depended on a later one.
  void depends(std::size_t use, std::size_t later) {
    if (use < watch_.third && later >= watch_.end) watch_.repeats = false;
  }
  void link_uses(const ShardUnits& units, const ShardingOptions& options);
  void plan(const ShardUnits& units, const ShardingOptions& options);
  void look_ahead(const ShardUnits& units, const ShardingOptions& options, std::size_t use);
  void gather(const ShardUnits& units, std::size_t use);

  std::vector<UnitUse> uses_;
  std::vector<Step> steps_;
  std::vector<std::size_t> gathers_;  // in the order of their issue
  struct Issued {
    std::size_t begin = 0;  // of those of a use
    std::size_t own = 0;    // the end of those before it
  };
  std::vector<Issued> issued_;  // by use
  std::vector<char> stays_;     // by use: the unit stays gathered after it
  std::vector<char> live_;      // by unit, during planning
  std::vector<char> waited_;    // by unit: a task has waited for it since it was gathered
  // By unit: the last use from which a look ahead has passed a use after which the unit is released; uses are counted
  // from 1.
  std::vector<std::size_t> released_from_;
  std::int64_t live_elements_ = 0;
  std::int64_t live_matrices_ = 0;
  Watch watch_;
};

}  // namespace ringwright::workload
