#include "validation/fit/latency_line.h"

namespace ringwright::validation {

double LatencyLine::seconds(Bytes bytes) const {
  return to_seconds(latency) + static_cast<double>(bytes.count()) / rate.count();
}

LatencyLine fit_latency_line(std::span<const SizedTime> points) {
  double uu = 0.0, uv = 0.0, vv = 0.0, u_sum = 0.0, v_sum = 0.0;
  for (const SizedTime& point : points) {
    const double u = 1.0 / point.seconds;
    const double v = static_cast<double>(point.bytes.count()) / point.seconds;
    uu += u * u;
    uv += u * v;
    vv += v * v;
    u_sum += u;
    v_sum += v;
  }
  const double determinant = uu * vv - uv * uv;
  const bool two_sizes = determinant > 1e-12 * uu * vv;
  double latency = two_sizes ? (u_sum * vv - v_sum * uv) / determinant : 0.0;
  double per_byte = two_sizes ? (v_sum * uu - u_sum * uv) / determinant : 0.0;
  if (latency <= 0.0 || per_byte <= 0.0) {
    latency = 0.0;
    per_byte = vv > 0.0 ? v_sum / vv : 1.0;
  }
  return {.latency = from_seconds(latency), .rate = Bandwidth(1.0 / per_byte)};
}

}  // namespace ringwright::validation
