#include "core/report/data_line.h"

#include <fmt/format.h>

#include "core/base/text.h"

namespace ringwright {

std::string data_line(const Report& report) {
  const DataFacts& data = *report.facts.data;
  const double without = to_seconds(report.step_time.mean - data.stall);
  const double needed = without > 0.0 ? static_cast<double>(data.samples) / without : 0.0;
  const double share = report.step_time.mean > Duration() ? 100.0 * ratio(data.stall, report.step_time.mean) : 0.0;
  const std::string prepared = four_digits(data.samples_per_second);
  const std::string elastic =
      data.elastic_workers > 0 ? fmt::format(" with {} elastic workers", data.elastic_workers) : std::string();
  return fmt::format("{} samples/s at most{} ({}), {} needed; stall {} ({:.1f} % of the step)", prepared, elastic,
                     data.limit, four_digits(needed), to_string(data.stall), share);
}

}  // namespace ringwright
