// The rings and chains of an all-reduce around lost NICs (steps/around_lost_nics.cc), and the pieces of its buffer:
// those of the rings of all hosts, then those of each level of rings that spare some.
#pragma once

#include <vector>

#include "collectives/shapes/cut.h"
#include "collectives/shapes/rail_order.h"
#include "collectives/shapes/spared_hosts.h"

namespace ringwright::collectives {

// The rings of one level: the piece of each goes in `fine` parts. Part q belongs to slice q / p and to place q mod p of
// the second stage. There `bundle` slices at a time go along a chain, the chains in turn, one bundle on each in a slot.
struct LevelRings {
  LevelRings(const CollectiveCall& call, const SparedHosts& hosts, const SparedLevel& level, int least_slices);

  RailOrder rings;
  int fine;
  int slices;
  int bundle;
  Bytes bytes;
  Cut cut;
  int first_piece = 0;
  int first_slot = 0;
};

class PlannedRings {
 public:
  // `call` must outlive this.
  explicit PlannedRings(const CollectiveCall& call);

  SparedHosts hosts;
  RailOrder all;
  std::vector<LevelRings> levels;
  Cut main_cut;
  int main_pieces;
  int pieces = 0;
  int slots = 0;

  [[nodiscard]] Bytes size(int piece) const;
  [[nodiscard]] int first_steps() const { return 2 * (all.size() - 1); }
  // Rounds of the rings of fewer hosts are fewer: of N hosts, h of them in the rings, each is divided into N parts, of
  // which h go in a step, so that all end together. The parts of a step, counted over all rounds: from first to last,
  // without last.
  struct Parts {
    int first = 0;
    int last = 0;
  };
  [[nodiscard]] Parts parts_in(const LevelRings& level, int step) const;
  // Members whose connections have filled their buffers wait for each other: large pieces keep all members together.
  [[nodiscard]] int steps_apart() const;
  // A bundle may leave once the chunk that it belongs to has been added.
  [[nodiscard]] int lag() const;
  [[nodiscard]] int steps() const { return first_steps() + lag() + slots + hosts.complete(); }

  // What goes along the chain in the slot.
  struct Slices {
    int level = 0;
    int first_piece = 0;  // of place 0 in the first slice
    int count = 0;
  };
  [[nodiscard]] Slices slices_in(int slot, int chain) const;
  [[nodiscard]] std::vector<int> pieces_of(const Slices& slices, int place) const;
};

}  // namespace ringwright::collectives
