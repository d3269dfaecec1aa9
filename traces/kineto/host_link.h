// PyTorch's execution trace of the host, linked to the profiler's trace of the same process: which operator launched
// which work of the GPU.
//
// Operators are found by the number of their recorded function where the profiler writes it (PyTorch 2.1 and newer).
// Older ones are found by name: the n-th call of a name is the n-th in both, if both have as many. Work belongs to the
// innermost operator that runs on the thread of its launch.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "traces/chakra/pytorch_trace.h"
#include "traces/input/file_summary.h"
#include "traces/kineto/host_trace.h"

namespace ringwright::traces {

struct LinkedOperator {
  std::size_t kernels = 0;  // copies and memory sets included
  Duration time;            // of them
  bool found = false;       // in the profiler's trace
};

struct HostLink {
  std::vector<LinkedOperator> operators;  // as in the execution trace
  std::size_t linked_work = 0;            // to one of them
};

[[nodiscard]] HostLink link_host(const PytorchTrace& host, const HostTrace& profile);

// Of two files.
[[nodiscard]] FileSummary summarise_host_link(const std::string& execution_trace, const std::string& profile);

// By execution trace: the profile of its process, as an index; kNoProfile: none is. One of each is a pair, whatever the
// processes.
inline constexpr std::size_t kNoProfile = ~std::size_t{0};
[[nodiscard]] std::vector<std::size_t> profiles_of_hosts(const std::vector<std::string>& execution_traces,
                                                         const std::vector<std::string>& profiles);

}  // namespace ringwright::traces
