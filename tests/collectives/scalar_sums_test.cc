#include "collectives/scalar_sums.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "collectives/builtin.h"
#include "collectives/closed_form.h"
#include "tests/support/channel_doubles.h"

namespace ringwright::collectives::scalar_sums_test {
namespace {

using namespace ringwright::literals;

const std::vector<std::string>& dimension_names() {
  static const std::vector<std::string> names = {"dp"};
  return names;
}

SimpleChooser others(std::string_view named = "") {
  ChooserSettings settings{.use_nvls = false, .choices = {}};
  if (!named.empty()) settings.choices = {{.dimension = "dp", .algorithm = find_algorithm(named)}};
  return {settings, ChooserFacts{.dimensions = dimension_names(), .hosts_have_nvls = false}};
}

// Kernels for all calls, or for none.
class Kernels final : public ChannelChooser {
 public:
  explicit Kernels(bool exist) : exist_(exist) {}
  [[nodiscard]] ChannelChoice choose(const CollectiveCall&) const override {
    return {.algorithm = exist_ ? &pipe_ : nullptr, .plan = {}};
  }
  [[nodiscard]] ChannelChoice choose_message(const MessageCall&) const override { return {}; }

 private:
  bool exist_;
  test::PlainPipe pipe_{1, 8_B};
};

bool meets(const SimpleChooser& others, bool with_kernels, CollectiveKind kind, Bytes bytes) {
  const GroupLayout layout = make_block_layout(16, 8);
  const Kernels kernels(with_kernels);
  const CollectiveCall call{.kind = kind, .bytes = bytes, .layout = &layout, .dimension = DimensionId(0)};
  return &ScalarSums(others, kernels).choose(call) == &pairings().choose(call);
}

TEST(ScalarSums, MembersOfASumOfOneNumberLeaveTogether) {
  EXPECT_TRUE(meets(others(), true, CollectiveKind::kAllReduce, 4_B));
  EXPECT_TRUE(meets(others(), true, CollectiveKind::kAllReduce, kScalar));
}

TEST(ScalarSums, OtherCallsAreAsChosen) {
  EXPECT_FALSE(meets(others(), true, CollectiveKind::kAllReduce, kScalar + 1_B));
  EXPECT_FALSE(meets(others(), true, CollectiveKind::kAllGather, 4_B));
  EXPECT_FALSE(meets(others("ring"), true, CollectiveKind::kAllReduce, 4_B));  // the user names an algorithm
}

TEST(ScalarSums, TheirTimeMustBeThatOfKernels) {
  EXPECT_FALSE(meets(others(), false, CollectiveKind::kAllReduce, 4_B));
}

}  // namespace
}  // namespace ringwright::collectives::scalar_sums_test
