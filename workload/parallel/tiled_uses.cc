#include "workload/parallel/tiled_uses.h"

#include <algorithm>
#include <cstddef>

namespace ringwright::workload {
namespace {

class TiledPass {
 public:
  TiledPass(const ShardUnits& units, const Slot& slot, std::size_t number, std::vector<UnitUse>& uses)
      : units_(units), slot_(slot), number_(number), uses_(uses) {}

  void forward(std::size_t points) {
    for (std::size_t point = 0; point < points; ++point) {
      open(point);
      tiles(point, point);
      close(point);
    }
  }

  void backward(std::size_t points, const LayerGroups& groups) {
    for (std::size_t point = points; point-- > 0;) {
      open(point);
      if (const auto again = groups.computed_again_before(point)) {
        for (std::size_t earlier = again->first; earlier <= again->last; ++earlier) tiles(earlier, point);
      }
      const std::vector<std::size_t>& own = tiles_at(point);
      std::for_each(own.rbegin(), own.rend(), [&](std::size_t unit) { use(unit, point); });
      close(point);
    }
  }

 private:
  [[nodiscard]] const std::vector<std::size_t>& tiles_at(std::size_t point) const {
    return units_.tiles_at(slot_.chunk, point);
  }
  void use(std::size_t unit, std::size_t point) {
    uses_.push_back({.unit = unit, .slot = number_, .pass = slot_.pass, .point = point});
  }
  void open(std::size_t point) { use(units_.unit_at(slot_.chunk, point), point); }
  // `of`: the point whose operators they are.
  void tiles(std::size_t of, std::size_t point) {
    for (const std::size_t unit : tiles_at(of)) use(unit, point);
  }
  void close(std::size_t point) {
    if (!tiles_at(point).empty()) open(point);
  }

  const ShardUnits& units_;
  const Slot& slot_;
  std::size_t number_;
  std::vector<UnitUse>& uses_;
};

}  // namespace

std::vector<UnitUse> uses_of(const ShardUnits& units, const std::vector<ModelChunk>& parts,
                             const TrainingOptions& training, const std::vector<Slot>& slots) {
  if (!units.has_tiles()) return units.uses(slots);
  std::vector<LayerGroups> groups;
  for (const ModelChunk& part : parts) groups.emplace_back(part, training, false);  // one stage: nothing runs ahead
  std::vector<UnitUse> uses;
  for (std::size_t number = 0; number < slots.size(); ++number) {
    const Slot& slot = slots[number];
    TiledPass pass(units, slot, number, uses);
    if (slot.pass == Pass::kForward) {
      pass.forward(units.points(slot.chunk));
    } else {
      pass.backward(units.points(slot.chunk), groups[static_cast<std::size_t>(slot.chunk)]);
    }
  }
  return uses;
}

}  // namespace ringwright::workload
