// Matrix multiplications of a profiler's trace: the shapes of PyTorch's operations with the time of their kernels.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "traces/kineto/kineto_event.h"
#include "traces/kineto/kineto_trace.h"

namespace ringwright::traces {

class GemmCollector final {
 public:
  // aten::mm, addmm, bmm or baddbmm; without shapes it is dropped.
  void add_operation(const KinetoEvent& event);
  // Fills `trace.gemms` from the kernels whose External id is that of an operation.
  void resolve(KinetoTrace& trace) const;

 private:
  std::map<std::uint64_t, MeasuredGemm> by_operation_;
};

}  // namespace ringwright::traces
