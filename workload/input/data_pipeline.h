// How fast samples are prepared for training, in closed form.
//
//   workers   local workers of all hosts and remote ones, each 1 / CPU time of a sample
//   remote    no more than the hosts' data networks carry: hosts x bandwidth / bytes of a prepared sample
//   storage   no more than the store delivers: the lesser of hosts x bandwidth of one and that of the job, over the
//             stored bytes of a sample
//
// Workers prepare the batch of the next step while one is computed (PyTorch's DataLoader with prefetch_factor >= 1,
// tf.data's prefetch). They are as fast in every step, so that a step takes the longer of its own time and that of its
// batch: stall = max(0, 1 - prepared rate / needed rate) of the step with it (GoldMiner, SIGMOD 2023).
#pragma once

#include <cstdint>
#include <string_view>

#include "core/base/units.h"

namespace ringwright::workload {

struct DataPipeline {
  Duration cpu_per_sample;          // of one worker: reading, decoding, augmenting, collating
  std::int64_t local_workers = 0;   // of each host
  std::int64_t remote_workers = 0;  // of the job, on hosts without its GPUs
  Bytes bytes_per_sample;           // prepared, as a remote worker sends it
  Bandwidth network;                // of each host, from remote workers
  Bytes stored_per_sample;          // as read from storage
  Bandwidth storage_per_host;       // 0: does not limit
  Bandwidth storage_total;          // 0: does not limit
};

enum class InputLimit { kWorkers, kNetwork, kStorage };
// "CPU workers", "data network", "storage"
[[nodiscard]] std::string_view to_string(InputLimit limit);

struct InputRate {
  double samples_per_second = 0.0;
  InputLimit limit = InputLimit::kWorkers;  // what more of would prepare more
};
[[nodiscard]] InputRate input_rate(const DataPipeline& pipeline, std::int64_t hosts);

// Until a batch of so many samples is prepared; the clock's end where it takes longer than that.
[[nodiscard]] Duration batch_time(const DataPipeline& pipeline, std::int64_t hosts, std::int64_t samples);

}  // namespace ringwright::workload
