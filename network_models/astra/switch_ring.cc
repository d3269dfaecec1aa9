#include "network_models/astra/switch_ring.h"

#include <algorithm>

namespace ringwright::network_models {
namespace {

constexpr Tick kNotEntered = kLastTick;  // added to, it stays later than any tick of a run

}  // namespace

void SwitchRing::open(const MessageTimes& times, std::span<const Tick> packets) {
  times_ = times;
  packets_ = packets;
  entered_ = 0;
  met_tie_ = false;
  settled_.next = 0;
  settled_.sent.clear();
  settled_.up_free.clear();
  settled_.down_free.clear();
  settled_.foreign_done.clear();
  for (std::vector<Foreign>& foreign : foreign_) foreign.clear();
  entries_.clear();
  decided_.clear();
  received_.clear();
}

void SwitchRing::add_link(Tick link_free) {
  settled_.sent.push_back(kNotEntered);
  settled_.up_free.push_back(0);
  settled_.down_free.push_back(link_free);
  settled_.foreign_done.push_back(0);
  entries_.push_back(0);
  decided_.push_back(kNotEntered);
  received_.push_back(kNotEntered);
  if (foreign_.size() < size()) foreign_.emplace_back();
}

void SwitchRing::enter(std::uint32_t position, Tick now, Tick up_free) {
  settled_.sent[position] = now + packets_.front();
  settled_.up_free[position] = up_free;
  ++entered_;
}

Tick SwitchRing::pass(std::uint32_t position, const Foreign& foreign) {
  foreign_[position].push_back(foreign);
  run(foreign.entry);
  return foreign_[position].back().start;
}

void SwitchRing::run(Tick settled) {
  rows_ = settled_;
  bool is_settled = true;
  while (rows_.next < packets_.size()) {
    const Tick latest = send_row();
    is_settled = is_settled && latest < settled;
    if (is_settled) settled_ = rows_;
    if (std::ranges::min(rows_.sent) >= kNotEntered) break;
  }
  for (std::uint32_t position = 0; position < size(); ++position) pass_before(position, kNotEntered);
}

// The next message of every member; returns the last entry into a link to a member.
Tick SwitchRing::send_row() {
  const std::uint32_t count = size();
  Tick latest = 0;
  for (std::uint32_t i = 0; i < count; ++i) {
    const Tick up = std::max(rows_.sent[i], rows_.up_free[i]);
    rows_.up_free[i] = up + times_.occupancy;
    entries_[i + 1 < count ? i + 1 : 0] = up + times_.delay;
    latest = std::max(latest, up + times_.delay);
  }
  ++rows_.next;
  const bool is_last = rows_.next == packets_.size();
  const Tick packet = is_last ? 0 : packets_[rows_.next];
  for (std::uint32_t j = 0; j < count; ++j) {
    if (rows_.foreign_done[j] < foreign_[j].size()) pass_before(j, entries_[j]);
    const Tick down = std::max(entries_[j], rows_.down_free[j]);
    rows_.down_free[j] = down + times_.occupancy;
    const Tick arrival = down + times_.delay;
    received_[j] = std::max(arrival, rows_.sent[j]);
    if (is_last) decided_[j] = arrival >= rows_.sent[j] ? down : rows_.sent[j];
    rows_.sent[j] = received_[j] + packet;
  }
  return latest;
}

void SwitchRing::pass_before(std::uint32_t position, Tick entry) {
  std::vector<Foreign>& foreign = foreign_[position];
  std::uint32_t& done = rows_.foreign_done[position];
  for (; done < foreign.size() && is_first(foreign[done], entry); ++done) {
    foreign[done].start = std::max(foreign[done].entry, rows_.down_free[position]);
    rows_.down_free[position] = foreign[done].start + foreign[done].occupancy;
  }
}

bool SwitchRing::is_first(const Foreign& foreign, Tick entry) {
  if (foreign.entry != entry) return foreign.entry < entry;
  const Tick sent = entry - times_.delay;
  met_tie_ = met_tie_ || foreign.sent == sent;
  return foreign.sent < sent;
}

}  // namespace ringwright::network_models
