// Calls that are simulated alone without the rounds that repeat take exactly as long as with all of them.
#include "core/run/kernels/repeated_rounds.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "configs/simulation/collective_run.h"
#include "core/base/random.h"
#include "tests/configs/played.h"

namespace ringwright::configs::repeated_rounds_test {
namespace {

using namespace ringwright::literals;

template <std::size_t N>
std::string_view one_of(RandomStream& random, const std::array<std::string_view, N>& choices) {
  return choices[random.next_below(N)];
}

Duration time_of(const std::string& machine, std::string_view collectives, const CollectiveRequest& request) {
  const auto scenario =
      load_machine_text("machine.yaml", fmt::format("{}collectives: {{{}}}\n", machine, collectives));
  if (!scenario) throw std::runtime_error(machine + render(scenario.error()));
  CollectiveBench bench(*scenario);
  const auto result = bench.run(request);
  if (!result) throw std::runtime_error(machine + render(result.error()));
  return result->time;
}

void compare(std::uint64_t seed) {
  RandomStream random(seed, "calls that repeat");
  const std::string machine = fmt::format(
      "version: 1\ncluster: {{nodes: {}, node: {{preset: {}}}, fabric: {{type: {}}}}}\n"
      "comm: {{env: {{NCCL_ALGO: {}, NCCL_PROTO: {}, NCCL_MAX_NCHANNELS: {}}}}}\n",
      1 + random.next_below(6), one_of<3>(random, {"dgx-h100", "dgx-a100", "hgx-h200"}),
      one_of<2>(random, {"rail_optimized", "fat_tree"}), one_of<3>(random, {"ring", "ring", "tree"}),
      one_of<3>(random, {"simple", "ll128", "ll"}), one_of<3>(random, {"1", "4", "32"}));
  constexpr std::array kOperations = {CollectiveOperation::kAllReduce, CollectiveOperation::kAllGather,
                                      CollectiveOperation::kReduceScatter, CollectiveOperation::kBroadcast};
  const CollectiveRequest request{
      .operation = kOperations[random.next_below(kOperations.size())],
      .bytes = Bytes(static_cast<std::int64_t>((1 + random.next_below(15)) << (16 + random.next_below(9)))),
      .gpus_per_host = 2 << random.next_below(3)};
  const Duration kernels = time_of(machine, "model: chunks", request);
  const Duration steps = time_of(machine, "model: steps, overhead: none, tuner: nccl", request);
  EXPECT_EQ(time_of(machine, "model: steps, overhead: kernels", request), std::max(kernels, steps))
      << seed << ": " << to_string(request.operation) << " of " << to_string(request.bytes) << " on "
      << request.gpus_per_host << " GPUs of each host\n"
      << machine;
}

// More with RINGWRIGHT_CALLS=2000.
TEST(RepeatedRounds, ChangeNoTimeOfRandomCalls) {
  const char* const asked = std::getenv("RINGWRIGHT_CALLS");
  const std::uint64_t cases = asked != nullptr ? std::strtoull(asked, nullptr, 10) : 40;
  for (std::uint64_t seed = 0; seed < cases && !HasFailure(); ++seed) compare(seed);
}

}  // namespace
}  // namespace ringwright::configs::repeated_rounds_test
