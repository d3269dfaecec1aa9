// The collectives of a profiler's trace: kernels of NCCL with the metadata that belongs to them.
//
// Newer builds write the metadata into the kernel's event. Otherwise they are those of the operation
// record_param_comms with the kernel's External id, or those of the record, operator ("c10d::_allgather_base_") or
// annotation ("nccl:all_reduce") during which the same thread launched the kernel. An operator's buffers give the
// number of ranks where one is that many times the other.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "core/base/diagnostic.h"
#include "traces/kineto/kineto_event.h"
#include "traces/kineto/kineto_trace.h"

namespace ringwright::traces {

class CallCollector final {
 public:
  void add_kernel(const KinetoEvent& event);
  void add_record(const KinetoEvent& event);  // record_param_comms, an operator, or an annotation "nccl:..."
  void add_launch(const KinetoEvent& event);
  // Fills `trace.calls`. Errors: types that are not known, lists of ranks that cannot be rebuilt.
  void resolve(const DistributedInfo& info, KinetoTrace& trace, Diagnostics& problems);

 private:
  struct NcclKernel {
    std::string name;
    CommArguments comm;
    std::uint64_t correlation = 0, operation = 0;
    std::int64_t start_ns = 0, time_ps = 0;
    std::int32_t stream = -1;
  };
  // From the least to the most that is known: of a call no more than its operation.
  enum class RecordKind : std::uint8_t { kCall, kAnnotation, kOperator, kMetadata };
  struct CommRecord {
    RecordKind kind = RecordKind::kMetadata;
    CommArguments comm;
    std::int64_t thread = 0, start_ns = 0, end_ns = 0;
    std::uint64_t operation = 0;
  };
  struct Launch {
    std::uint64_t correlation = 0;
    std::int64_t thread = 0, start_ns = 0;
  };

  struct FoundRecord {
    const CommRecord* record = nullptr;
    bool during_operator = false;  // of PyTorch that calls this operation
  };
  [[nodiscard]] FoundRecord record_during(const Launch& launch) const;
  void find_metadata();
  [[nodiscard]] std::vector<Duration> times_with_others() const;
  [[nodiscard]] CallGroup group_of(const CommArguments& comm, const DistributedInfo& info, Diagnostics& problems);

  std::vector<NcclKernel> kernels_;
  std::vector<CommRecord> records_;
  std::vector<Launch> launches_;
  // By name of the group: start and stride of its ranks, which only record_param_comms has.
  std::map<std::string, std::pair<std::int64_t, std::int64_t>> strides_;
  std::map<std::string, std::string> unknown_types_;  // and where: the kernel's name
};

}  // namespace ringwright::traces
