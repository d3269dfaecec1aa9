// One record of a communication log, as its JSON has it.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "traces/input/json_scanner.h"

namespace ringwright::traces {

struct InspectorRecord {
  std::string communicator;
  std::string name;
  std::optional<std::int64_t> rank, ranks, hosts;
  std::string hostname;
  std::int64_t process = 0;
  std::string operation;  // "AllReduce", "Send"; empty: no call ("dump_stats")
  std::string algorithm, protocol;
  std::optional<std::int64_t> sequence, bytes, time_us, start_us;
  std::int64_t dropped = 0;
  bool message = false;  // point to point
};

struct FlightGroup {
  std::string description;
  std::string ranks;  // "[0, 1]"
};
struct FlightEntry {
  std::string group, description;
  std::string operation;
  std::string state;
  std::string type;
  std::optional<std::int64_t> sequence, started_ns, time_ps;
  std::int64_t sent = -1, received = -1;  // elements; -1: not recorded
  bool message = false;
};
struct FlightDump {
  std::optional<std::int64_t> rank;
  std::map<std::string, FlightGroup> groups;
  std::vector<FlightEntry> entries;
};

class LogRecordParser final {
 public:
  LogRecordParser();
  ~LogRecordParser();
  LogRecordParser(const LogRecordParser&) = delete;
  LogRecordParser& operator=(const LogRecordParser&) = delete;

  enum class Form : std::uint8_t { kInvalid, kUnknown, kInspector, kFlightRecorder };
  // By the keys of the object.
  [[nodiscard]] Form form_of(const JsonPiece& piece);
  // False when the text is no valid JSON. Keys that are not known are counted.
  [[nodiscard]] bool inspector(const JsonPiece& piece, InspectorRecord& record);
  [[nodiscard]] bool flight_dump(const JsonPiece& piece, FlightDump& dump);
  [[nodiscard]] const std::map<std::string, std::size_t>& unknown_keys() const { return unknown_; }

 private:
  struct State;
  std::unique_ptr<State> state_;
  std::map<std::string, std::size_t> unknown_;
};

}  // namespace ringwright::traces
