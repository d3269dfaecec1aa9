#include "traces/chakra/trace_builder.h"

#include <utility>

namespace ringwright::traces {

ChakraTraceBuilder::ChakraTraceBuilder(std::string file) {
  trace_.file = std::move(file);
  trace_.attributes.emplace_back();
  attributes_index_.emplace(ChakraAttributes(), 0);
  static_cast<void>(text(""));
}

TextIndex ChakraTraceBuilder::text(std::string_view text) {
  const auto [found, fresh] = text_index_.try_emplace(std::string(text), static_cast<TextIndex>(trace_.texts.size()));
  if (fresh) trace_.texts.emplace_back(text);
  return found->second;
}

void ChakraTraceBuilder::add(const ChakraNodeParts& parts) {
  ChakraNode node{.id = parts.id,
                  .start_micros = parts.start_micros,
                  .duration_micros = parts.duration_micros,
                  .first_dependency = trace_.dependencies.size(),
                  .control_dependencies = static_cast<std::uint32_t>(parts.control_dependencies.size()),
                  .data_dependencies = static_cast<std::uint32_t>(parts.data_dependencies.size()),
                  .attributes = 0,
                  .name = text(parts.name),
                  .kind = parts.kind};
  for (const auto& ids : {parts.control_dependencies, parts.data_dependencies}) {
    trace_.dependencies.insert(trace_.dependencies.end(), ids.begin(), ids.end());
  }
  if (parts.attributes != nullptr) {
    const auto [found, fresh] =
        attributes_index_.try_emplace(*parts.attributes, static_cast<std::uint32_t>(trace_.attributes.size()));
    if (fresh) trace_.attributes.push_back(*parts.attributes);
    node.attributes = found->second;
  }
  trace_.nodes.push_back(node);
}

void ChakraTraceBuilder::count_other(std::string_view attribute) {
  ++trace_.other_attributes[std::string(attribute)];
}

}  // namespace ringwright::traces
