// The computing time of a step by kernel family, and by what bounds each kernel.
#include <algorithm>
#include <array>

#include "planning/report/builtin_panels.h"
#include "planning/report/scales.h"

namespace ringwright::planning {
namespace {

constexpr std::array<std::string_view, 3> kBounds = {"arithmetic", "memory", "overhead"};

struct FamilyTime {
  std::string family;
  std::array<double, kBounds.size()> seconds = {};
  double launches = 0.0;

  [[nodiscard]] double whole() const { return seconds[0] + seconds[1] + seconds[2]; }
};

std::vector<FamilyTime> times_of_families(const std::vector<JsonValue>& kernels) {
  std::vector<FamilyTime> families;
  for (const JsonValue& kernel : kernels) {
    const std::string& name = kernel["family"].text();
    auto known = std::ranges::find(families, name, &FamilyTime::family);
    if (known == families.end()) known = families.insert(known, {.family = name});
    const auto bound = std::ranges::find(kBounds, std::string_view(kernel["bound"].text()));
    const auto index = static_cast<std::size_t>(bound - kBounds.begin());
    known->seconds[std::min(index, kBounds.size() - 1)] += kernel["time_s"].number().value_or(0.0);
    known->launches += kernel["launches"].number().value_or(0.0);
  }
  std::ranges::stable_sort(families, std::ranges::greater(), &FamilyTime::whole);
  return families;
}

}  // namespace

std::vector<Panel> kernel_families(const ResultInput& result) {
  const std::vector<FamilyTime> families = times_of_families(result.json["kernels"].list());
  if (families.empty()) return {};
  const UnitScale scale = time_scale(families.front().whole());
  const std::string unit(scale.unit);
  Panel panel{.id = "kernel-families",
              .title = "Computing, by kernel family",
              .sentence =
                  "Time of a step's kernels on a GPU, averaged over all GPUs. Arithmetic: the tensor cores "
                  "limit; memory: its bandwidth; overhead: launching takes longer than both.",
              .chart = Chart::kBars,
              .columns = {text_column("family")}};
  for (const std::string_view bound : kBounds) panel.columns.push_back(number_column("by " + std::string(bound), unit));
  panel.columns.push_back(number_column("launches per step", ""));
  for (const FamilyTime& family : families) {
    texts(panel.columns[0]).push_back(family.family);
    for (std::size_t i = 0; i < kBounds.size(); ++i) {
      numbers(panel.columns[1 + i]).push_back(family.seconds[i] * scale.factor);
    }
    numbers(panel.columns.back()).push_back(family.launches);
  }
  return {panel};
}

}  // namespace ringwright::planning
