#include "core/run/astra/rank_events.h"

namespace ringwright {

std::uint32_t RankEvents::find(std::uint32_t rank, Tick when) const {
  std::uint32_t batch = ranks_[rank].first;
  while (batch != kNone && batches_[batch].when != when) batch = batches_[batch].next_of_rank;
  return batch;
}

void RankEvents::add(std::uint32_t rank, Tick when, const RankEvent& event) {
  std::uint32_t batch = free_batch_;
  if (batch == kNone) {
    batch = static_cast<std::uint32_t>(batches_.size());
    batches_.emplace_back();
  } else {
    free_batch_ = batches_[batch].next_of_rank;
  }
  batches_[batch] = {
      .when = when, .scheduled = queue_.now(), .rank = rank, .next_of_rank = ranks_[rank].first, .first = event};
  ranks_[rank].first = batch;
  queue_.at(when, job_event(JobEvent::kRankBatch, batch));
}

void RankEvents::after(std::uint32_t rank, Tick delay, const RankEvent& event) {
  const Tick when = queue_.now() + delay;
  const std::uint32_t batch_index = find(rank, when);
  if (batch_index == kNone) {
    add(rank, when, event);
    return;
  }
  std::uint32_t entry = free_entry_;
  if (entry == kNone) {
    entry = static_cast<std::uint32_t>(entries_.size());
    entries_.emplace_back();
  } else {
    free_entry_ = entries_[entry].next;
  }
  entries_[entry] = {.event = event, .next = kNone};
  Batch& batch = batches_[batch_index];
  if (batch.second == kNone) {
    batch.second = entry;
  } else {
    entries_[batch.last].next = entry;
  }
  batch.last = entry;
}

std::optional<Tick> RankEvents::due_since(std::uint32_t rank) const {
  if (ranks_[rank].last_run == queue_.now()) return ranks_[rank].last_scheduled;
  const std::uint32_t batch = find(rank, queue_.now());
  if (batch == kNone) return std::nullopt;
  return batches_[batch].scheduled;
}

void RankEvents::remove(std::uint32_t batch) {
  Rank& rank = ranks_[batches_[batch].rank];
  // Of several at one tick the first counts.
  if (rank.last_run != batches_[batch].when) rank.last_scheduled = batches_[batch].scheduled;
  rank.last_run = batches_[batch].when;
  std::uint32_t* link = &rank.first;
  while (*link != batch) link = &batches_[*link].next_of_rank;
  *link = batches_[batch].next_of_rank;
  batches_[batch].next_of_rank = free_batch_;
  free_batch_ = batch;
}

}  // namespace ringwright
