#include "network_models/flow/arrivals.h"

#include <vector>

#include <gtest/gtest.h>

namespace ringwright::network_models::arrivals_test {
namespace {

class Tokens final : public TransferListener {
 public:
  void on_arrived(std::uint64_t token) override { heard.push_back(token); }
  std::vector<std::uint64_t> heard;
};

TEST(Arrivals, AreReportedInTheOrderOfStartingAndOnce) {
  Tokens tokens;
  Arrivals arrivals;
  arrivals.add({.order = 7, .listener = &tokens, .token = 70});
  arrivals.add({.order = 3, .listener = &tokens, .token = 30});
  arrivals.notify();
  EXPECT_EQ(tokens.heard, (std::vector<std::uint64_t>{30, 70}));
  arrivals.notify();
  EXPECT_EQ(tokens.heard.size(), 2U);
}

}  // namespace
}  // namespace ringwright::network_models::arrivals_test
