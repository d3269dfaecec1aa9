#include "validation/kernels/kernel_profile_text.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "validation/tables/yaml_text.h"

namespace ringwright::validation {
namespace {

using workload::ConstantForm;
using workload::ConstantSpec;

std::string value_text(const ConstantSpec& spec, double value) {
  switch (spec.form) {
    case ConstantForm::kShare: return fmt::format("{:.2f}%", 100.0 * value);
    case ConstantForm::kNumber: return fmt::format("{:.3f}", value);
    case ConstantForm::kTime: return fmt::format("{:.3f}us", 1e6 * value);
    case ConstantForm::kWhole: return fmt::format("{}", std::llround(value));
  }
  return "";
}

// Sizes that the fit used are facts about its tables, not fitted.
bool is_range(const ConstantSpec& spec) {
  return spec.name == "smallest" || spec.name == "largest" || spec.name == "shortest" || spec.name == "longest";
}

// Of the constant at a path below `gpu.kernels`.
std::string provenance(const std::string& constant, const ConfigLog* log) {
  const std::string path = "gpu.kernels." + constant;
  Evidence evidence = Evidence::kAssumed;
  std::string source;
  if (log != nullptr) {
    for (const ValueRead& value : log->values()) {
      if (value.path != path || value.origin == "default") continue;
      evidence = value.evidence;
      source = value.source;
    }
  }
  if (source.empty()) source = "not measured: a value of the class";
  return fmt::format("evidence: {}, source: {}", to_string(evidence), yaml_quoted(source));
}

// The other libraries of fused attention. Releases that were read, and not fitted, stay in the order of the log.
std::string flash_attention_yaml(const KernelFit& fit, const ConfigLog* log) {
  std::string text;
  for (std::size_t entry = 0; entry < fit.profile.flash_attention.size(); ++entry) {
    const workload::FlashAttention& other = fit.profile.flash_attention[entry];
    const bool fitted =
        std::ranges::find(fit.fitted_releases, other.release, &FittedRelease::release) != fit.fitted_releases.end();
    text += fmt::format("  - release: {}\n", other.release);
    for (std::size_t i = 0; i < other.values.size(); ++i) {
      const ConstantSpec& spec = workload::kernel_constants()[static_cast<std::size_t>(workload::kLibraryConstants[i])];
      const std::string value = value_text(spec, other.values[i]);
      const std::string path = fmt::format("flash_attention[{}].{}", entry, spec.name);
      text += fitted ? fmt::format("    {}: {}\n", spec.name, value)
                     : fmt::format("    {}: {{value: {}, {}}}\n", spec.name, value, provenance(path, log));
    }
  }
  return text.empty() ? text : "flash_attention:\n" + text;
}

}  // namespace

std::string profile_yaml(const KernelFit& fit, const ProfileText& about) {
  std::string text = fmt::format(
      "# Kernels of {}: constants of the calibrated compute model, fitted by `ringwright calibrate "
      "kernels`.\nevidence: calibrated\n",
      about.gpu);
  std::string sources;
  for (const std::string& source : about.sources) sources += (sources.empty() ? "" : "; ") + source;
  text += fmt::format("source: {}\n\nname: {}\n", yaml_quoted(sources), about.gpu);
  std::string_view section;
  for (const ConstantSpec& spec : workload::kernel_constants()) {
    if (spec.section != section) text += fmt::format("{}:\n", spec.section);
    section = spec.section;
    const std::string value = value_text(spec, fit.profile[spec.id]);
    const bool fitted = std::ranges::find(fit.fitted, spec.id) != fit.fitted.end();
    if (fitted || is_range(spec)) {
      text += fmt::format("  {}: {}\n", spec.name, value);
    } else {
      text += fmt::format("  {}: {{value: {}, {}}}\n", spec.name, value,
                          provenance(fmt::format("{}.{}", spec.section, spec.name), about.log));
    }
  }
  return text + flash_attention_yaml(fit, about.log);
}

}  // namespace ringwright::validation
