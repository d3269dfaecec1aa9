// How fast samples are prepared for training, in closed form.
//
//   workers   local workers of all hosts and remote ones, each 1 / CPU time of a sample
//   remote    no more than the hosts' data networks carry: hosts x bandwidth / bytes of a prepared sample
//   storage   no more than the store delivers: the lesser of hosts x bandwidth of one and that of the job, over the
//             stored bytes of a sample
//
// Workers prepare the batch of the next step while one is computed (PyTorch's DataLoader with prefetch_factor >= 1,
// tf.data's prefetch). Where they are as fast in every step, a step takes the longer of its own time and that of its
// batch: stall = max(0, 1 - prepared rate / needed rate) of the step with it (GoldMiner, SIGMOD 2023). Where every
// n-th batch takes longer, a queue of d batches hides it: batch i is begun when batch i - 1 is ready and step i - d has
// taken its own, and step i begins when step i - 1 has ended and batch i is ready.
//
// Elastic workers (GoldMiner): remote ones are added until no step waits, as long as they prepare more.
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
  std::int64_t elastic_workers = 0; // remote ones that may be added
  std::int64_t prefetch = 1;        // batches that are prepared ahead
  std::int64_t slow_every = 0;      // every n-th batch takes longer; 0: none
  double slow_factor = 1.0;         // times as long

  [[nodiscard]] double mean_factor() const {
    return slow_every > 0 ? 1.0 + (slow_factor - 1.0) / static_cast<double>(slow_every) : 1.0;
  }
};

enum class InputLimit { kWorkers, kNetwork, kStorage };
// "CPU workers", "data network", "storage"
[[nodiscard]] std::string_view to_string(InputLimit limit);

struct InputRate {
  double samples_per_second = 0.0;
  InputLimit limit = InputLimit::kWorkers;  // what more of would prepare more
};
// Of batches that do not take longer.
[[nodiscard]] InputRate input_rate(const DataPipeline& pipeline, std::int64_t hosts);

// Until a batch of so many samples is prepared; the clock's end where it takes longer than that.
[[nodiscard]] Duration batch_time(const DataPipeline& pipeline, std::int64_t hosts, std::int64_t samples);

// The pipeline with as many of its elastic workers as it takes to prepare so many samples a second, or as prepare more.
[[nodiscard]] DataPipeline with_elastic_workers(const DataPipeline& pipeline, std::int64_t hosts, double needed);

// What a step of the given length waits for its batch in the long run, as a mean, where every n-th batch takes longer.
[[nodiscard]] Duration mean_wait(const DataPipeline& pipeline, Duration batch, Duration step);

}  // namespace ringwright::workload
