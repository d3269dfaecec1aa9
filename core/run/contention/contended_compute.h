// What computing and communication of a rank take from each other: compute tasks as work with a rate, and the speed of
// the thread blocks that move data.
//
// A task has so much work left, in time that it would need undisturbed. Whenever communication of its rank begins or
// ends, or data begin or cease to move, the task goes on at the rate of its kernels on what is left of the GPU (their
// mixture: a task's kernels count as evenly mixed). What a moment loses is booked on the dimensions that hold the
// GPU: first what held multiprocessors alone would cost, in proportion to how many each holds, then the rest on
// those that take memory bandwidth, in proportion to how much. Of several tasks at once, the one that keeps most memory
// from the thread blocks sets their speed.
#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "core/engine/engine.h"
#include "core/plan/task_graph.h"
#include "core/ports/compute_model.h"
#include "core/record/run_record.h"
#include "core/run/job/activity_ledger.h"
#include "core/run/job/copy_block_clocks.h"

namespace ringwright {

class ComputeListener {
 public:
  virtual ~ComputeListener() = default;
  virtual void on_computed(ClassId rank_class, std::uint32_t task) = 0;
};

class ContendedCompute final : public MovementWatcher {
 public:
  struct Inputs {
    Engine& engine;
    const TaskGraph& graph;
    const ComputeModel& compute;
    CopyBlockClocks& clocks;
    ComputeListener& listener;
    std::size_t classes = 0;
  };
  explicit ContendedCompute(const Inputs& inputs);

  struct Job {
    std::uint32_t task = 0;
    std::uint32_t work = 0;  // index into TaskGraph::works
    Duration alone;          // undisturbed time
  };
  // The listener is told at the end.
  void compute(ClassId rank_class, const Job& job);

  struct Claim {
    DimensionId dimension;
    std::uint32_t task = 0;
    Contention takes;
    // A receive may have been asked for long before its kernel runs: it holds nothing until its data move. Anything
    // else holds multiprocessors from its start on.
    bool once_data_move = false;
  };
  // Of a call or message of the class, until it is released.
  void hold(ClassId rank_class, const Claim& claim);
  // Nothing happens when the task holds nothing.
  void release(ClassId rank_class, std::uint32_t task);
  // Of what a dimension holds, the oldest moves data; receives after all else.
  void on_movement(ClassId rank_class, DimensionId dimension, int in_flight) override;

  // Forgets what was lost so far (warm-up).
  void restart(ClassId rank_class);
  // By class, by dimension.
  [[nodiscard]] std::vector<std::vector<Interference>> lost() const;
  // How many claims were looked at, all moments together: what this class costs.
  [[nodiscard]] std::uint64_t claims_visited() const { return visited_; }

 private:
  // Undisturbed time worked off in a unit of time, in (0, 1].
  struct Rate {
    double all = 1.0;
    double sms_only = 1.0;
    double copy_blocks = 1.0;  // data that thread blocks move meanwhile, against what they would move alone
  };
  struct Running {
    Job job;
    double left = 0.0;  // picoseconds of undisturbed time
    Rate rate;
    EventId end;
  };
  struct Held {
    Claim claim;
    std::uint64_t number = 0;  // of all claims of its class: the oldest has the least
    bool moves = false;

    [[nodiscard]] int sms() const { return moves || !claim.once_data_move ? claim.takes.sms : 0; }
    [[nodiscard]] Bandwidth memory() const { return moves ? claim.takes.memory : Bandwidth(); }
    [[nodiscard]] Bandwidth copies() const { return moves ? claim.takes.copies : Bandwidth(); }
  };
  struct Loss {  // picoseconds
    double to_sms = 0.0;
    double to_memory = 0.0;
    double of_copy_blocks = 0.0;
  };
  // A receive that was asked for and whose data do not move yet.
  struct Awaited {
    std::size_t dimension = 0;
    std::uint64_t number = 0;
  };
  struct OfClass {
    std::vector<Running> running;
    // What takes something, oldest first. Apart from it receives that take nothing yet: of these a training step has
    // thousands at a time, and what happens at a moment must not cost by their number.
    std::vector<Held> held;
    std::vector<std::map<std::uint64_t, Claim>> awaited;  // by dimension, by number
    std::map<std::uint32_t, Awaited> awaited_task;        // by task
    std::uint64_t claims = 0;                             // so far
    std::vector<int> in_flight;  // by dimension
    std::vector<Loss> lost;      // by dimension
    double copy_blocks = 1.0;         // speed of thread blocks
    TimePoint since;             // up to when work is counted
  };

  void count_up(OfClass& of);
  static void book(OfClass& of, double to_sms, double to_memory);
  static void book_copy_blocks(OfClass& of, double lost);
  static Contention taken(const OfClass& of);
  void share_out(ClassId rank_class);
  void pace_copy_blocks(ClassId rank_class);
  static void await(OfClass& of, const Held& receive);
  static void forget_awaited(OfClass& of, std::uint32_t task);
  static void begin_to_move(OfClass& of, DimensionId dimension);
  void mark_copy_blocks(OfClass& of, DimensionId dimension);
  [[nodiscard]] Rate rate_of(std::uint32_t work, const Contention& contention);
  void end(ClassId rank_class, std::uint32_t task);

  Inputs inputs_;
  std::vector<OfClass> classes_;
  std::map<std::pair<std::uint32_t, Contention>, Rate> rates_;
  std::uint64_t visited_ = 0;
};

}  // namespace ringwright
