#include "configs/simulation/known_overheads.h"

#include <atomic>
#include <chrono>
#include <thread>

#include <gtest/gtest.h>

namespace ringwright::configs::known_overheads_test {
namespace {

// The second thread asks while the first one simulates, for 50 ms.
TEST(KnownOverheads, AThreadThatAsksForWhatAnotherOneSimulatesWaitsForIt) {
  KnownOverheads known;
  const KnownOverheads::Key key{.bytes = Bytes(1000)};
  std::atomic<int> simulated = 0;
  Duration second;
  std::thread other;
  const Duration first = known.overhead(key, [&] {
    other = std::thread([&] {
      second = known.overhead(key, [&] {
        ++simulated;
        return Duration(7);
      });
    });
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    ++simulated;
    return Duration(5);
  });
  other.join();
  EXPECT_EQ(first, Duration(5));
  EXPECT_EQ(second, Duration(5));
  EXPECT_EQ(simulated, 1);
  EXPECT_EQ(known.size(), 1U);
}

TEST(KnownOverheads, TellsApartWhatATimeWasFoundFor) {
  KnownOverheads known;
  const KnownOverheads::Key call{.bytes = Bytes(1000)};
  KnownOverheads::Key size = call;
  size.basis = KnownOverheads::Basis::kSize;
  EXPECT_EQ(known.kernels(call, [&] { return known.kernels(size, [] { return Duration(3); }) * 2; }), Duration(6));
  EXPECT_EQ(known.kernels(size, [] { return Duration(9); }), Duration(3));
  EXPECT_EQ(known.overhead(call, [] { return Duration(1); }), Duration(1));
  EXPECT_EQ(known.overhead(KnownOverheads::MessageKey{.bytes = Bytes(1000)}, [] { return Duration(2); }), Duration(2));
}

}  // namespace
}  // namespace ringwright::configs::known_overheads_test
