// Colour refinement: ranks and links get the same colour as long as nothing tells them apart (1-dimensional
// Weisfeiler-Leman; Berkholz, Bonsma and Grohe, "Tight lower and upper bounds for the complexity of canonical colour
// refinement", 2017).
//
// In a round, a rank's colour is refined by those of its peers and of the links on its paths, and then a link's colour
// is that of its capacity and of the flows that cross it. A class of ranks whose members have the same neighbourhood
// keeps its colour, so that a round changes the links of those that split only: a difference that goes around a ring of
// hundreds of replicas takes hundreds of rounds, each of which changes little.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "core/base/ids.h"
#include "core/base/units.h"
#include "core/plan/task_graph.h"
#include "core/symmetry/folding.h"
#include "core/symmetry/footprint.h"
#include "core/symmetry/paths.h"

namespace ringwright {

// Which classes of colours a round of refinement splits.
class SplitFinder {
 public:
  void clear() {
    slots_.assign(kFirstSlots, {});
    used_ = 0;
  }
  // Colours are refined: `next` differs where `now` does.
  void add(std::uint64_t now, std::uint64_t next) {
    Slot& slot = slot_of(now);
    if (slot.used) {
      slot.split = slot.split || slot.next != next;
      return;
    }
    slot = {.now = now, .next = next, .used = true};
    if (2 * ++used_ > slots_.size()) grow();
  }
  [[nodiscard]] bool splits(std::uint64_t now) { return slot_of(now).split; }

 private:
  static constexpr std::size_t kFirstSlots = 1024;
  struct Slot {
    std::uint64_t now = 0;
    std::uint64_t next = 0;
    bool used = false;
    bool split = false;
  };

  // Colours are already random numbers, so their low bits suffice.
  [[nodiscard]] Slot& slot_of(std::uint64_t now) {
    std::size_t at = now & (slots_.size() - 1);
    while (slots_[at].used && slots_[at].now != now) at = (at + 1) & (slots_.size() - 1);
    return slots_[at];
  }
  void grow() {
    const std::vector<Slot> slots = std::exchange(slots_, std::vector<Slot>(2 * slots_.size()));
    for (const Slot& slot : slots) {
      if (slot.used) slot_of(slot.now) = slot;
    }
  }

  std::vector<Slot> slots_;
  std::size_t used_ = 0;
};

class Refinement {
 public:
  // One table of paths for each epoch of the network, and the capacities of its links. All outlive the refinement.
  Refinement(const TaskGraph& graph, const Footprint& footprint, const std::vector<Paths>& paths,
             std::span<const Bandwidth> capacities, const NetworkChanges& changes);

  // Twins are as the first of them, whose hops stand for all.
  void add_twins(std::span<const LinkId> first_of);
  // Until ranks do not split any further, and so neither do links; returns the number of rounds.
  int run();

  [[nodiscard]] const std::vector<std::uint64_t>& rank_colours() const { return rank_colour_; }
  [[nodiscard]] const std::vector<std::uint64_t>& link_colours() const { return link_colour_; }

 private:
  struct Changed {
    RankId rank;
    std::uint64_t before = 0;  // its colour
  };
  // Where the hops of a rank's next edge begin, by epoch.
  using HopCursor = std::vector<std::uint64_t>;
  enum class Since { kNothing, kBefore };

  void begin_rank(std::size_t rank, HopCursor& next) const;
  [[nodiscard]] std::uint64_t path_colour(std::uint64_t edge, HopCursor& next, bool loads_links) const;
  [[nodiscard]] std::uint64_t first_colour(std::size_t link) const;
  bool refine_ranks();
  bool adopt(const std::vector<std::uint64_t>& next);
  void add_group_colours(DimensionId dimension, std::vector<std::uint64_t>& next) const;
  void colour_links();
  void recolour_links();
  void colour_link(std::size_t link);
  void add_flows(const std::vector<Changed>& ranks, Since since);
  template <class Begin, class Visit>
  void visit_flows(std::size_t rank, const Begin& begin, const Visit& visit) const;

  const TaskGraph& graph_;
  const Footprint& footprint_;
  const std::vector<Paths>& paths_;         // by epoch
  std::span<const Bandwidth> capacities_;   // by link
  const NetworkChanges& changes_;
  std::vector<std::uint64_t> rank_colour_;
  std::vector<std::uint64_t> link_colour_;
  std::vector<std::vector<std::uint64_t>> share_factor_;  // by epoch and distinct share, odd
  std::vector<std::uint64_t> link_sum_;  // by link, what crosses it
  SplitFinder splits_;
  std::vector<Changed> changed_;  // in the last round
  // Scratch: by dimension, by rank, the edges that it contributes to its group. Empty where edges are not shared.
  std::vector<std::vector<std::uint64_t>> shared_;
};

}  // namespace ringwright
