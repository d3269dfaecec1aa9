#include "traces/collective_log.h"

#include <fstream>
#include <iterator>

#include "traces/log_text.h"
#include "traces/nccl_tests_json.h"
#include "traces/nccl_tests_table.h"
#include "traces/nccl_tests_text.h"

namespace ringwright::traces {

Result<CollectiveLogReading> read_collective_log(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return tl::unexpected(failure("E230", "cannot read '" + path + "'", {.file = path}));
  const std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  return read_collective_log_text(path, text);
}

Result<CollectiveLogReading> read_collective_log_text(const std::string& name, std::string_view text) {
  const LogText input{.name = name, .text = text};
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  const bool json = first != std::string_view::npos && text[first] == '{';
  const bool table = text.find("size_bytes,") != std::string_view::npos;
  auto reading = json ? read_json_log(input) : (table ? read_table_log(input) : read_printed_log(input));
  if (!reading) return reading;
  CollectiveLog& log = reading->log;
  log.file = name;
  if (log.operation.empty()) log.operation = operation_in(name.substr(name.find_last_of('/') + 1));
  if (log.ranks == 0) log.ranks = log.nodes * log.gpus_per_node;
  if (log.nodes > 0 && log.gpus_per_node == 0) log.gpus_per_node = log.ranks / log.nodes;
  if (!log.rows.empty()) return reading;
  Diagnostics nothing = failure("E231", "no row with a size and a time in '" + name + "'", {.file = name},
                                "whole output of a test, its JSON (-J), or a table with a column size_bytes");
  for (const Diagnostic& warning : reading->warnings.all()) nothing.add(warning);
  return tl::unexpected(std::move(nothing));
}

}  // namespace ringwright::traces
