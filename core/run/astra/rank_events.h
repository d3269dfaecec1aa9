// Events of ranks, gathered by rank and tick: what a rank has to do at one tick runs in one go, in the order in which
// it was scheduled, when the first of it is due.
//
// This is how ASTRA-sim orders events of the same tick, which decides who is first at a link that two messages reach
// at once.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "core/engine/tick_queue.h"
#include "core/ports/message_network.h"
#include "core/run/astra/event_kinds.h"

namespace ringwright {

struct RankEvent {
  RankEventKind kind = RankEventKind::kPacket;
  std::uint32_t index = 0;
  Tick extra = 0;
};

class RankEvents final : public RankMoments {
 public:
  RankEvents(TickQueue& queue, std::size_t ranks) : queue_(queue), ranks_(ranks) {}

  [[nodiscard]] std::optional<Tick> due_since(std::uint32_t rank) const override;

  void after(std::uint32_t rank, Tick delay, const RankEvent& event);

  // For JobEvent::kRankBatch: `handle(rank, event)` for each event of the batch, including those added to it meanwhile.
  template <class Handle>
  void run(std::uint32_t batch, Handle&& handle) {
    const std::uint32_t rank = batches_[batch].rank;
    const RankEvent first = batches_[batch].first;
    handle(rank, first);
    for (std::uint32_t at = batches_[batch].second; at != kNone;) {
      const RankEvent event = entries_[at].event;
      handle(rank, event);
      const std::uint32_t next = entries_[at].next;
      entries_[at].next = free_entry_;
      free_entry_ = at;
      at = next;
    }
    remove(batch);
  }

 private:
  static constexpr std::uint32_t kNone = UINT32_MAX;

  struct Entry {
    RankEvent event;
    std::uint32_t next = kNone;
  };
  struct alignas(64) Batch {  // one cache line, as it is taken at random where ranks are not in step
    Tick when = 0;
    Tick scheduled = 0;
    std::uint32_t rank = 0;
    std::uint32_t second = kNone;  // entries after the first event; most batches have none
    std::uint32_t last = kNone;
    std::uint32_t next_of_rank = kNone;  // or the next free one
    RankEvent first;
  };

  struct Rank {
    std::uint32_t first = kNone;  // batch
    Tick last_run = -1;           // when its last batch was run,
    Tick last_scheduled = 0;      // and scheduled
  };

  void remove(std::uint32_t batch);
  [[nodiscard]] std::uint32_t find(std::uint32_t rank, Tick when) const;
  void add(std::uint32_t rank, Tick when, const RankEvent& event);

  TickQueue& queue_;
  std::vector<Rank> ranks_;
  std::vector<Batch> batches_;
  std::vector<Entry> entries_;
  std::uint32_t free_batch_ = kNone;
  std::uint32_t free_entry_ = kNone;
};

}  // namespace ringwright
