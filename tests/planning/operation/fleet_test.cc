#include "planning/operation/fleet.h"

#include <algorithm>
#include <vector>

#include <gtest/gtest.h>

namespace ringwright::planning::fleet_test {
namespace {

// A job of three hosts, 0 to 2, with warm ones, a pool and other jobs' hosts after them. A repair takes a day.
Operation operation_with(const Spares& spares) {
  Operation operation;
  operation.job = {.gpus = 3, .gpus_per_host = 1, .step = JobTime(1)};
  operation.spares = spares;
  operation.spares.unlimited = false;
  operation.repair.first.time = Spread::fixed(86400.0);
  return operation;
}

std::vector<std::int64_t> hosts_of(const Fleet& fleet) {
  std::vector<std::int64_t> hosts;
  for (std::int64_t slot = 0; slot < 3; ++slot) hosts.push_back(fleet.host_at(slot));
  std::ranges::sort(hosts);
  return hosts;
}

// Host 1 fails and nobody names it; then host 2 goes to repair, and two of the three others are older than host 1.
TEST(Fleet, ASelectionTakesTheHostsWithoutAFaultForLongest) {
  const Operation operation = operation_with({.pool = 2, .reselects = true});
  const HostTable table(operation, 1);
  Fleet fleet(operation, table, 1);
  fleet.keep(1);
  fleet.remove(2, JobTime(), {});
  EXPECT_TRUE(fleet.fill(JobTime()).selected);
  EXPECT_EQ(hosts_of(fleet), (std::vector<std::int64_t>{0, 3, 4}));
  EXPECT_EQ(fleet.spare(), 1);
}

TEST(Fleet, AMissedHostStandsByAndIsBackAfterALaterFault) {
  const Operation operation = operation_with({.standby = 1});
  const HostTable table(operation, 1);
  Fleet fleet(operation, table, 1);
  fleet.stand_by(1);
  EXPECT_FALSE(fleet.fill(JobTime()).selected);
  EXPECT_EQ(hosts_of(fleet), (std::vector<std::int64_t>{0, 2, 3}));
  EXPECT_EQ(fleet.spare(), 1);  // in the pool: the warm place was not free

  const Operation two = operation_with({.standby = 2});
  const HostTable more(two, 1);
  Fleet wider(two, more, 1);
  wider.remove(0, JobTime(), {});
  static_cast<void>(wider.fill(JobTime()));  // host 3
  wider.stand_by(1);
  static_cast<void>(wider.fill(JobTime()));  // host 4
  EXPECT_EQ(hosts_of(wider), (std::vector<std::int64_t>{2, 3, 4}));
  wider.remove(2, JobTime(), {});
  static_cast<void>(wider.fill(JobTime()));
  EXPECT_EQ(hosts_of(wider), (std::vector<std::int64_t>{1, 3, 4}));
}

// One host is missing and two warm ones: one preemption without filling up, three with. 20 minutes each.
TEST(Fleet, PreemptionFillsUpTheWarmHostsToo) {
  for (const bool fills : {false, true}) {
    const Operation operation = operation_with(
        {.standby = 2, .others = 9, .fills_standby = fills, .preempt = Spread::fixed(1200.0)});
    const HostTable table(operation, 1);
    Fleet fleet(operation, table, 1);
    for (std::int64_t host = 0; host < 3; ++host) fleet.remove(host, JobTime(), {});
    const Fleet::Taken taken = fleet.fill(JobTime());
    EXPECT_EQ(taken.time, job_seconds(fills ? 3600.0 : 1200.0));
    EXPECT_TRUE(fleet.empty().empty());
    EXPECT_EQ(fleet.paid_gpus(), fills ? 5 : 3);
  }
}

}  // namespace
}  // namespace ringwright::planning::fleet_test
