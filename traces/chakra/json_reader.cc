#include "traces/chakra/json_reader.h"

#include <algorithm>
#include <array>
#include <bitset>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <simdjson.h>

#include "traces/chakra/attribute.h"
#include "traces/chakra/problem_list.h"
#include "traces/chakra/trace_builder.h"
#include "traces/input/byte_stream.h"

namespace ringwright::traces {
namespace {

namespace json = simdjson::ondemand;
using simdjson::error_code;
using simdjson::SUCCESS;

constexpr std::size_t kMostJsonBytes = std::size_t{1} << 30U;
constexpr std::string_view kNodesKey = "workload_graph";

// The parts of a node that are no attributes, by all their spellings.
enum class NodePart { kId, kName, kType, kControl, kData, kStart, kDuration, kAttribute };
constexpr std::size_t kNodeParts = 8;

// Lists of dependencies add up, and attributes are checked by name.
constexpr bool holds_one_value(NodePart part) {
  return part != NodePart::kControl && part != NodePart::kData && part != NodePart::kAttribute;
}

struct NodeKey {
  std::string_view name;
  NodePart part;
};
constexpr std::array kNodeKeys = {
    NodeKey{"Id", NodePart::kId},
    NodeKey{"id", NodePart::kId},
    NodeKey{"Name", NodePart::kName},
    NodeKey{"name", NodePart::kName},
    NodeKey{"NodeType", NodePart::kType},
    NodeKey{"type", NodePart::kType},
    NodeKey{"ctrlDeps", NodePart::kControl},
    NodeKey{"ctrl_deps", NodePart::kControl},
    NodeKey{"dataDeps", NodePart::kData},
    NodeKey{"data_deps", NodePart::kData},
    NodeKey{"start_time_micros", NodePart::kStart},
    NodeKey{"runtime", NodePart::kDuration},
    NodeKey{"duration_micros", NodePart::kDuration},
};

NodePart part_of(std::string_view key) {
  const auto* found = std::ranges::find(kNodeKeys, key, &NodeKey::name);
  return found == kNodeKeys.end() ? NodePart::kAttribute : found->part;
}

// Of a list: its bools, or what it is instead.
ChakraValue list_value(json::array list, error_code& error) {
  std::vector<bool> flags;
  bool only_flags = true;
  for (auto item : list) {
    bool flag = false;
    error = item.error();
    if (error != SUCCESS) return std::monostate();
    if (item.get_bool().get(flag) != SUCCESS) only_flags = false;
    flags.push_back(flag);
  }
  if (only_flags) return flags;
  return OtherList{"a list"};
}

ChakraValue number_value(json::value& value, error_code& error) {
  json::number number;
  error = value.get_number().get(number);
  if (error != SUCCESS) return std::monostate();
  if (number.is_int64()) return number.get_int64();
  if (number.is_uint64()) return number.get_uint64();
  return number.get_double();
}

// A text stays valid while the document is read.
ChakraValue json_value(json::value value, error_code& error) {
  json::json_type type{};
  error = value.type().get(type);
  if (error != SUCCESS) return std::monostate();
  switch (type) {
    case json::json_type::number: return number_value(value, error);
    case json::json_type::boolean: {
      bool flag = false;
      error = value.get_bool().get(flag);
      return flag;
    }
    case json::json_type::string: {
      std::string_view text;
      error = value.get_string().get(text);
      return text;
    }
    case json::json_type::array: {
      json::array list;
      error = value.get_array().get(list);
      return error == SUCCESS ? list_value(list, error) : std::monostate();
    }
    case json::json_type::object: return OtherList{"an object"};
    case json::json_type::null: return std::monostate();
  }
  return std::monostate();
}

class JsonReader {
 public:
  explicit JsonReader(const std::string& path) : builder_(path), problems_(path) {}

  [[nodiscard]] Result<ChakraReading> read(const std::string& text) {
    const simdjson::padded_string padded(text);
    json::parser parser;
    json::document document;
    json::object root;
    const error_code opened = parser.iterate(padded).get(document);
    error_code error = opened;
    if (error == SUCCESS) error = document.get_object().get(root);
    if (error == SUCCESS) error = read_root(root);
    const char* rest = nullptr;  // there is none at the end
    if (error == SUCCESS && !problems_.is_full() && document.current_location().get(rest) == SUCCESS) {
      problems_.error("E245", "the JSON goes on after its end: the file holds more than one trace, or is damaged");
    }
    if (error != SUCCESS && !problems_.is_full()) {
      const char* at = nullptr;  // a document that could not be opened has no place
      const bool known = opened == SUCCESS && document.current_location().get(at) == SUCCESS;
      problems_.error("E245", fmt::format("{}the JSON cannot be read: {}",
                                          known ? fmt::format("at byte {}: ", at - padded.data()) : "",
                                          simdjson::error_message(error)));
    }
    if (!problems_.has_errors() && builder_.trace().nodes.empty()) {
      problems_.error("E245", fmt::format("the trace has no nodes: '{}' is missing or empty", kNodesKey));
    }
    if (problems_.has_errors()) return tl::unexpected(std::move(problems_).take());
    return ChakraReading{.trace = std::move(builder_).take(), .warnings = std::move(problems_).take()};
  }

 private:
  error_code read_root(json::object root) {
    for (auto field : root) {
      std::string_view key;
      json::value value;
      if (const error_code error = field.unescaped_key().get(key); error != SUCCESS) return error;
      if (const error_code error = field.value().get(value); error != SUCCESS) return error;
      if (key == kNodesKey) {
        json::array nodes;
        if (const error_code error = value.get_array().get(nodes); error != SUCCESS) return error;
        if (const error_code error = read_nodes(nodes); error != SUCCESS) return error;
        if (problems_.is_full()) return SUCCESS;
        continue;
      }
      error_code error = SUCCESS;
      const std::string fact = to_string(json_value(value, error));
      if (error != SUCCESS) return error;
      builder_.trace().facts[std::string(key)] = fact;
    }
    return SUCCESS;
  }

  error_code read_nodes(json::array nodes) {
    for (auto item : nodes) {
      json::object node;
      if (const error_code error = item.get_object().get(node); error != SUCCESS) return error;
      if (const error_code error = read_node(node); error != SUCCESS) return error;
      ++index_;
      if (problems_.is_full()) return SUCCESS;
    }
    return SUCCESS;
  }

  // Attributes come before or after what names the node: they are set at its end.
  error_code read_node(json::object node) {
    name_.clear();
    control_.clear();
    data_.clear();
    wrong_.clear();
    parts_ = {};
    ChakraAttributes attributes;
    std::bitset<kNodeParts> given;
    for (auto field : node) {
      std::string_view key;
      json::value value;
      if (const error_code error = field.unescaped_key().get(key); error != SUCCESS) return error;
      if (const error_code error = field.value().get(value); error != SUCCESS) return error;
      const NodePart part = part_of(key);
      if (given[static_cast<std::size_t>(part)] && holds_one_value(part)) {
        wrong_.push_back(fmt::format("'{}' is given again, maybe by another of its names", key));
      }
      given.set(static_cast<std::size_t>(part));
      const error_code error =
          part == NodePart::kAttribute ? read_attribute(key, value, attributes) : read_part(part, key, value);
      if (error != SUCCESS) return error;
    }
    const bool has_id = given[static_cast<std::size_t>(NodePart::kId)];
    if (!has_id) wrong_.emplace_back("it has no 'Id'");
    if (!given[static_cast<std::size_t>(NodePart::kType)]) wrong_.emplace_back("it has no 'NodeType'");
    const std::string who = has_id ? describe_node(parts_.id, name_) : fmt::format("{}[{}]", kNodesKey, index_);
    for (const std::string& wrong : wrong_) problems_.error("E246", who + ": " + wrong);
    parts_.name = name_;
    parts_.control_dependencies = control_;
    parts_.data_dependencies = data_;
    parts_.attributes = &attributes;
    if (wrong_.empty()) builder_.add(parts_);
    return SUCCESS;
  }

  error_code read_attribute(std::string_view key, json::value value, ChakraAttributes& attributes) {
    // As in the binary form; without a look at them a collective would lose its size, and work its place.
    if (key == "attr") return must_be(key, "left out: attributes are members of the node, as: \"comm_size\": 1024");
    error_code error = SUCCESS;
    const ChakraValue read = json_value(value, error);
    if (error != SUCCESS) return error;
    if (std::string wrong = set_attribute(key, read, builder_, attributes); !wrong.empty()) {
      wrong_.push_back(std::move(wrong));
    }
    return SUCCESS;
  }

  error_code read_part(NodePart part, std::string_view key, json::value value) {
    switch (part) {
      case NodePart::kId: return read_count(key, value, parts_.id);
      case NodePart::kStart: return read_count(key, value, parts_.start_micros);
      case NodePart::kDuration: return read_count(key, value, parts_.duration_micros);
      case NodePart::kControl: return read_ids(key, value, control_);
      case NodePart::kData: return read_ids(key, value, data_);
      case NodePart::kType: {
        std::uint64_t type = 0;
        const error_code error = read_count(key, value, type);
        if (type >= kChakraKinds) {
          wrong_.push_back(fmt::format("'{}' is {}; known are 0 to {}", key, type, kChakraKinds - 1));
        } else {
          parts_.kind = static_cast<ChakraKind>(type);
        }
        return error;
      }
      case NodePart::kName: {
        std::string_view name;
        const error_code error = value.get_string().get(name);
        if (error == simdjson::INCORRECT_TYPE) return must_be(key, "a text");
        name_ = name;
        return error;
      }
      case NodePart::kAttribute: break;
    }
    return SUCCESS;
  }

  error_code must_be(std::string_view key, std::string_view what) {
    wrong_.push_back(fmt::format("'{}' must be {}", key, what));
    return SUCCESS;
  }

  error_code read_count(std::string_view key, json::value value, std::uint64_t& count) {
    const error_code error = value.get_uint64().get(count);
    const bool foreign =
        error == simdjson::INCORRECT_TYPE || error == simdjson::NUMBER_ERROR || error == simdjson::NUMBER_OUT_OF_RANGE;
    return foreign ? must_be(key, "a whole number of at least 0") : error;
  }

  error_code read_ids(std::string_view key, json::value value, std::vector<std::uint64_t>& ids) {
    json::array list;
    const error_code error = value.get_array().get(list);
    if (error == simdjson::INCORRECT_TYPE) return must_be(key, "a list of node ids");
    if (error != SUCCESS) return error;
    for (auto item : list) {
      json::value id;
      if (const error_code wrong = item.get(id); wrong != SUCCESS) return wrong;
      ids.emplace_back();
      if (const error_code wrong = read_count(key, id, ids.back()); wrong != SUCCESS) return wrong;
    }
    return SUCCESS;
  }

  ChakraTraceBuilder builder_;
  ProblemList problems_;
  std::uint64_t index_ = 0;
  // Of the node that is being read.
  ChakraNodeParts parts_;
  std::string name_;
  std::vector<std::uint64_t> control_;
  std::vector<std::uint64_t> data_;
  std::vector<std::string> wrong_;
};

}  // namespace

Result<ChakraReading> read_chakra_json(const std::string& path) {
  const auto text = read_all(path, kMostJsonBytes);
  if (!text) return tl::unexpected(failure("E245", "cannot read the trace: " + text.error(), {.file = path}));
  return JsonReader(path).read(*text);
}

bool looks_like_chakra_json(std::string_view beginning) {
  const std::size_t first = beginning.find_first_not_of(" \t\r\n");
  return first != std::string_view::npos && beginning[first] == '{' &&
         beginning.find(fmt::format("\"{}\"", kNodesKey)) != std::string_view::npos;
}

}  // namespace ringwright::traces
