// The table of mistakes in communication logs.
#include "traces/inspector/error_codes.h"

#include <array>

namespace ringwright::traces {
namespace {

constexpr std::array kInspectorCodes = {
    ErrorCode{.code = "E261",
              .title = "a communication log cannot be read",
              .explanation = "Accepted are logs of NCCL Inspector and RCCL Inspector (JSON, not the Prometheus form), "
                             "and dumps of PyTorch's\nFlight Recorder as JSON; plain or gzip, files or a folder of "
                             "them, all of one kind.",
              .example = "NCCL_PROFILER_PLUGIN=libnccl-profiler-inspector.so NCCL_INSPECTOR_ENABLE=1\n"
                         "NCCL_INSPECTOR_DUMP_DIR=logs NCCL_INSPECTOR_DUMP_THREAD_INTERVAL_MICROSECONDS=500"},
    ErrorCode{.code = "W262",
              .title = "part of a communication log has no effect",
              .explanation = "The file ends within a record, records have no time, the Inspector dropped calls, or "
                             "keys are not known.\nWhat is complete is used.",
              .example = "NCCL_INSPECTOR_DUMP_THREAD_INTERVAL_MICROSECONDS=500   # write more often, drop fewer"},
    ErrorCode{.code = "E263",
              .title = "a Flight Recorder dump is a pickle",
              .explanation = "A pickle is a program of Python and is not read. PyTorch writes the same content as "
                             "JSON.",
              .example = "json = torch._C._distributed_c10d._dump_nccl_trace_json()"},
};

}  // namespace

std::span<const ErrorCode> inspector_error_codes() {
  return kInspectorCodes;
}

}  // namespace ringwright::traces
