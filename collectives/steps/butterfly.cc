#include "collectives/steps/butterfly.h"

#include <cstdint>

namespace ringwright::collectives {

int Pairings::partner(int member, int stage) const {
  switch (pattern_) {
    case Pattern::kFarthestFirst: return member ^ (1 << (stages_ - 1 - stage));
    case Pattern::kNearestFirst: return member ^ (1 << stage);
    case Pattern::kBine: break;
  }
  const int power = 2 << stage;
  const int distance = (1 + (stage % 2 == 0 ? power : -power)) / 3;
  return wrap(member % 2 == 0 ? member + distance : member - distance, members_);
}

void Pairings::beyond(int member, int stage, std::vector<int>& out) const {
  out.assign(1, member);
  for (int later = stage + 1; later < stages_; ++later) {
    const std::size_t known = out.size();
    for (std::size_t i = 0; i < known; ++i) out.push_back(partner(out[i], later));
  }
}

void HalvingButterfly::step(int member, int index, CollectiveStep& out) const {
  const ButterflyStage stage = stage_at(index);
  const int partner = pairings_.partner(member, stage.number);
  out.sends.push_back({.peer = partner, .size = size(stage, member)});
  out.awaits.push_back({.peer = partner, .send = 0});
}

void HalvingButterfly::contents(int member, int index, SendContents& out) const {
  const ButterflyStage stage = stage_at(index);
  pairings_.beyond(keeper(stage, member), stage.number, out.pieces);
  out.reduce = stage.half == Half::kScatter;
}

ButterflyStage HalvingButterfly::stage_at(int index) const {
  const int stages = pairings_.stages();
  if (call_.kind == CollectiveKind::kAllGather) return {.half = Half::kGather, .number = stages - 1 - index};
  if (index < stages) return {.half = Half::kScatter, .number = index};
  return {.half = Half::kGather, .number = 2 * stages - 1 - index};
}

Bytes HalvingButterfly::size(const ButterflyStage& stage, int member) const {
  const Cut cut(call_.bytes, call_.size());
  if (cut.even()) return cut.size(0) * (std::int64_t{1} << (pairings_.stages() - 1 - stage.number));
  std::vector<int> pieces;
  pairings_.beyond(keeper(stage, member), stage.number, pieces);
  Bytes sum;
  for (const int piece : pieces) sum += cut.size(piece);
  return sum;
}

}  // namespace ringwright::collectives
