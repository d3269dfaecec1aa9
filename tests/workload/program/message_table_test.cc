#include "workload/program/message_table.h"

#include <gtest/gtest.h>

namespace ringwright::workload::message_table_test {
namespace {

TEST(MessageTable, NumbersEachMessageOnce) {
  MessageTable messages;
  for (int round = 0; round < 2; ++round) {
    for (int peer = 0; peer < 9; ++peer) {
      EXPECT_EQ(messages.number_of({.peer = peer, .bytes = Bytes(8)}), static_cast<std::uint32_t>(peer));
    }
  }
  EXPECT_EQ(messages.take().size(), 9U);
}

TEST(MessageTable, EveryFieldDistinguishesMessages) {
  MessageTable messages;
  const MessageSpec plain{.peer = 1, .bytes = Bytes(8)};
  MessageSpec longer = plain;
  longer.bytes = Bytes(9);
  MessageSpec on_channel = plain;
  on_channel.channel = 1;
  MessageSpec late = plain;
  late.lag = 1;
  MessageSpec relative = plain;
  relative.relative = true;
  MessageSpec by_sender = plain;
  by_sender.moved_by = MovedBy::kSender;
  MessageSpec yielding = plain;
  yielding.importance = Importance::kYields;
  std::uint32_t number = 0;
  for (const MessageSpec& spec : {plain, longer, on_channel, late, relative, by_sender, yielding}) {
    EXPECT_EQ(messages.number_of(spec), number++);
  }
}

}  // namespace
}  // namespace ringwright::workload::message_table_test
