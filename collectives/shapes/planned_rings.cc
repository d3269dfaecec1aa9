#include "collectives/shapes/planned_rings.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace ringwright::collectives {
namespace {

constexpr int kTailChunks = 4;
constexpr Bytes kBuffered(std::int64_t{4} << 20);  // NCCL_BUFFSIZE: how far a connection may be ahead
constexpr int kLeastStepsApart = 2;
constexpr int kLeastTailSlices = 64;  // of a chain of the second stage: its hosts and latencies add little

int parts_of(int pieces, int least) {
  return (least + pieces - 1) / pieces;
}

}  // namespace

LevelRings::LevelRings(const CollectiveCall& call, const SparedHosts& hosts, const SparedLevel& level, int least_slices)
    : rings(call, level.hosts, hosts.order()),
      fine(parts_of(rings.size() * call.layout->host_count(), least_slices) * call.layout->host_count()),
      slices(rings.size() * fine),
      bundle(std::max(1, slices / least_slices)),
      bytes(call.bytes.count() / call.layout->lost_nics.front().of * level.nics),
      cut(bytes, slices * rings.rings()) {}

PlannedRings::PlannedRings(const CollectiveCall& call)
    : hosts(*call.layout),
      all(call, hosts.order(), hosts.order()),
      main_cut(Bytes(), 1),
      main_pieces(all.size() * all.rings()) {
  int most = 0;
  for (const SparedLevel& level : hosts.levels()) most += level.nics;
  Bytes main = call.bytes;
  int next_piece = main_pieces;
  for (const SparedLevel& each : hosts.levels()) {
    const int least = (kLeastTailSlices * hosts.chains() * each.nics + most - 1) / most;
    LevelRings& level = levels.emplace_back(call, hosts, each, least);
    level.first_piece = next_piece;
    level.first_slot = slots;
    next_piece += level.slices * all.rings();
    const int in_slot = level.bundle * hosts.chains();
    slots += (level.slices + in_slot - 1) / in_slot;
    main = main - level.bytes;
  }
  pieces = next_piece;
  main_cut = Cut(main, main_pieces);
}

Bytes PlannedRings::size(int piece) const {
  if (piece < main_pieces) return main_cut.size(piece);
  const LevelRings* level = &levels.front();
  for (const LevelRings& each : levels) {
    if (piece >= each.first_piece) level = &each;
  }
  return level->cut.size(piece - level->first_piece);
}

PlannedRings::Parts PlannedRings::parts_in(const LevelRings& level, int step) const {
  const int most = 2 * (level.rings.size() - 1) * all.hosts();
  const int each = level.rings.hosts();
  return {.first = std::min(most, step * each), .last = std::min(most, (step + 1) * each)};
}

int PlannedRings::steps_apart() const {
  const std::int64_t piece = std::max<std::int64_t>(1, main_cut.size(0).count());
  return static_cast<int>(std::clamp<std::int64_t>(kBuffered.count() / piece, kLeastStepsApart, first_steps()));
}

int PlannedRings::lag() const {
  return (slots + kTailChunks - 1) / kTailChunks;
}

PlannedRings::Slices PlannedRings::slices_in(int slot, int chain) const {
  if (slot < 0 || slot >= slots) return {};
  int number = 0;
  for (std::size_t next = 1; next < levels.size() && slot >= levels[next].first_slot; ++next) ++number;
  const LevelRings& level = levels[static_cast<std::size_t>(number)];
  const int first = ((slot - level.first_slot) * hosts.chains() + chain) * level.bundle;
  return {.level = number,
          .first_piece = level.first_piece + first * all.rings(),
          .count = std::clamp(level.slices - first, 0, level.bundle)};
}

std::vector<int> PlannedRings::pieces_of(const Slices& slices, int place) const {
  std::vector<int> pieces_of_place;
  for (int i = 0; i < slices.count; ++i) pieces_of_place.push_back(slices.first_piece + i * all.rings() + place);
  return pieces_of_place;
}

}  // namespace ringwright::collectives
