#include "core/base/inline_vector.h"

#include <algorithm>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "core/base/random.h"

namespace ringwright::inline_vector_test {
namespace {

using Few = InlineVector<std::uint32_t, 2>;

std::vector<std::uint32_t> elements(const Few& few) { return {few.begin(), few.end()}; }

TEST(InlineVector, HoldsThePromisedNumberInside) {
  Few few;
  few.push_back(1);
  few.push_back(2);
  const auto* const object = reinterpret_cast<const std::byte*>(&few);
  const auto* const last = reinterpret_cast<const std::byte*>(&few.back());
  EXPECT_TRUE(object <= last && last < object + sizeof(few));
}

TEST(InlineVector, MovesAndCopiesWithinAndBeyondItsPlaces) {
  for (const std::uint32_t count : {0U, 1U, 2U, 3U, 9U}) {
    Few few;
    std::vector<std::uint32_t> expected;
    for (std::uint32_t i = 0; i < count; ++i) {
      few.push_back(10 + i);
      expected.push_back(10 + i);
    }
    Few copy(few);
    EXPECT_EQ(elements(copy), expected);
    Few moved(std::move(copy));
    EXPECT_EQ(elements(moved), expected);
    Few assigned;
    assigned.assign(5, 7);
    assigned = few;
    EXPECT_EQ(elements(assigned), expected);
    assigned = std::move(moved);
    EXPECT_EQ(elements(assigned), expected);
  }
}

// Against std::vector, with random operations.
TEST(InlineVector, IsAVector) {
  RandomStream random(3, "inline vector");
  Few few;
  std::vector<std::uint32_t> vector;
  for (std::uint32_t i = 0; i < 20'000; ++i) {
    switch (random.next_below(vector.size() > 6 ? 8 : 6)) {
      case 0:
      case 1:
      case 2:
        few.push_back(i);
        vector.push_back(i);
        break;
      case 3:
        if (vector.empty()) break;
        few.erase(few.begin() + vector.size() / 2);
        vector.erase(vector.begin() + static_cast<std::ptrdiff_t>(vector.size() / 2));
        break;
      case 4:
        if (vector.empty()) break;
        few.pop_back();
        vector.pop_back();
        break;
      case 5:
        few.assign(i % 4, i);
        vector.assign(i % 4, i);
        break;
      case 6:
        few.erase_if([](std::uint32_t element) { return element % 3 == 0; });
        std::erase_if(vector, [](std::uint32_t element) { return element % 3 == 0; });
        break;
      default:
        few = Few();
        vector.clear();
        break;
    }
    ASSERT_EQ(elements(few), vector) << "after operation " << i;
  }
}

}  // namespace
}  // namespace ringwright::inline_vector_test
