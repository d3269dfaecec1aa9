#include "workload/step/stage_activations.h"

#include <algorithm>
#include <utility>

namespace ringwright::workload {
namespace {

// The number of layers of the chunk that end before this point.
int layer_of(const ModelChunk& part, std::size_t point) {
  return static_cast<int>(
      std::count_if(part.points.begin(), part.points.begin() + static_cast<std::ptrdiff_t>(point), ends_layer));
}

}  // namespace

StageActivations::StageActivations(const std::vector<ModelChunk>& parts, const KernelContext& context,
                                   const OffloadOptions& options, HostTraffic& host)
    : parts_(parts), layers_in_host_(options.activation_layers), host_(host) {
  for (const ModelChunk& part : parts) kept_.emplace_back(part, context);
}

void StageActivations::store(ProgramWriter& writer, int chunk, std::size_t point) {
  if (!host_.moves_activations() || !ends_layer(part_of(chunk).points[point])) return;
  const Bytes bytes = kept_of(chunk).kept(point);
  if (bytes == Bytes(0) || layer_of(part_of(chunk), point) >= layers_in_host_) return;
  host_.store_activations(writer, bytes);
}

Bytes StageActivations::awaited(int chunk, std::size_t point) const {
  const KeptLayers& kept = kept_of(chunk);
  return kept.keeper(point) < layers_in_host_ ? kept.needed_before(point) : Bytes(0);
}

// Tensors needed first in a backward pass are fetched on demand, the rest while the layers after them are computed.
void StageActivations::fetch(ProgramWriter& writer, int chunk, std::size_t point) {
  if (!host_.moves_activations() || !ends_layer(part_of(chunk).points[point])) return;
  const Bytes mine = awaited(chunk, point);
  std::optional<TaskIndex> here = mine > Bytes(0) ? std::exchange(fetched_, std::nullopt) : std::nullopt;
  if (mine > Bytes(0) && !here) here = host_.fetch_activations(writer, mine);
  for (std::size_t next = point; next-- > 0 && !fetched_;) {
    if (kept_of(chunk).needed_before(next) == Bytes(0)) continue;
    if (awaited(chunk, next) > Bytes(0)) fetched_ = host_.fetch_activations(writer, awaited(chunk, next));
    break;
  }
  if (here) writer.wait(*here);
}

}  // namespace ringwright::workload
