#include "traces/kineto/operator_times.h"

#include <map>
#include <utility>

#include "traces/kineto/host_nesting.h"
#include "traces/kineto/operator_kernels.h"

namespace ringwright::traces {

void OperatorCollector::add_operation(const KinetoEvent& event) {
  operations_.push_back({.thread = event.thread,
                         .start_ns = event.start_ns,
                         .end_ns = (Duration(event.start_ns) + Duration(event.time_ps / 1000)).count(),
                         .operation = event.operation,
                         .kernel = kernel_of_operator(event.name, event.inputs)});
}

const OperatorCollector::Operation* OperatorCollector::operation_of(const GpuActivity& activity) const {
  if (activity.launch_thread) {
    const Operation* const found = innermost_event(operations_, *activity.launch_thread, activity.launched_ns);
    if (found != nullptr) return found;
  }
  if (activity.operation == 0 || activity.operation == activity.correlation) return nullptr;
  const auto found = by_id_.find(activity.operation);
  return found == by_id_.end() ? nullptr : &operations_[found->second];
}

void OperatorCollector::resolve(KinetoTrace& trace) {
  sort_nested(operations_);
  for (std::size_t i = 0; i < operations_.size(); ++i) {
    if (operations_[i].operation != 0) by_id_.try_emplace(operations_[i].operation, i);
  }
  std::map<std::size_t, MeasuredOperator> timed;
  for (const GpuActivity& activity : trace.activities) {
    if (activity.work != GpuWork::kKernel) continue;
    const Operation* const from = operation_of(activity);
    if (from == nullptr || !from->kernel) continue;
    const auto index = static_cast<std::size_t>(from - operations_.data());
    MeasuredOperator& measured = timed.try_emplace(index, MeasuredOperator{.kernel = *from->kernel}).first->second;
    Kernel& kernel = measured.kernel;
    const bool is_fp32 = kernel.family == KernelFamily::kGemm && kernel.type == DataType::kFp32;
    if (is_fp32 && uses_tf32(trace.names[activity.name])) kernel.type = DataType::kTf32;
    measured.time += activity.time;
    ++measured.kernels;
  }
  for (auto& [index, measured] : timed) trace.operators.push_back(std::move(measured));
}

}  // namespace ringwright::traces
