#include "traces/chakra/pytorch_trace.h"

#include <cstdint>
#include <map>

#include <fmt/format.h>
#include <simdjson.h>

#include "traces/input/byte_stream.h"

namespace ringwright::traces {
namespace {

constexpr std::size_t kMostHostTraceBytes = std::size_t{2} << 30U;
constexpr std::string_view kCommunicationNode = "record_param_comms";

using simdjson::dom::element;

struct HostCounts {
  std::int64_t nodes = 0;
  std::int64_t communications = 0;
  std::map<std::string, std::int64_t> collectives;
};

// The name of a collective: an attribute in newer traces, a text among the inputs in older ones.
std::string collective_of(const element& node) {
  simdjson::dom::array attributes;
  if (node["attrs"].get(attributes) == simdjson::SUCCESS) {
    for (const element attribute : attributes) {
      std::string_view name;
      std::string_view value;
      if (attribute["name"].get(name) == simdjson::SUCCESS && name == "collective_name" &&
          attribute["value"].get(value) == simdjson::SUCCESS) {
        return std::string(value);
      }
    }
  }
  simdjson::dom::array inputs;
  if (node["inputs"].get(inputs) != simdjson::SUCCESS && node["inputs"]["values"].get(inputs) != simdjson::SUCCESS) {
    return "not named";
  }
  for (const element input : inputs) {
    std::string_view text;
    if (input.get(text) == simdjson::SUCCESS) return std::string(text);
  }
  return "not named";
}

void count_node(const element& node, HostCounts& counts) {
  ++counts.nodes;
  std::string_view name;
  if (node["name"].get(name) != simdjson::SUCCESS || name != kCommunicationNode) return;
  ++counts.communications;
  ++counts.collectives[collective_of(node)];
}

void add_counts(const HostCounts& counts, FileSummary& summary) {
  summary.facts.push_back({.name = "nodes", .value = counts.nodes});
  summary.facts.push_back({.name = "communications", .value = counts.communications});
  SummaryTable table{.title = "collectives", .columns = {"collective", "nodes"}, .rows = {}};
  for (const auto& [name, count] : counts.collectives) table.rows.push_back({name, count});
  if (!table.rows.empty()) summary.tables.push_back(std::move(table));
}

}  // namespace

bool looks_like_pytorch_trace(std::string_view beginning) {
  const std::size_t first = beginning.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos || beginning[first] != '{') return false;
  const std::size_t schema = beginning.find("\"schema\"");
  return schema < 4096 && beginning.find("\"nodes\"") != std::string_view::npos;
}

FileSummary summarise_pytorch_trace(const std::string& path) {
  FileSummary summary;
  const auto text = read_all(path, kMostHostTraceBytes);
  if (!text) {
    summary.problems = failure("E252", "cannot read it: " + text.error(), {.file = path});
    return summary;
  }
  simdjson::dom::parser parser;
  element root;
  if (const auto error = parser.parse(*text).get(root); error != simdjson::SUCCESS) {
    summary.problems = failure("E252", fmt::format("the JSON cannot be read: {}", simdjson::error_message(error)),
                               {.file = path}, "a process that was killed leaves a trace without its end");
    return summary;
  }
  std::string_view schema;
  if (root["schema"].get(schema) == simdjson::SUCCESS) {
    summary.facts.push_back({.name = "schema", .value = std::string(schema)});
  }
  simdjson::dom::array nodes;
  if (root["nodes"].get(nodes) != simdjson::SUCCESS) {
    summary.problems = failure("E252", "'nodes' is not a list", {.file = path});
    return summary;
  }
  HostCounts counts;
  for (const element node : nodes) count_node(node, counts);
  add_counts(counts, summary);
  return summary;
}

}  // namespace ringwright::traces
