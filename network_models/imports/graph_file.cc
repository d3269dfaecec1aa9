// Reads an explicit network from a text file, line by line, and collects what is wrong with it.
#include "network_models/imports/graph_file.h"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <filesystem>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "core/base/units.h"
#include "core/config/config_document.h"
#include "network_models/imports/graph_file_gpus.h"
#include "network_models/imports/graph_file_yaml.h"
#include "network_models/imports/taccl_topology.h"

namespace ringwright::network_models {
namespace {

constexpr std::string_view kBlanks = " \t\r";

struct Field {
  std::string_view text;
  int column = 1;
};

Field trimmed(std::string_view line, std::size_t begin, std::size_t end) {
  while (begin < end && kBlanks.find(line[begin]) != std::string_view::npos) ++begin;
  while (end > begin && kBlanks.find(line[end - 1]) != std::string_view::npos) --end;
  return {.text = line.substr(begin, end - begin), .column = static_cast<int>(begin) + 1};
}

std::vector<Field> split(std::string_view line) {
  std::vector<Field> fields;
  for (std::size_t begin = 0; begin <= line.size();) {
    const std::size_t end = std::min(line.find(',', begin), line.size());
    fields.push_back(trimmed(line, begin, end));
    begin = end + 1;
  }
  return fields;
}

std::optional<std::size_t> parse_index(std::string_view text) {
  std::size_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

class GraphReader {
 public:
  explicit GraphReader(std::string name) : name_(std::move(name)) {}

  Result<Fabric> read(std::string_view text) {
    for (std::size_t begin = 0; begin < text.size();) {
      const std::size_t end = std::min(text.find('\n', begin), text.size());
      ++line_number_;
      read_line(text.substr(begin, end - begin));
      begin = end + 1;
    }
    place_gpus();
    if (diagnostics_.has_errors()) return tl::make_unexpected(std::move(diagnostics_));
    return std::move(fabric_);
  }

 private:
  void error(const Field& field, std::string message, std::string hint = {}) {
    diagnostics_.add({.severity = Severity::kError,
                      .code = "E123",
                      .place = {.file = name_, .line = line_number_, .column = field.column},
                      .message = std::move(message),
                      .excerpt = std::string(line_),
                      .caret_length = std::max(static_cast<int>(field.text.size()), 1),
                      .hint = std::move(hint)});
  }

  void read_line(std::string_view line) {
    line_ = line.substr(0, line.find_last_not_of(kBlanks) + 1);
    const std::vector<Field> fields = split(line_);
    if (fields.front().text.empty() && fields.size() == 1) return;
    if (fields.front().text.starts_with('#')) return;
    if (fields.front().text == "node") return read_node(fields);
    if (fields.front().text == "link") return read_link(fields);
    error(fields.front(), fmt::format("a line starts with 'node' or 'link', not '{}'", fields.front().text));
  }

  void read_node(const std::vector<Field>& fields) {
    if (fields.size() < 3 || fields.size() > 4) {
      return error(fields.front(), fmt::format("a node has 3 or 4 fields, not {}", fields.size()), "node,NAME,KIND");
    }
    if (fields[1].text.empty()) return error(fields[1], "a node needs a name");
    const std::string node_name(fields[1].text);
    const auto [known, fresh] = nodes_.try_emplace(node_name, std::pair(NodeId(), line_number_));
    if (!fresh) {
      return error(fields[1], fmt::format("node '{}' is already defined in line {}", node_name, known->second.second));
    }
    // The name stays known without a node when the rest of its line is wrong, so that its links do not cause errors
    // too.
    const auto kind = parse_node_kind(fields[2].text);
    if (!kind)
      return error(fields[2], fmt::format("'{}' is not a kind of node", fields[2].text), near_kind(fields[2].text));
    std::optional<std::size_t> index;
    if (fields.size() == 4) {
      index = parse_index(fields[3].text);
      if (!index || *kind != NodeKind::kGpu) {
        return error(fields[3], fmt::format("'{}' is not a gpu index", fields[3].text));
      }
    }
    known->second.first = fabric_.add_named_node(*kind, node_name);
    if (*kind != NodeKind::kGpu) return;
    gpus_.push_back({.node = known->second.first, .index = index});
    gpu_lines_.push_back(line_number_);
  }

  std::optional<NodeId> find_node(const Field& field) {
    const auto found = nodes_.find(std::string(field.text));
    if (found != nodes_.end()) return found->second.first;
    std::vector<std::string> names;
    for (const auto& [known, where] : nodes_) names.push_back(known);
    error(field, fmt::format("node '{}' is not defined above", field.text), near_node(field.text, names));
    return std::nullopt;
  }

  void read_link(const std::vector<Field>& fields) {
    if (fields.size() < 5 || fields.size() > 6) {
      return error(fields.front(), fmt::format("a link has 5 or 6 fields, not {}", fields.size()),
                   "link,FROM,TO,BANDWIDTH,LATENCY");
    }
    const auto from = find_node(fields[1]);
    const auto to = find_node(fields[2]);
    const auto bandwidth = parse_bandwidth(fields[3].text);
    const auto latency = parse_duration(fields[4].text);
    const bool one_way = fields.size() == 6;
    if (!bandwidth || bandwidth->count() <= 0.0) {
      error(fields[3], fmt::format("'{}' is not a bandwidth", fields[3].text), "write 400Gbps or 50GB/s");
    }
    if (!latency || *latency < Duration()) {
      error(fields[4], fmt::format("'{}' is not a latency", fields[4].text), "write 1.2us or 500ns");
    }
    if (one_way && fields[5].text != "oneway") {
      error(fields[5], fmt::format("'{}' is not 'oneway'", fields[5].text));
    }
    if (!from || !to || !bandwidth || !latency) return;
    if (*from == *to)
      return error(fields[2], fmt::format("a link joins two nodes, not '{}' with itself", fields[2].text));
    if (!from->valid() || !to->valid() || diagnostics_.has_errors()) return;
    const LinkSpec spec{.from = *from, .to = *to, .bandwidth = *bandwidth, .latency = *latency};
    if (one_way) {
      fabric_.add_link(spec);
    } else {
      fabric_.add_duplex(spec);
    }
  }

  void place_gpus() {
    line_number_ = 0;
    line_ = {};
    if (gpus_.empty()) return error({}, "the file defines no gpu");
    if (const auto mistake = order_gpus(gpus_, fabric_)) {
      line_number_ = gpu_lines_[mistake->gpu];
      error({}, mistake->message);
    }
  }

  std::string name_;
  std::string_view line_;
  int line_number_ = 0;
  Fabric fabric_;
  std::map<std::string, std::pair<NodeId, int>> nodes_;  // by name: the node, and the line that defines it
  std::vector<GraphGpu> gpus_;
  std::vector<int> gpu_lines_;  // line of each
  Diagnostics diagnostics_;
};

}  // namespace

Result<Fabric> parse_graph(std::string_view text, const std::string& name) {
  return GraphReader(name).read(text);
}

Result<Fabric> read_graph_file(const InputFile& file, int hosts) {
  const std::string extension = std::filesystem::path(file.path).extension().string();
  if (extension != ".yaml" && extension != ".yml" && extension != ".json") return parse_graph(file.text, file.path);
  auto document = ConfigDocument::load_text(file.path, file.text);
  if (!document) return tl::unexpected(document.error());
  if (document->sources().size() > 1) {
    return tl::unexpected(failure("E123", "a graph is one file and cannot extend another", {.file = file.path}));
  }
  if (is_taccl_topology(*document)) return read_taccl_topology(std::move(*document), hosts);
  if (const std::string_view why = why_no_machine(*document); !why.empty()) {
    return tl::unexpected(failure("E123", fmt::format("this is no network but {}", why), {.file = file.path}));
  }
  return read_graph_document(std::move(*document));
}

}  // namespace ringwright::network_models
