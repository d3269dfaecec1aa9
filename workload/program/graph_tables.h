// The tables of a task graph while it is built: distinct works, collectives, messages and labels, each once, so that a
// graph of many microbatches stays small.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/plan/task_graph.h"
#include "workload/program/label_table.h"
#include "workload/program/message_table.h"

namespace ringwright::workload {

using SectionId = std::uint32_t;  // a sequence of kernels that is always launched together

class GraphTables {
 public:
  [[nodiscard]] SectionId add_section(std::vector<Kernel> kernels);
  // The concatenated sections; kernels that occur several times are one entry with that many launches.
  [[nodiscard]] std::uint32_t work(const std::vector<SectionId>& sections, std::string_view name);
  [[nodiscard]] std::uint32_t collective(const CollectiveSpec& spec);
  [[nodiscard]] std::uint32_t message(const MessageSpec& spec) { return messages_.number_of(spec); }
  [[nodiscard]] std::uint32_t label(std::string_view text) { return labels_.number_of(text); }
  [[nodiscard]] std::uint32_t segment(Segment segment);
  [[nodiscard]] const Segment& segment_at(std::uint32_t number) const { return segments_[number]; }
  [[nodiscard]] const Work& work_at(std::uint32_t number) const { return works_[number]; }
  [[nodiscard]] const CollectiveSpec& collective_at(std::uint32_t number) const { return collectives_[number]; }
  [[nodiscard]] bool has_kernels(SectionId section) const { return !sections_[section].empty(); }

  // Finishes the tables.
  void move_into(TaskGraph& graph);

 private:
  std::vector<std::vector<Kernel>> sections_;
  std::vector<Work> works_;
  std::vector<CollectiveSpec> collectives_;
  MessageTable messages_;
  std::vector<Segment> segments_;
  LabelTable labels_;
  std::map<std::vector<SectionId>, std::uint32_t> work_of_;
  std::map<std::pair<CollectiveKind, std::int64_t>, std::uint32_t> collective_of_;
};

}  // namespace ringwright::workload
