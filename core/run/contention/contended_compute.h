// Contention between computing and communication of a rank: compute tasks as work with a rate, and the speed of the
// thread blocks that move data.
//
// The remaining work of a task is the time it would need undisturbed. Whenever communication of its rank begins or
// ends, or data start or stop moving, the task continues at the rate of its kernels on the rest of the GPU (their
// mixture: a task's kernels count as evenly mixed). Lost time is booked on the dimensions that hold the GPU: first the
// cost of held multiprocessors alone, in proportion to how many each holds, then the rest on those that use memory
// bandwidth, in proportion to how much. Of several concurrent tasks, the one that takes most memory bandwidth from the
// thread blocks sets their speed.
//
// Where processes share a GPU, a change of one changes the rates of all (sharing_rule.h): a kernel continues on the
// part of the GPU, and of its time, that the rule gives its process. Time lost to other processes is booked on no
// dimension.
#pragma once

#include <cstdint>
#include <map>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/engine/engine.h"
#include "core/plan/task_graph.h"
#include "core/ports/compute_model.h"
#include "core/record/run_record.h"
#include "core/run/job/activity_ledger.h"
#include "core/run/contention/shared_gpus.h"
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
    const RankClasses& classes;
  };
  explicit ContendedCompute(const Inputs& inputs);

  struct Job {
    std::uint32_t task = 0;
    std::uint32_t work = 0;  // index into TaskGraph::works
    Duration alone;          // undisturbed time
  };
  // The listener is notified at the end.
  void compute(ClassId rank_class, const Job& job);

  struct Claim {
    DimensionId dimension;
    std::uint32_t task = 0;
    Contention takes;
    // A receive may be posted long before its kernel runs: it holds nothing until its data move. Everything else holds
    // multiprocessors from its start.
    bool once_data_move = false;
  };
  // Registers a call or message of the class, until it is released.
  void hold(ClassId rank_class, const Claim& claim);
  // No effect when the task holds nothing.
  void release(ClassId rank_class, std::uint32_t task);
  // The oldest claim of a dimension moves data; receives come last.
  void on_movement(ClassId rank_class, DimensionId dimension, int in_flight) override;

  // Discards the losses so far (warm-up).
  void restart(ClassId rank_class);
  // By class, by dimension.
  [[nodiscard]] std::vector<std::vector<Interference>> lost() const;
  // Time lost in one dimension.
  struct Loss {
    FineTime to_sms;
    FineTime to_memory;
    FineTime of_copy_blocks;
  };
  using Losses = std::vector<std::vector<Loss>>;  // by class, by dimension
  // Up to the last change of each class.
  [[nodiscard]] Losses losses() const;
  // What was lost between two moments is lost so many times more.
  void repeat(const Losses& from, const Losses& to, std::int64_t times);

  // Whether digest() has all that decides the future: no class shares its GPU with another process.
  [[nodiscard]] bool is_comparable() const { return !shared_.any(); }
  // A hash of what the class computes and holds, relative to now and to the task `reference`. Receives that wait for
  // their data count only up to `farthest`.
  struct Scope {
    std::uint32_t reference = 0;
    std::uint32_t farthest = 0;
  };
  [[nodiscard]] std::uint64_t digest(ClassId rank_class, const Scope& scope) const;

  // --- tasks are inserted into programs (core/run/step/further_cycles.h) ---
  // Whether a claim of such a task, or of one behind it, is active.
  [[nodiscard]] bool holds_from(ClassId rank_class, std::uint32_t task) const;
  // Claims of `before` and of tasks behind it get numbers that are `tasks` higher; `receives` are those of new tasks in
  // between, which wait for their data as if they had been registered in the order of the program.
  void insert_tasks(ClassId rank_class, std::uint32_t before, std::uint32_t tasks, const std::vector<Claim>& receives);

  // Claims visited over all moments: the cost of this class.
  [[nodiscard]] std::uint64_t claims_visited() const { return visited_; }

 private:
  // Undisturbed time completed per unit of time, in (0, 1].
  struct Rate {
    double all = 1.0;
    double sms_only = 1.0;
    double copy_blocks = 1.0;  // speed of thread blocks meanwhile, relative to running alone

    // For a part of the time; 0: it waits, and disturbs nothing.
    [[nodiscard]] Rate for_part(double time) const {
      return time > 0.0 ? Rate{all * time, sms_only * time, copy_blocks} : Rate{0.0, 0.0, 1.0};
    }
  };
  struct Running {
    Job job;
    double left = 0.0;  // picoseconds of undisturbed time
    Rate rate;
    EventId end;
    TimePoint ends_at;
  };
  struct Held {
    Claim claim;
    std::uint64_t number = 0;  // the oldest of its class has the least
    bool moves = false;

    [[nodiscard]] int sms() const { return moves || !claim.once_data_move ? claim.takes.sms : 0; }
    [[nodiscard]] Bandwidth memory() const { return moves ? claim.takes.memory : Bandwidth(); }
    [[nodiscard]] Bandwidth copies() const { return moves ? claim.takes.copies : Bandwidth(); }
  };
  // A receive that was posted and whose data do not move yet.
  struct Awaited {
    std::size_t dimension = 0;
    std::uint64_t number = 0;
  };
  struct OfClass {
    std::vector<Running> running;
    // Active claims, oldest first. Receives that take nothing yet are separate: a training step has thousands of them
    // at a time, and the cost of an event must not grow with their number.
    std::vector<Held> held;
    std::vector<std::map<std::uint64_t, Claim>> awaited;  // by dimension, by number
    std::unordered_map<std::uint32_t, Awaited> awaited_task;  // by task; looked up, never traversed
    std::uint64_t next_number = 0;                            // of the next claim
    std::vector<int> in_flight;  // by dimension
    std::vector<Loss> lost;      // by dimension
    double copy_blocks = 1.0;         // speed of thread blocks
    double kernels = 1.0;             // TenantShare::kernels
    TenantHistory history;            // since the rule of a shared GPU adapted last
    TimePoint since;             // time up to which work is counted
  };

  void count_up(ClassId rank_class);
  void count_up(OfClass& of);
  static void book(OfClass& of, double to_sms, double to_memory);
  static void book_copy_blocks(OfClass& of, double lost);
  static Contention taken(const OfClass& of);
  void share_out(ClassId rank_class);
  void share_out(const SharedGpu& gpu);
  void set_rates(ClassId rank_class, const Contention& contention, double time);
  void pace_copy_blocks(ClassId rank_class);
  void set_copy_blocks(ClassId rank_class, double speed);
  [[nodiscard]] std::vector<Tenant> tenants_now(const SharedGpu& gpu) const;
  [[nodiscard]] Contention taken_by_kernels(ClassId rank_class, const TenantShare& share);
  [[nodiscard]] Contention contention_of(const SharedGpu& gpu, std::size_t tenant,
                                         const std::vector<TenantShare>& shares);
  [[nodiscard]] double slowest_copies(const SharedGpu& gpu, const std::vector<TenantShare>& shares,
                                      std::size_t tenant) const;
  void watch(ClassId rank_class);
  void adapt(ClassId rank_class);
  static void await(OfClass& of, const Held& receive);
  static void forget_awaited(OfClass& of, std::uint32_t task);
  static void begin_to_move(OfClass& of, DimensionId dimension);
  void mark_copy_blocks(OfClass& of, DimensionId dimension);
  [[nodiscard]] Rate rate_of(std::uint32_t work, const Contention& contention);
  void end(ClassId rank_class, std::uint32_t task);

  Inputs inputs_;
  std::vector<OfClass> classes_;
  std::map<std::pair<std::uint32_t, Contention>, Rate> rates_;
  std::map<std::pair<std::uint32_t, double>, Bandwidth> drawn_;  // by work and share of the multiprocessors
  SharedGpus shared_;
  std::uint64_t visited_ = 0;
};

}  // namespace ringwright
