// How gradients of a layer table become new weights: all-reduced among the ranks, or by parameter servers.
//
// With parameter servers a bucket is reduced among the GPUs of a host first, each of which then pushes its part over
// its own NIC and pulls the updated parameters (the hierarchy of BytePS: Jiang et al., "A Unified Architecture for
// Accelerating Distributed DNN Training in Heterogeneous GPU/CPU Clusters", OSDI 2020, section 5). A server adds the
// pushes of all hosts and updates its parameters in host memory, as soon as the last of them has arrived: training is
// synchronous.
#pragma once

#include <vector>

#include "core/plan/task_graph.h"
#include "workload/layered/layered_layout.h"
#include "workload/layered/layered_model.h"
#include "workload/program/program_writer.h"

namespace ringwright::workload {

// Of one rank's program.
class GradientExchange {
 public:
  GradientExchange(const LayeredModel& model, const LayeredLayout& layout, bool is_server);

  // What ranks update themselves is not the servers' work.
  [[nodiscard]] bool servers_update() const { return layout_.servers.count > 0; }
  // Of a bucket, which the computation so far has filled.
  void exchange(ProgramWriter& writer, Bytes bytes);
  // For what exchange() has begun.
  void wait(ProgramWriter& writer);
  [[nodiscard]] int streams() const;

 private:
  void all_reduce(ProgramWriter& writer, Bytes bytes);
  void by_servers(ProgramWriter& writer, Bytes bytes);
  [[nodiscard]] Bytes server_traffic(Bytes bytes) const;

  const LayeredModel& model_;
  LayeredLayout layout_;
  bool is_server_;
  int buckets_ = 0;
  std::vector<TaskIndex> last_;  // of each bucket
};

// The dimensions of its graph, without groups where there are no other ranks.
[[nodiscard]] std::vector<Dimension> exchange_dimensions(const LayeredLayout& layout);
// By dimension: bytes of a rank's buffers in a step.
[[nodiscard]] std::vector<Bytes> exchange_volume(const LayeredLayout& layout, Bytes gradients);

}  // namespace ringwright::workload
