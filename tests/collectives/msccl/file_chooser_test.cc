// The calls that a file runs, and what happens to the others.
#include "collectives/msccl/file_chooser.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/base/check.h"
#include "tests/collectives/msccl/example_programs.h"

namespace ringwright::collectives::file_chooser_test {
namespace {

using namespace ringwright::literals;

class Rest final : public ChannelChooser {
 public:
  [[nodiscard]] ChannelChoice choose(const CollectiveCall&) const override {
    return {.algorithm = nullptr, .plan = {.algorithm = "rest"}};
  }
  [[nodiscard]] ChannelChoice choose_message(const MessageCall&) const override { return {}; }
};

TEST(FileChooser, FilesComeFirstWhereTheyFit) {
  std::vector<MscclProgram> programs;
  for (const int ranks : {4, 8}) {
    auto program = parse_msccl(ring_all_reduce(ranks), "p.xml");
    CHECK(program.has_value(), "a right program");
    programs.push_back(std::move(*program));
  }
  const Rest rest;
  const FileChooser chooser(programs, {}, rest);
  const GroupLayout eight = make_block_layout(8, 8);
  const GroupLayout six = make_block_layout(6, 6);
  const ChannelChoice found = chooser.choose({.kind = CollectiveKind::kAllReduce, .bytes = 1_KiB, .layout = &eight});
  EXPECT_EQ(found.plan.algorithm, "own_ring");
  EXPECT_EQ(found.algorithm->blocks({.kind = CollectiveKind::kAllReduce, .bytes = 1_KiB, .layout = &eight}, found.plan),
            1);
  EXPECT_EQ(chooser.choose({.kind = CollectiveKind::kAllReduce, .bytes = 1_KiB, .layout = &six}).plan.algorithm,
            "rest");
  EXPECT_EQ(chooser.choose({.kind = CollectiveKind::kAllReduce, .bytes = 2_MiB, .layout = &eight}).plan.algorithm,
            "rest");
}

TEST(FileChooser, NamesTheFilesThatRunNoCall) {
  std::vector<MscclProgram> programs;
  for (const int ranks : {4, 8}) {
    auto program = parse_msccl(ring_all_reduce(ranks), "folder/p" + std::to_string(ranks) + ".xml");
    CHECK(program.has_value(), "a right program");
    programs.push_back(std::move(*program));
  }
  const Rest rest;
  const FileChooser chooser(programs, {}, rest);
  const GroupLayout eight = make_block_layout(8, 8);
  const CollectiveCall small{.kind = CollectiveKind::kAllReduce, .bytes = 1_KiB, .layout = &eight};
  const CollectiveCall large{.kind = CollectiveKind::kAllReduce, .bytes = 2_MiB, .layout = &eight};
  EXPECT_THAT(chooser.idle(std::vector{small, large}),
              testing::ElementsAre("p4.xml: for all_reduce among 4 ranks below 1 MiB"));
  EXPECT_THAT(chooser.idle(std::vector{large}), testing::SizeIs(2));
}

}  // namespace
}  // namespace ringwright::collectives::file_chooser_test
