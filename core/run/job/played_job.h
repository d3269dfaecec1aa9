// The shared state of the players: the job, the classes that represent its ranks, network and ledger.
#pragma once

#include <cstdint>
#include <numeric>
#include <vector>

#include "core/base/inline_vector.h"
#include "core/engine/engine.h"
#include "core/plan/rank_classes.h"
#include "core/plan/task_graph.h"
#include "core/ports/collective_algorithm.h"
#include "core/ports/network_model.h"
#include "core/run/job/activity_ledger.h"
#include "core/run/job/copy_block_clocks.h"
#include "core/run/job/job_groups.h"

namespace ringwright {

// Notified when a communication task of a class has ended.
class CommunicationListener {
 public:
  virtual ~CommunicationListener() = default;
  virtual void on_communication_ended(ClassId rank_class, std::uint32_t task) = 0;
  // A receive of the class is about to end because the peer's send has arrived.
  struct Delivery {
    std::uint32_t task = 0;
    ClassId sender;
    std::uint32_t sent = 0;  // task of the sender
    int iteration = 0;       // of the sender
  };
  virtual void on_delivered(ClassId /*rank_class*/, const Delivery& /*delivery*/) {}
  // A message has arrived before the host of the class has issued its receive.
  virtual void on_late_receive(ClassId /*rank_class*/, std::uint32_t /*task*/, TimePoint /*issued*/) {}
};

struct PlayedJob {
  Engine& engine;
  const TaskGraph& graph;
  const RankClasses& classes;
  NetworkModel& network;
  NetworkModel& paced;  // the same, paced by thread blocks: slower while kernels take memory bandwidth from them
  CopyBlockClocks* clocks;   // null: nothing slows thread blocks
  ActivityLedger& ledger;
  CommunicationListener& listener;
  std::vector<std::vector<Bytes>> sent;  // by class, by dimension
  std::vector<std::uint64_t> messages;   // by class: transfers that it started
  // Identities of transfers and calls count from these.
  int reference_iteration = 0;
  std::vector<std::uint32_t> reference_task;  // by class

  [[nodiscard]] std::uint32_t relative_task(ClassId rank_class, std::uint32_t task) const {
    return reference_task.empty() ? task : task - reference_task[rank_class.index()];
  }

  [[nodiscard]] std::uint64_t messages_in_all() const {
    return std::accumulate(messages.begin(), messages.end(), std::uint64_t{0});
  }
  [[nodiscard]] JobGroups groups() const { return {.graph = graph, .classes = classes}; }
  [[nodiscard]] RankId rank_of(ClassId rank_class) const { return groups().rank_of(rank_class); }
  [[nodiscard]] const std::vector<RankId>& group_of(ClassId rank_class, DimensionId dimension) const {
    return groups().group_of(rank_class, dimension);
  }
  [[nodiscard]] int index_in_group(ClassId rank_class, DimensionId dimension) const {
    return groups().index_in_group(rank_class, dimension);
  }
  [[nodiscard]] std::uint32_t layout_of(ClassId rank_class, DimensionId dimension) const {
    return groups().layout_of(rank_class, dimension);
  }
  [[nodiscard]] ClassId class_of_member(ClassId rank_class, DimensionId dimension, int member) const {
    return groups().class_of_member(rank_class, dimension, member);
  }
};

// A set of sequence numbers that is filled nearly in order: all below `through`, and a few beyond.
class SequenceSet {
 public:
  void add(std::uint64_t number);
  [[nodiscard]] bool contains(std::uint64_t number) const;
  [[nodiscard]] std::uint64_t through() const { return through_; }

 private:
  std::uint64_t through_ = 0;
  InlineVector<std::uint64_t, 2> beyond_;
};

}  // namespace ringwright
