#include "traces/chakra/pytorch_trace.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>

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

// A text or whole number among the attributes of newer traces; empty: it is not there.
std::string attribute_of(const element& node, std::string_view wanted) {
  simdjson::dom::array attributes;
  if (node["attrs"].get(attributes) != simdjson::SUCCESS) return "";
  for (const element attribute : attributes) {
    std::string_view name;
    if (attribute["name"].get(name) != simdjson::SUCCESS || name != wanted) continue;
    std::string_view text;
    if (attribute["value"].get(text) == simdjson::SUCCESS) return std::string(text);
    std::uint64_t number = 0;
    if (attribute["value"].get(number) == simdjson::SUCCESS) return std::to_string(number);
  }
  return "";
}

// The name of a collective: an attribute in newer traces, a text among the inputs in older ones.
std::string collective_of(const element& node) {
  if (std::string name = attribute_of(node, "collective_name"); !name.empty()) return name;
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

// The parsed file; its elements refer to it.
struct HostTraceFile {
  simdjson::dom::parser parser;
  element root;
  simdjson::dom::array nodes;
  std::string schema;

  [[nodiscard]] Diagnostics open(const std::string& path) {
    const auto text = read_all(path, kMostHostTraceBytes);
    if (!text) return failure("E252", "cannot read it: " + text.error(), {.file = path});
    if (const auto error = parser.parse(*text).get(root); error != simdjson::SUCCESS) {
      return failure("E252", fmt::format("the JSON cannot be read: {}", simdjson::error_message(error)),
                     {.file = path}, "a process that was killed leaves a trace without its end");
    }
    std::string_view word;
    if (root["schema"].get(word) == simdjson::SUCCESS) schema = word;
    if (root["nodes"].get(nodes) != simdjson::SUCCESS) return failure("E252", "'nodes' is not a list", {.file = path});
    return {};
  }
};

// The size of the first tensor, "[id, storage, offset, elements, bytes of one, device]"; they may lie in a list.
Bytes tensor_bytes(const element& input) {
  simdjson::dom::array parts;
  if (input.get(parts) != simdjson::SUCCESS) return Bytes(0);
  std::int64_t elements = 0, size = 0, bytes = 0;
  constexpr std::size_t kParts = 6, kElements = 3, kSize = 4;
  const bool is_tensor = parts.size() == kParts && parts.at(kElements).get(elements) == simdjson::SUCCESS &&
                         parts.at(kSize).get(size) == simdjson::SUCCESS;
  if (is_tensor) {
    const bool fits = elements >= 0 && size >= 0 && !__builtin_mul_overflow(elements, size, &bytes);
    return fits ? Bytes(bytes) : Bytes(0);
  }
  element first;
  if (parts.at(0).get(first) != simdjson::SUCCESS || !first.is_array()) return Bytes(0);
  return tensor_bytes(first);
}

// Nothing for the nodes of a process or thread, and for what is no operator.
std::optional<PytorchOperator> operator_of(const element& node) {
  PytorchOperator found;
  std::string_view name;
  if (node["name"].get(name) != simdjson::SUCCESS) return std::nullopt;
  if (name.starts_with("[pytorch|profiler|execution_")) return std::nullopt;
  found.name = name;
  // Newer schemas list the record's number among the attributes.
  if (node["rf_id"].get(found.record) != simdjson::SUCCESS) {
    const std::string number = attribute_of(node, "rf_id");
    const auto parsed = std::from_chars(number.data(), number.data() + number.size(), found.record);
    if (number.empty() || parsed.ec != std::errc()) return std::nullopt;
  }
  simdjson::dom::array inputs;
  if (node["inputs"].get(inputs) != simdjson::SUCCESS && node["inputs"]["values"].get(inputs) != simdjson::SUCCESS) {
    return found;
  }
  for (const element input : inputs) {
    found.input = tensor_bytes(input);
    if (found.input > Bytes(0)) break;
  }
  return found;
}

}  // namespace

bool looks_like_pytorch_trace(std::string_view beginning) {
  const std::size_t first = beginning.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos || beginning[first] != '{') return false;
  const std::size_t schema = beginning.find("\"schema\"");
  return schema < 4096 && beginning.find("\"nodes\"") != std::string_view::npos;
}

Result<PytorchTrace> read_pytorch_trace(const std::string& path) {
  HostTraceFile file;
  if (Diagnostics wrong = file.open(path); wrong.has_errors()) return tl::unexpected(std::move(wrong));
  PytorchTrace trace{.schema = file.schema, .operators = {}};
  if (file.root["pid"].get(trace.process) != simdjson::SUCCESS) trace.process = -1;
  for (const element node : file.nodes) {
    if (auto found = operator_of(node)) trace.operators.push_back(std::move(*found));
  }
  std::ranges::stable_sort(trace.operators, {}, &PytorchOperator::record);
  return trace;
}

FileSummary summarise_pytorch_trace(const std::string& path) {
  FileSummary summary;
  HostTraceFile file;
  summary.problems = file.open(path);
  if (!file.schema.empty()) summary.facts.push_back({.name = "schema", .value = file.schema});
  if (summary.problems.has_errors()) return summary;
  HostCounts counts;
  for (const element node : file.nodes) count_node(node, counts);
  add_counts(counts, summary);
  return summary;
}

}  // namespace ringwright::traces
