// A measurement with nccl-tests or rccl-tests: the sizes of one collective on one machine, with their times.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/diagnostic.h"
#include "core/base/units.h"

namespace ringwright::traces {

struct CollectiveRow {
  Bytes size;
  std::int64_t count = 0;
  std::string type;
  std::string redop;
  int root = -1;
  // Of one call: from the log, or derived from a bandwidth where the log states only that.
  std::optional<Duration> out_of_place;
  std::optional<Duration> in_place;
  std::string experiment;  // in logs with several; else empty
  int line = 0;

  // Out of place where it was measured.
  [[nodiscard]] std::optional<Duration> time() const { return out_of_place ? out_of_place : in_place; }
};

// The machine that `ringwright collective` simulated, and how: its own output can be simulated again.
struct PlayedMachine {
  std::string cluster;                // as on the command line: a file or a shipped node
  std::vector<std::string> settings;  // "path=value", hosts included
  int gpus_per_process = 1;
  int warmup = 0;
  int iterations = 1;
};

struct CollectiveLog {
  std::string file;
  std::string operation;           // "all_reduce", in the log's spelling; empty when it is not stated
  bool operation_of_name = false;  // only the name of the file states it
  std::string gpu;                 // as named in the log
  int ranks = 0;                   // 0: not stated; the same for nodes and gpus_per_node
  int nodes = 0;
  int gpus_per_node = 0;
  std::string version_of_library;  // "2.23.4"; empty when it is not stated
  // Header lines "# key: value" of the table form ("nic", "env", "status", "source"), and their equivalents in the
  // other forms. Only what affects the result: no users, no file paths, no host names.
  std::map<std::string, std::string> facts;
  std::optional<PlayedMachine> played;  // empty: it was measured
  std::vector<CollectiveRow> rows;

  [[nodiscard]] std::string fact(const std::string& key) const {
    const auto found = facts.find(key);
    return found == facts.end() ? "" : found->second;
  }
};

// The same call of the test, as in a copy of a log: every time agrees. A single one may agree by chance.
[[nodiscard]] bool is_same_measurement(const CollectiveLog& first, const CollectiveLog& second);

struct CollectiveLogReading {
  CollectiveLog log;
  Diagnostics warnings;  // rows that were left out, and why
};

// The form is detected from the text: the output of the tests (all versions), their JSON (-J, version 3), the file of
// rccl-tests (-x, as CSV or JSON), or a table with "# key: value" lines and one row per size.
[[nodiscard]] Result<CollectiveLogReading> read_collective_log(const std::string& path);
[[nodiscard]] Result<CollectiveLogReading> read_collective_log_text(const std::string& name, std::string_view text);

}  // namespace ringwright::traces
