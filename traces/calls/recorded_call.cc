#include "traces/calls/recorded_call.h"

#include <algorithm>
#include <array>
#include <cctype>

#include "traces/input/log_text.h"

namespace ringwright::traces {
namespace {

struct OperationWord {
  std::string_view begin;  // of the word without underscores, in small letters
  std::string_view name;
};

// Longer beginnings before those that they contain.
constexpr std::array kOperationWords = {
    OperationWord{"allreduce", "all_reduce"},
    OperationWord{"allgather", "all_gather"},
    OperationWord{"reducescatter", "reduce_scatter"},
    OperationWord{"alltoall", "alltoall"},
    OperationWord{"broadcast", "broadcast"},
    OperationWord{"reduce", "reduce"},
    OperationWord{"sendrecv", "sendrecv"},
    OperationWord{"send", "send"},
    OperationWord{"recv", "recv"},
    OperationWord{"gather", "gather"},
    OperationWord{"scatter", "scatter"},
    OperationWord{"barrier", "barrier"},
};

constexpr std::array<std::string_view, 6> kCollectives = {"all_reduce", "all_gather", "reduce_scatter",
                                                          "alltoall",   "broadcast",  "reduce"};

}  // namespace

std::string_view operation_of(std::string_view word) {
  if (const std::size_t colon = word.rfind(':'); colon != std::string_view::npos) word.remove_prefix(colon + 1);
  std::string bare;
  for (const char c : word) {
    if (c != '_') bare += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  for (const OperationWord& entry : kOperationWords) {
    if (bare.starts_with(entry.begin)) return entry.name;
  }
  return {};
}

bool is_collective(std::string_view operation) {
  return std::ranges::find(kCollectives, operation) != kCollectives.end();
}

// A kernel of sends and receives without metadata may carry out an all-to-all, which all ranks call.
CallCounter counter_of(std::string_view operation) {
  if (operation == "send" || operation == "recv") return CallCounter::kMessages;
  return operation == "sendrecv" ? CallCounter::kSendRecv : CallCounter::kCollectives;
}

CallRates rates_of(std::string_view operation, int ranks, std::optional<Bytes> bytes, Duration time) {
  if (!bytes || *bytes <= Bytes(0) || time <= Duration(0)) return {};
  const double algbw = per_second(*bytes, time).count() / 1e9;
  return {.algbw = algbw, .busbw = algbw * bus_factor_of(operation, ranks)};
}

}  // namespace ringwright::traces
