// What a trace or log holds, for people and for scripts: facts, tables, and everything that is wrong with it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "core/base/diagnostic.h"
#include "core/base/units.h"

namespace ringwright::traces {

// Numbers keep their type: people read "1 MiB", scripts 1048576; what is not known is "-" and null.
using SummaryValue =
    std::variant<std::string, std::int64_t, double, Bytes, Duration, std::optional<double>, std::optional<Bytes>>;

struct SummaryFact {
  std::string name;  // "nodes"
  SummaryValue value;
};

struct SummaryTable {
  std::string title;  // "collectives"
  std::vector<std::string> columns;
  std::vector<std::vector<SummaryValue>> rows;
};

struct FileSummary {
  std::vector<SummaryFact> facts;
  std::vector<SummaryTable> tables;
  Diagnostics problems;  // errors too: the rest of the summary holds as far as the file could be read
};

}  // namespace ringwright::traces
