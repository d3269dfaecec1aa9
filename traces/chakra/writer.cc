#include "traces/chakra/writer.h"

#include <limits>
#include <string_view>

#include <fmt/format.h>
#include <schemas/traces/chakra/chakra.pb.h>

#include "core/base/json_text.h"

namespace ringwright::traces {
namespace {

void append_record(const std::string& message, std::string& out) {
  constexpr std::size_t kLowBits = 0x7F;
  std::size_t rest = message.size();
  for (; rest > kLowBits; rest >>= 7U) out += static_cast<char>((rest & kLowBits) | 0x80U);
  out += static_cast<char>(rest);
  out += message;
}

class NodeWriter {
 public:
  NodeWriter(const ChakraTrace& trace, schemas::chakra::Node& node) : trace_(trace), node_(node) {}

  void write(std::size_t at) {
    const ChakraNode& from = trace_.nodes[at];
    node_.Clear();
    node_.set_id(from.id);
    node_.set_name(trace_.name_of(from));
    node_.set_type(static_cast<schemas::chakra::NodeType>(from.kind));
    for (const std::uint64_t id : trace_.control_of(from)) node_.add_control_dependencies(id);
    for (const std::uint64_t id : trace_.data_of(from)) node_.add_data_dependencies(id);
    node_.set_start_time_micros(from.start_micros);
    node_.set_duration_micros(from.duration_micros);
    if (const auto found = trace_.inputs_outputs.find(at); found != trace_.inputs_outputs.end()) {
      write_tensors(found->second.inputs, *node_.mutable_inputs());
      write_tensors(found->second.outputs, *node_.mutable_outputs());
    }
    write_attributes(trace_.of(from));
  }

 private:
  static void write_tensors(const ChakraTensors& from, schemas::chakra::IOInfo& to) {
    to.set_values(from.values);
    to.set_shapes(from.shapes);
    to.set_types(from.types);
  }

  schemas::chakra::Attribute& add(std::string_view name) {
    schemas::chakra::Attribute& attribute = *node_.add_attributes();
    attribute.set_name(std::string(name));
    return attribute;
  }

  // As int32 where it fits: the reference feeder reads ranks and tags so.
  void add_short(std::string_view name, const std::optional<std::int64_t>& value) {
    if (!value) return;
    const bool fits =
        *value >= std::numeric_limits<std::int32_t>::min() && *value <= std::numeric_limits<std::int32_t>::max();
    if (fits) {
      add(name).set_int32_value(static_cast<std::int32_t>(*value));
    } else {
      add(name).set_int64_value(*value);
    }
  }

  void write_attributes(const ChakraAttributes& from) {
    if (from.is_cpu_op) add("is_cpu_op").set_bool_value(*from.is_cpu_op);
    if (from.comm_type) add("comm_type").set_int64_value(static_cast<std::int64_t>(*from.comm_type));
    if (from.comm_size) add("comm_size").set_int64_value(from.comm_size->count());
    add_short("comm_src", from.comm_src);
    add_short("comm_dst", from.comm_dst);
    add_short("comm_tag", from.comm_tag);
    add_short("comm_priority", from.comm_priority);
    if (from.pg_name) add("pg_name").set_string_value(trace_.texts[*from.pg_name]);
    if (from.involved_dim) {
      auto& flags = *add("involved_dim").mutable_bool_list();
      for (const bool flag : *from.involved_dim) flags.add_values(flag);
    }
    if (from.num_ops) add("num_ops").set_int64_value(*from.num_ops);
    if (from.tensor_size) add("tensor_size").set_uint64_value(static_cast<std::uint64_t>(from.tensor_size->count()));
    add_short("tensor_loc", from.tensor_loc);
    if (from.stream) add("stream").set_int64_value(*from.stream);
    if (from.duration_picos) add("duration_picos").set_int64_value(from.duration_picos->count());
  }

  const ChakraTrace& trace_;
  schemas::chakra::Node& node_;
};

std::string ranges_of(const ChakraJob& job, std::uint32_t trace) {
  std::string text;
  for (std::size_t rank = 0; rank < job.ranks(); ++rank) {
    if (job.trace_of[rank] != trace) continue;
    std::size_t last = rank;
    while (last + 1 < job.ranks() && job.trace_of[last + 1] == trace) ++last;
    text += fmt::format("{}{}", text.empty() ? "" : ",", rank);
    if (last > rank) text += fmt::format("-{}", last);
    rank = last;
  }
  return text;
}

}  // namespace

std::string chakra_records(const ChakraTrace& trace) {
  std::string out;
  schemas::chakra::GlobalMetadata head;
  head.set_version(trace.version);
  for (const auto& [name, value] : trace.facts) {
    schemas::chakra::Attribute& attribute = *head.add_attributes();
    attribute.set_name(name);
    attribute.set_string_value(value);
  }
  append_record(head.SerializeAsString(), out);
  schemas::chakra::Node node;
  NodeWriter writer(trace, node);
  for (std::size_t at = 0; at < trace.nodes.size(); ++at) {
    writer.write(at);
    append_record(node.SerializeAsString(), out);
  }
  return out;
}

std::vector<TraceFile> chakra_files(const ChakraJob& job, const std::string& name, TraceFiles how) {
  std::vector<TraceFile> files;
  if (how == TraceFiles::kPerRank) {
    for (std::size_t rank = 0; rank < job.ranks(); ++rank) {
      files.push_back({.name = fmt::format("{}.{}.et", name, rank), .content = chakra_records(job.of(rank))});
    }
    return files;
  }
  std::string list;
  std::vector<bool> written(job.traces.size(), false);
  for (std::size_t rank = 0; rank < job.ranks(); ++rank) {
    const std::uint32_t trace = job.trace_of[rank];
    if (written[trace]) continue;
    written[trace] = true;
    files.push_back({.name = fmt::format("{}.{}.et", name, rank), .content = chakra_records(job.traces[trace])});
    list += fmt::format("{}\n  {{\"file\": {}, \"ranks\": \"{}\"}}", list.empty() ? "" : ",",
                        json_text(files.back().name), ranges_of(job, trace));
  }
  files.push_back({.name = name + ".ranks.json",
                   .content = fmt::format("{{\"ranks\": {}, \"files\": [{}\n]}}\n", job.ranks(), list)});
  return files;
}

}  // namespace ringwright::traces
