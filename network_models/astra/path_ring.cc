#include "network_models/astra/path_ring.h"

#include <algorithm>

#include "core/engine/tick_queue.h"

namespace ringwright::network_models {
namespace {

constexpr Tick kNotEntered = kLastTick;  // added to, it stays later than any tick of a run

}  // namespace

void PathRing::open(const MessageRing& shape, const MessageTimes& times) {
  shape_ = shape;
  times_ = times;
  entered_ = 0;
  met_tie_ = is_current_ = false;
  first_links_.clear();
  settled_.next = 0;
  settled_.foreign_left = 0;
  settled_.sent.assign(size(), kNotEntered);
  settled_.free_at.clear();
  settled_.foreign_done.clear();
  for (std::vector<Passed>& foreign : foreign_) foreign.clear();
  last_entries_.clear();
  decided_.assign(size(), kNotEntered);
  received_.assign(size(), kNotEntered);
}

void PathRing::add_link(Tick link_free) {
  settled_.free_at.push_back(link_free);
  settled_.foreign_done.push_back(0);
  last_entries_.push_back(kNotEntered);
  if (foreign_.size() < links()) foreign_.emplace_back();
}

void PathRing::enter(std::uint32_t position, Tick now) {
  settled_.sent[position] = now + shape_.packets.front().lasts;
  ++entered_;
}

void PathRing::compute(Tick now) {
  rows_ = settled_;
  bool is_settled = true;
  while (rows_.next < shape_.packets.size()) {
    const Tick latest = send_row();
    is_settled = is_settled && latest < now;
    if (is_settled) settled_ = rows_;
  }
  for (std::uint32_t link = 0; rows_.foreign_left > 0; ++link) let_rest_pass(link);
  is_current_ = true;
}

// Rows are computed only as far as its place. It comes before all messages of a member that has not entered.
Tick PathRing::pass(std::uint32_t link, const Foreign& foreign) {
  if (settled_.sent[sender_on(link)] >= kNotEntered) {
    const Tick start = std::max(foreign.entry, settled_.free_at[link]);
    settled_.free_at[link] = start + foreign.occupancy;
    return start;
  }
  foreign_[link].push_back({.message = foreign});
  ++settled_.foreign_left;
  is_current_ = false;
  rows_ = settled_;
  const Passed& passed = foreign_[link].back();
  bool is_settled = true;
  while (passed.place == Passed::kNoPlace && rows_.next < shape_.packets.size() &&
         std::ranges::min(rows_.sent) < kNotEntered) {
    const Tick latest = send_row();
    is_settled = is_settled && latest < foreign.entry;
    if (is_settled) settled_ = rows_;
  }
  if (passed.place == Passed::kNoPlace) let_rest_pass(link);
  return passed.start;
}

std::uint32_t PathRing::sender_on(std::uint32_t link) const {
  return static_cast<std::uint32_t>(std::ranges::upper_bound(first_links_, link) - first_links_.begin()) - 1;
}

// The next message of every member; returns the last entry into a link.
Tick PathRing::send_row() {
  const Tick since = shape_.packets[rows_.next].scheduled_before;
  Tick latest = 0;
  for (std::uint32_t sender = 0; sender < size(); ++sender) {
    Own own{.position = sender, .entry = rows_.sent[sender]};
    own.scheduled = own.entry - since;
    const std::uint32_t end = end_of(sender);
    for (own.link = first_links_[sender]; own.link < end; ++own.link) {
      if (rows_.foreign_left > 0 && rows_.foreign_done[own.link] < foreign_[own.link].size()) let_foreign_pass(own);
      Tick& free_at = rows_.free_at[own.link];
      last_entries_[own.link] = own.entry;
      latest = std::max(latest, own.entry);
      own.scheduled = std::max(own.entry, free_at);
      free_at = own.scheduled + times_.occupancy;
      own.entry = own.scheduled + times_.delay;
    }
    const std::uint32_t receiver = sender + 1 < size() ? sender + 1 : 0;
    decided_[receiver] = own.scheduled;
    received_[receiver] = own.entry;
  }
  receive_row();
  return latest;
}

// What arrives before it is waited for is received when its receiver has sent as many.
void PathRing::receive_row() {
  ++rows_.next;
  const Tick packet = rows_.next < shape_.packets.size() ? shape_.packets[rows_.next].lasts : 0;
  for (std::uint32_t position = 0; position < size(); ++position) {
    const Tick sent = rows_.sent[position];
    if (received_[position] < sent) decided_[position] = received_[position] = sent;
    rows_.sent[position] = received_[position] + packet;
  }
}

// Those that come before a message of the ring.
void PathRing::let_foreign_pass(const Own& own) {
  std::vector<Passed>& foreign = foreign_[own.link];
  const std::uint32_t& done = rows_.foreign_done[own.link];
  while (done < foreign.size()) {
    Passed& passed = foreign[done];
    if (passed.place == Passed::kNoPlace && is_first(passed.message, own)) passed.place = rows_.next;
    if (passed.place > rows_.next) return;
    start_foreign(own.link, passed);
  }
}

void PathRing::let_rest_pass(std::uint32_t link) {
  while (rows_.foreign_done[link] < foreign_[link].size()) {
    Passed& passed = foreign_[link][rows_.foreign_done[link]];
    if (passed.place == Passed::kNoPlace) passed.place = rows_.next;
    start_foreign(link, passed);
  }
}

void PathRing::start_foreign(std::uint32_t link, Passed& passed) {
  passed.start = std::max(passed.message.entry, rows_.free_at[link]);
  rows_.free_at[link] = passed.start + passed.message.occupancy;
  ++rows_.foreign_done[link];
  --rows_.foreign_left;
}

// A rank sends together with whatever else it does at that tick, when the first of it is due.
bool PathRing::is_first(const Foreign& foreign, const Own& own) {
  if (foreign.entry != own.entry) return foreign.entry < own.entry;
  Tick scheduled = own.scheduled;
  if (own.link == first_links_[own.position]) {
    const std::optional<Tick> due = shape_.moments->due_since(shape_.members[own.position]);
    scheduled = std::min(scheduled, due.value_or(scheduled));
    met_tie_ = met_tie_ || own.scheduled == own.entry;
  }
  scheduled = std::max(scheduled, own.entry - TickQueue::kLongestWait);  // as it is known of the other one
  met_tie_ = met_tie_ || foreign.scheduled == scheduled;
  return foreign.scheduled < scheduled;
}

}  // namespace ringwright::network_models
