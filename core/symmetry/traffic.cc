#include "core/symmetry/traffic.h"

#include <map>

#include "core/plan/segments.h"

namespace ringwright {

Traffic gather_traffic(const TaskGraph& graph) {
  Traffic result;
  std::map<DimensionCalls, std::size_t> index_of;
  for (const Program& program : graph.programs) {
    std::map<DimensionId, std::set<CollectiveContent>> collectives;
    std::set<MessageContent> messages;
    visit_communications(graph, program, [&](const Task& task) {
      if (task.kind == TaskKind::kCollective) {
        const CollectiveSpec& spec = graph.collectives[task.detail];
        collectives[task.dimension].insert({spec.kind, spec.bytes});
        return;
      }
      const MessageSpec& spec = graph.messages[task.detail];
      messages.insert(
          {task.dimension, task.kind == TaskKind::kSend, spec.peer, spec.relative, spec.bytes, spec.channel, spec.path,
           spec.moved_by, spec.importance});
    });
    ProgramTraffic& traffic = result.of_program.emplace_back();
    for (const auto& [dimension, contents] : collectives) {
      const auto [known, is_new] = index_of.try_emplace({dimension, contents}, result.calls.size());
      if (is_new) result.calls.emplace_back(dimension, contents);
      traffic.calls.push_back(known->second);
    }
    traffic.messages = {messages.begin(), messages.end()};
  }
  return result;
}

}  // namespace ringwright
