// The kernels of a step under the GPU's roofline.
#include "planning/report/builtin_panels.h"
#include "planning/report/scales.h"

namespace ringwright::planning {

std::vector<Panel> kernel_roofline(const ResultInput& result) {
  PanelColumn family = text_column("family"), intensity = number_column("arithmetic intensity", "FLOP/B"),
              rate = number_column("arithmetic rate", "TFLOP/s"), name = text_column("kernel"),
              type = text_column("type"), time = number_column("time of a launch", "us"),
              launches = number_column("launches per step", ""), step = number_column("time per step", "ms"),
              bound = text_column("limited by");
  for (const JsonValue& kernel : result.json["kernels"].list()) {
    const double flops = kernel["flops"].number().value_or(0.0);
    const double bytes = kernel["bytes"].number().value_or(0.0);
    const double seconds = kernel["launch_s"].number().value_or(0.0);
    if (!(flops > 0.0 && bytes > 0.0 && seconds > 0.0)) continue;
    texts(family).push_back(kernel["family"].text());
    numbers(intensity).push_back(flops / bytes);
    numbers(rate).push_back(flops / seconds / 1e12);
    texts(name).push_back(kernel["name"].text());
    texts(type).push_back(kernel["type"].text());
    numbers(time).push_back(seconds * 1e6);
    numbers(launches).push_back(kernel["launches"].number_or_unknown());
    numbers(step).push_back(kernel["time_s"].number_or_unknown() * 1e3);
    texts(bound).push_back(kernel["bound"].text());
  }
  if (family.size() == 0) return {};
  Panel panel{.id = "roofline",
              .title = "Kernels under the roofline",
              .sentence =
                  "The slope is the memory bandwidth, the flat roof the arithmetic peak of the GPU. The larger a "
                  "point, the more time of a step it takes; far below the roof it runs less efficiently than "
                  "the hardware allows.",
              .chart = Chart::kPoints,
              .columns = {family, intensity, rate, name, type, time, launches, step, bound},
              .x_scale = AxisScale::kLogarithmic,
              .y_scale = AxisScale::kLogarithmic};
  const double bandwidth = result.json["job"]["memory_bytes_per_s_per_gpu"].number().value_or(0.0);
  const double peak = result.json["job"]["peak_flops_per_s_per_gpu"].number().value_or(0.0);
  if (bandwidth > 0.0) {
    panel.marks.push_back({.kind = PanelMark::Kind::kDiagonal, .name = "memory bandwidth", .value = bandwidth / 1e12});
  }
  if (peak > 0.0) panel.marks.push_back({.name = "arithmetic peak", .value = peak / 1e12});
  return {panel};
}

}  // namespace ringwright::planning
