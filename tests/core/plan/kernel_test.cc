#include "core/plan/kernel.h"

#include <set>
#include <string_view>

#include <gtest/gtest.h>

namespace ringwright::kernel_test {
namespace {

TEST(Kernel, FamiliesHaveNamesOfTheirOwn) {
  std::set<std::string_view> names;
  int families = 0;
  for (int family = 0; family <= static_cast<int>(KernelFamily::kCopy); ++family, ++families) {
    names.insert(to_string(static_cast<KernelFamily>(family)));
  }
  EXPECT_EQ(names.size(), static_cast<std::size_t>(families));
  EXPECT_FALSE(names.contains(""));
}

TEST(Kernel, RolesAreNamedAsTheirKernelsAre) {
  EXPECT_EQ(to_string(GemmRole::kForward), "forward");
  EXPECT_EQ(to_string(GemmRole::kDgrad), "dgrad");
  EXPECT_EQ(to_string(GemmRole::kWgrad), "wgrad");
}

TEST(Kernel, AWorksFlopsAreThoseOfAllItsLaunches) {
  Work work{.name = "forward", .kernels = {}};
  work.kernels.push_back({.name = "once", .flops = Flops(10.0)});
  work.kernels.push_back({.name = "thrice", .flops = Flops(2.0), .launches = 3});
  EXPECT_EQ(total_flops(work), Flops(16.0));
}

TEST(Kernel, AnElementOfFourBitsIsHalfAByte) {
  EXPECT_EQ(bytes_per_element(DataType::kFp4), 0.5);
  EXPECT_EQ(bytes_per_element(DataType::kFp8), 1.0);
  EXPECT_EQ(bytes_per_element(DataType::kTf32), 4.0);
}

}  // namespace
}  // namespace ringwright::kernel_test
