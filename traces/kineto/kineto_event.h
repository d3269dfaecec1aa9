// One event of a profiler's trace, as far as it is needed.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "traces/input/json_scanner.h"
#include "traces/kineto/operator_input.h"

namespace ringwright::traces {

enum class EventKind : std::uint8_t {
  kOther,  // not needed
  kKernel,
  kCopy,
  kMemset,
  kOperation,      // on the CPU: record_param_comms and operators whose work is known
  kLaunch,         // of a kernel, by the runtime or driver
  kAnnotation,     // "nccl:all_reduce", "ProfilerStep#7"
  kGpuAnnotation,  // "ProfilerStep#7" on the GPU
};

// Metadata of a collective, of a kernel or of record_param_comms.
struct CommArguments {
  std::string collective;  // "_allgather_base"; empty: no metadata
  std::string type;        // "BFloat16"
  std::string group;
  std::string description;
  std::string ranks;  // "[0, 1]", cut above 30 entries
  std::optional<std::int64_t> sent, received, size, rank_start, rank_stride, sequence;
};

struct KinetoEvent {
  EventKind kind = EventKind::kOther;
  std::string_view name;  // valid until the next event is parsed
  std::int64_t thread = 0;
  std::int64_t start_ns = 0;
  std::int64_t time_ps = 0;
  std::uint64_t correlation = 0;
  std::uint64_t operation = 0;  // External id
  std::int64_t process = -1;
  std::optional<std::uint64_t> record;  // Record function id
  std::int32_t stream = 0;
  std::int32_t device = 0;
  CommArguments comm;
  std::vector<OperatorInput> inputs;  // the first twelve
};

// "c10d::_allgather_base_": an operator of PyTorch whose first input is the collective's result, and the second what
// this rank contributes.
[[nodiscard]] bool is_base_collective(std::string_view operation);
// "c10d::allreduce_": an operator of PyTorch that calls a collective.
[[nodiscard]] bool calls_collective(std::string_view operation);

// Of a kernel by the host.
struct HostLaunch {
  std::int64_t thread = 0;
  std::int64_t start_ns = 0;
};

struct ProcessGroupConfig {
  std::string name;
  std::string description;
  int size = 0;
  std::vector<int> ranks;
};
struct DistributedInfo {
  std::string backend;
  std::string nccl_version;
  int rank = -1;
  int world_size = 0;
  std::vector<ProcessGroupConfig> groups;
};

// Which events of the host are parsed: those that name a collective or an operator whose work is known, launches of
// kernels and marks of steps, or all of its operations, annotations and launches.
enum class HostEvents : std::uint8_t { kNeeded, kAll };

// Parses the texts that the scanner cuts; keeps its memory between them.
class KinetoParser final {
 public:
  explicit KinetoParser(HostEvents host = HostEvents::kNeeded);
  ~KinetoParser();
  KinetoParser(const KinetoParser&) = delete;
  KinetoParser& operator=(const KinetoParser&) = delete;

  // False when the text is no event: it is no valid JSON, or has no time.
  [[nodiscard]] bool event(const JsonPiece& piece, KinetoEvent& event);
  [[nodiscard]] std::optional<DistributedInfo> distributed(const JsonPiece& piece);
  // The name of the first device.
  [[nodiscard]] std::string device_name(const JsonPiece& piece);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace ringwright::traces
