#include "workload/input/data_pipeline.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace ringwright::workload {
namespace {

constexpr double kUnlimited = std::numeric_limits<double>::infinity();

double count_of(Bytes bytes) { return static_cast<double>(bytes.count()); }

double storage_rate(const DataPipeline& pipeline, double hosts) {
  double bandwidth = kUnlimited;
  if (pipeline.storage_per_host > Bandwidth()) bandwidth = hosts * pipeline.storage_per_host.count();
  if (pipeline.storage_total > Bandwidth()) bandwidth = std::min(bandwidth, pipeline.storage_total.count());
  return pipeline.stored_per_sample > Bytes() ? bandwidth / count_of(pipeline.stored_per_sample) : kUnlimited;
}

}  // namespace

std::string_view to_string(InputLimit limit) {
  switch (limit) {
    case InputLimit::kWorkers: return "CPU workers";
    case InputLimit::kNetwork: return "data network";
    case InputLimit::kStorage: return "storage";
  }
  return "CPU workers";
}

InputRate input_rate(const DataPipeline& pipeline, std::int64_t hosts) {
  const auto of_hosts = static_cast<double>(hosts);
  const double worker = 1.0 / to_seconds(pipeline.cpu_per_sample);
  const double carried = pipeline.remote_workers > 0
                             ? of_hosts * pipeline.network.count() / count_of(pipeline.bytes_per_sample)
                             : kUnlimited;
  const double remote = static_cast<double>(pipeline.remote_workers) * worker;
  const double prepared = of_hosts * static_cast<double>(pipeline.local_workers) * worker + std::min(remote, carried);
  const double stored = storage_rate(pipeline, of_hosts);
  if (stored < prepared) return {.samples_per_second = stored, .limit = InputLimit::kStorage};
  return {.samples_per_second = prepared, .limit = carried < remote ? InputLimit::kNetwork : InputLimit::kWorkers};
}

Duration batch_time(const DataPipeline& pipeline, std::int64_t hosts, std::int64_t samples) {
  const double seconds = static_cast<double>(samples) / input_rate(pipeline, hosts).samples_per_second;
  return seconds < to_seconds(kClockEnd) ? from_seconds(seconds) : kClockEnd;
}

DataPipeline with_elastic_workers(const DataPipeline& pipeline, std::int64_t hosts, double needed) {
  DataPipeline grown = pipeline;
  grown.remote_workers += pipeline.elastic_workers;
  if (pipeline.elastic_workers == 0 || input_rate(pipeline, hosts).samples_per_second >= needed) return pipeline;
  const double reachable = std::min(needed, input_rate(grown, hosts).samples_per_second);
  const double worker = 1.0 / to_seconds(pipeline.cpu_per_sample);
  const double local = static_cast<double>(hosts * pipeline.local_workers) * worker;
  constexpr double kRounding = 1e-9;  // of a worker
  const auto remote = static_cast<std::int64_t>(std::ceil((reachable - local) / worker - kRounding));
  grown.remote_workers = std::clamp(remote, pipeline.remote_workers, grown.remote_workers);
  return grown;
}

Duration mean_wait(const DataPipeline& pipeline, Duration batch, Duration step) {
  // The steady state repeats after some periods of slow batches and queues; half of the steps let it settle.
  const std::int64_t period = std::max<std::int64_t>(1, pipeline.slow_every);
  const std::int64_t settles = 64 * (period + pipeline.prefetch);
  const std::int64_t steps = settles + 64 * period;
  const double own = to_seconds(step);
  std::vector<double> starts(static_cast<std::size_t>(steps + 1), 0.0);
  double ready = 0.0;
  for (std::int64_t i = 1; i <= steps; ++i) {
    const bool slow = pipeline.slow_every > 0 && i % pipeline.slow_every == 0;
    const std::int64_t taken = std::max<std::int64_t>(0, i - pipeline.prefetch);
    ready = std::max(ready, starts[static_cast<std::size_t>(taken)]) +
            to_seconds(batch) * (slow ? pipeline.slow_factor : 1.0);
    starts[static_cast<std::size_t>(i)] = std::max(starts[static_cast<std::size_t>(i - 1)] + own, ready);
  }
  const double counted = starts.back() - starts[static_cast<std::size_t>(settles)];
  return from_seconds(std::max(0.0, counted / static_cast<double>(steps - settles) - own));
}

}  // namespace ringwright::workload
