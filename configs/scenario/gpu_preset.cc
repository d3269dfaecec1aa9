#include "configs/scenario/gpu_preset.h"

#include <utility>

namespace ringwright::configs {

Result<GpuPreset> load_gpu(const std::string& name, const ScenarioOptions& options) {
  LoadOptions load = load_options(options);
  load.presets = {{.path = "gpu", .folder = "gpus"}, {.path = "gpu.kernels", .folder = "kernels"}};
  auto document = ConfigDocument::load_text("gpu " + name, "gpu: {preset: \"" + name + "\"}\n", load);
  if (!document) return tl::unexpected(document.error());
  ConfigMap map = document->root().map("gpu", "the GPU");
  workload::GpuSpec gpu = workload::read_gpu_spec(map);
  document->check_all_read();
  if (document->log().diagnostics().has_errors()) return tl::unexpected(document->log().diagnostics());
  return GpuPreset{.document = std::move(*document), .gpu = std::move(gpu)};
}

}  // namespace ringwright::configs
