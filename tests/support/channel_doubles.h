// Small stand-ins for the models that simulate collectives on channels.
#pragma once

#include "core/base/units.h"
#include "core/plan/channel_costs.h"
#include "core/ports/channel_algorithm.h"

namespace ringwright::test {

// Every cost is there, in round numbers.
[[nodiscard]] inline ChannelCosts costs_of_each_kind() {
  using namespace literals;
  ChannelCosts costs;
  costs.launch = 5_us;
  costs.protocol.fill({.hop = 1_us, .primitive = 1_us, .rate = 20_GBps});
  costs.reduce_rate = 0.75;
  costs.network_post = 2_us;
  costs.network_flush = 3_us;
  costs.network_poll = 1_us;
  costs.network_proxy = 300_ns;
  return costs;
}

// Member 0 sends `messages` messages of `size` bytes to member 1, which stores them.
class PlainPipe : public ChannelAlgorithm {
 public:
  PlainPipe(int messages, Bytes size, int slots = 1) : messages_(messages), size_(size), slots_(slots) {}

  [[nodiscard]] std::string_view name() const override { return "pipe"; }
  [[nodiscard]] std::string_view help() const override { return "from the first to the second"; }
  [[nodiscard]] bool supports(const CollectiveCall&, const CollectivePlan&) const override { return true; }
  [[nodiscard]] int blocks(const CollectiveCall&, const CollectivePlan&) const override { return 1; }
  void block(const CollectiveCall&, const CollectivePlan&, int member, int, ThreadBlock& out) const override {
    out.clear();
    out.slots_per_message = slots_;
    out.primitives = messages_;
    if (member == 0) out.sends.push_back({.peer = 1});
    if (member == 1) out.receives.push_back({.peer = 0, .block = 0, .port = 0});
  }
  void primitive(const CollectiveCall&, const CollectivePlan&, int member, int, std::int64_t,
                 Primitive& out) const override {
    out.clear();
    out.size = size_;
    (member == 0 ? out.sends : out.receives).count = 1;
    out.reads = member == 0;
    out.stores = member == 1;
  }
  [[nodiscard]] int pieces(const CollectiveCall&, const CollectivePlan&) const override { return messages_; }
  [[nodiscard]] Bytes piece_size(const CollectiveCall&, const CollectivePlan&, int) const override { return size_; }
  void contents(const CollectiveCall&, const CollectivePlan&, int member, int, std::int64_t index,
                PrimitiveContents& out) const override {
    out.clear();
    (member == 0 ? out.reads : out.stores).push_back(static_cast<int>(index));
  }

 private:
  int messages_;
  Bytes size_;
  int slots_;
};

class AlwaysOnChannels final : public ChannelChooser {
 public:
  AlwaysOnChannels(const ChannelAlgorithm& algorithm, const CollectivePlan& plan) : choice_{&algorithm, plan} {}
  [[nodiscard]] ChannelChoice choose(const CollectiveCall&) const override { return choice_; }
  [[nodiscard]] ChannelChoice choose_message(const MessageCall&) const override { return choice_; }

 private:
  ChannelChoice choice_;
};

}  // namespace ringwright::test
