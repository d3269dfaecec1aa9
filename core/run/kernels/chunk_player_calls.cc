// Lifecycle of the running calls of collectives and messages: create, describe, release.
#include <algorithm>

#include <fmt/format.h>

#include "core/base/random.h"
#include "core/run/kernels/chunk_player.h"

namespace ringwright {

std::uint32_t ChunkPlayer::free_play() {
  if (free_plays_.empty()) {
    free_plays_.push_back(static_cast<std::uint32_t>(plays_.size()));
    plays_.emplace_back();
  }
  const std::uint32_t number = free_plays_.back();
  free_plays_.pop_back();
  return number;
}

void ChunkPlayer::retire_if_over(std::uint32_t number) {
  ChunkPlay& play = plays_[number];
  if (!play.over()) return;
  if (play.ends == nullptr) {
    active_.erase(Key(roster_.classes_of_group(play.members.front().rank_class, play.dimension).front(), play.dimension,
                      play.sequence));
  } else {
    --messages_;
  }
  play = ChunkPlay();
  free_plays_.push_back(number);
}

void ChunkPlayer::carry(const MessageOrder& order, MessageEnds& ends) {
  const std::uint32_t number = free_play();
  ++messages_;
  ChunkPlay& play = plays_[number];
  play.dimension = order.call.dimension;
  play.calls = {{.call = {.kind = CollectiveKind::kBroadcast,
                          .bytes = order.call.bytes,
                          .layout = order.call.leaves_host() ? &pair_between_ : &pair_inside_,
                          .dimension = order.call.dimension},
                 .choice = inputs_.chooser.choose_message(order.call)}};
  play.label = order.label;
  play.ends = &ends;
  play.token = order.token;
  lay_out_message(job_, order, play);
  for (std::uint32_t end = 0; end < play.members.size(); ++end) {
    play.members[end].joined = true;
    start_after(inputs_.costs.launch_of(play.plan().channels), {.play = number, .index = end});
  }
}

void ChunkPlayer::report_end(const ChunkPlay& play, const ChunkMember& member) {
  member.index == 0 ? play.ends->on_sent(play.token) : play.ends->on_received(play.token);
}

std::uint64_t ChunkPlayer::state_digest() const {
  const auto now = static_cast<std::uint64_t>(job_.engine.now().since_start().count());
  return active_.empty() && messages_ == 0 ? 0 : mix(now, active_.size() + messages_);
}

std::string ChunkPlayer::waits_for(ClassId rank_class, std::uint32_t task) const {
  for (const auto& [key, number] : active_) {
    const ChunkPlay& play = plays_[number];
    const auto member = std::ranges::find_if(play.members, [&](const ChunkMember& m) {
      return m.rank_class == rank_class && m.joined && m.request.task == task;
    });
    if (member == play.members.end()) continue;
    std::string missing;
    for (const ChunkMember& other : play.members) {
      if (!other.joined)
        missing += fmt::format("{}{}", missing.empty() ? "" : ", ", job_.rank_of(other.rank_class).value);
    }
    return fmt::format(
        "call {} of '{}' ({}, {} {}, {} channels), {} thread blocks still running, ranks that have not joined: {}",
        play.sequence, job_.graph.dimensions[play.dimension.index()].name, to_string(play.calls.front().call.kind),
        play.plan().algorithm, to_string(play.plan().protocol), play.plan().channels,
        member->blocks_left, missing.empty() ? "none" : missing);
  }
  return {};
}

}  // namespace ringwright
