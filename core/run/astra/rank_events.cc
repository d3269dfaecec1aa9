#include "core/run/astra/rank_events.h"

namespace ringwright {

std::uint32_t RankEvents::find(std::uint32_t rank, Tick when) const {
  std::uint32_t batch = first_of_[rank];
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
  batches_[batch] = {.when = when, .rank = rank, .next_of_rank = first_of_[rank], .first = event};
  first_of_[rank] = batch;
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

void RankEvents::remove(std::uint32_t batch) {
  std::uint32_t* link = &first_of_[batches_[batch].rank];
  while (*link != batch) link = &batches_[*link].next_of_rank;
  *link = batches_[batch].next_of_rank;
  batches_[batch].next_of_rank = free_batch_;
  free_batch_ = batch;
}

}  // namespace ringwright
