#include "workload/input/data_pipeline.h"

#include <algorithm>
#include <limits>

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

}  // namespace ringwright::workload
