// A ring of members that computes the times of its messages at once, on links that each send one message after another.
//
// Each member sends equal messages to the next one over a path of links, and the next message when it has received as
// many as it has sent and handled a packet. With s(i,k) the tick at which member i sends its message k, its path the
// links 1 to h, and link and packet times in whole ticks:
//
//   entry(i,1,k)   = s(i,k)
//   start(i,l,k)   = max(entry(i,l,k), free(i,l))            behind all that entered the link before
//   entry(i,l+1,k) = start(i,l,k) + delay                    the message enters the next link as a whole
//   s(i+1,k+1)     = max(start(i,h,k) + delay, s(i+1,k)) + packet(k+1)
//
// No link is in two paths, but other messages may enter the links meanwhile. They are passed in order of time, and only
// delay what enters later: times that lie before them stay, the others are computed again when they are asked for. Of
// messages that enter a link at the same tick, the one is first whose event was scheduled first: in this order
// TickQueue has their events.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/base/ticks.h"
#include "core/ports/message_network.h"
#include "network_models/astra/message_queues.h"

namespace ringwright::network_models {

class PathRing {
 public:
  // Members and packets must outlive the ring.
  void open(const MessageRing& shape, const MessageTimes& times);
  // The path from the next member to the one after it follows, link by link; each is free at `link_free` of what
  // entered it before.
  void add_path() { first_links_.push_back(links()); }
  void add_link(Tick link_free);
  // A member's first packet is being handled from now on.
  void enter(std::uint32_t position, Tick now);
  [[nodiscard]] bool is_complete() const { return entered_ == size(); }
  // After all have entered: the times of all messages, as far as is known. Nothing enters a link before `now` any more.
  void compute(Tick now);

  struct Foreign {
    Tick entry = 0;      // into a link of a path, not before that of the one passed before
    Tick scheduled = 0;  // the event that makes it enter
    Tick occupancy = 0;
  };
  // When a foreign message starts on a link. Links are counted through all paths.
  [[nodiscard]] Tick pass(std::uint32_t link, const Foreign& foreign);

  // All have entered, and nothing was passed since compute(). Then the following are known.
  [[nodiscard]] bool is_current() const { return is_current_; }
  // When it is decided that a member receives its last message at received().
  [[nodiscard]] Tick decided(std::uint32_t position) const { return decided_[position]; }
  [[nodiscard]] Tick received(std::uint32_t position) const { return received_[position]; }
  // When the last of the ring's messages enters a link, and when that link is free of all that has entered it.
  [[nodiscard]] Tick last_entry(std::uint32_t link) const { return last_entries_[link]; }
  [[nodiscard]] Tick free_at(std::uint32_t link) const { return rows_.free_at[link]; }
  // Links of the path to a member: from this one to the end.
  [[nodiscard]] std::uint32_t first_link_to(std::uint32_t position) const { return first_links_[before(position)]; }
  [[nodiscard]] std::uint32_t end_of_links_to(std::uint32_t position) const { return end_of(before(position)); }

  // A message of the ring and another one entered a link at the same tick, by events that were scheduled at the same
  // tick: their order is not known here.
  [[nodiscard]] bool met_tie() const { return met_tie_; }
  [[nodiscard]] const MessageRing& shape() const { return shape_; }
  [[nodiscard]] const MessageTimes& times() const { return times_; }
  [[nodiscard]] std::uint32_t size() const { return static_cast<std::uint32_t>(shape_.members.size()); }

 private:
  struct Passed {
    Foreign message;
    std::size_t place = kNoPlace;  // before this one of the ring's messages
    Tick start = 0;
    static constexpr std::size_t kNoPlace = SIZE_MAX;
  };
  // The state before message `next` of every member.
  struct Rows {
    std::size_t next = 0;
    std::uint32_t foreign_left = 0;                // passed messages that come later
    std::vector<Tick> sent = {};                   // s(i,next), by position
    std::vector<Tick> free_at = {};                // by link
    std::vector<std::uint32_t> foreign_done = {};  // by link
  };
  // A message of the ring enters a link.
  struct Own {
    std::uint32_t link = 0;
    std::uint32_t position = 0;  // of its sender
    Tick entry = 0;
    Tick scheduled = 0;
  };

  [[nodiscard]] std::uint32_t links() const { return static_cast<std::uint32_t>(last_entries_.size()); }
  [[nodiscard]] std::uint32_t before(std::uint32_t position) const { return position > 0 ? position - 1 : size() - 1; }
  [[nodiscard]] std::uint32_t end_of(std::uint32_t path) const {
    return path + 1 < size() ? first_links_[path + 1] : links();
  }
  [[nodiscard]] std::uint32_t sender_on(std::uint32_t link) const;
  [[nodiscard]] Tick send_row();
  void receive_row();
  void let_foreign_pass(const Own& own);
  [[nodiscard]] bool is_first(const Foreign& foreign, const Own& own);
  void let_rest_pass(std::uint32_t link);
  void start_foreign(std::uint32_t link, Passed& passed);

  MessageRing shape_;
  MessageTimes times_;
  std::uint32_t entered_ = 0;
  bool met_tie_ = false;
  bool is_current_ = false;
  std::vector<std::uint32_t> first_links_;    // of each path
  Rows settled_;                              // known for good
  Rows rows_;                                 // computed on from there
  std::vector<std::vector<Passed>> foreign_;  // by link
  std::vector<Tick> last_entries_;            // by link
  std::vector<Tick> decided_;
  std::vector<Tick> received_;
};

}  // namespace ringwright::network_models
