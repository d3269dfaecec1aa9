// The kernels of PyTorch's operators in a profiler's trace: the work of an operator, by the shapes of its inputs, with
// the time of the kernels that it launched.
//
// A kernel belongs to the innermost operator on the thread of its launch. Where the launch is not recorded, it is that
// of the kernel's External id, unless this is only the number of the launch, as in older traces.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "core/plan/kernel.h"
#include "traces/kineto/kineto_event.h"
#include "traces/kineto/kineto_trace.h"

namespace ringwright::traces {

class OperatorCollector final {
 public:
  void add_operation(const KinetoEvent& event);
  // Fills `trace.operators` from its activities.
  void resolve(KinetoTrace& trace);

 private:
  struct Operation {
    std::int64_t thread = 0, start_ns = 0, end_ns = 0;
    std::uint64_t operation = 0;   // External id
    std::optional<Kernel> kernel;  // empty: its inputs do not tell
  };

  [[nodiscard]] const Operation* operation_of(const GpuActivity& activity) const;

  std::vector<Operation> operations_;
  std::unordered_map<std::uint64_t, std::size_t> by_id_;  // looked up only
};

}  // namespace ringwright::traces
