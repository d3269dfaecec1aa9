// Labels of passes in a timeline, each made once.
#pragma once

#include <cstdint>
#include <vector>

#include "workload/pipeline/schedule.h"
#include "workload/program/graph_tables.h"

namespace ringwright::workload {

class PassLabels {
 public:
  PassLabels(GraphTables& tables, int chunks) : tables_(tables), chunks_(chunks) {}
  [[nodiscard]] std::uint32_t of(const Slot& slot);

 private:
  GraphTables& tables_;
  int chunks_;
  std::vector<std::uint32_t> labels_;  // one more than the label, by microbatch, chunk and pass; 0: not made yet
};

}  // namespace ringwright::workload
