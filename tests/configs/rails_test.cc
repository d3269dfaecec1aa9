// Rings of NCCL stay on their rails: with one leaf switch per rail, none of their bytes pass a spine, whatever the
// host, its fabric and its routing; so neither oversubscription nor hashing changes their times.
#include <stdexcept>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "collectives/builtin_channels.h"
#include "configs/simulation/collective_run.h"
#include "configs/simulation/simulate.h"
#include "core/config/config_loader.h"
#include "core/plan/task_graph.h"
#include "tests/configs/played.h"
#include "tests/paths.h"

namespace ringwright::configs::rails_test {
namespace {

using namespace ringwright::literals;

Scenario machine(const std::string& text) {
  auto scenario = load_machine_text("machine.yaml", "version: 1\n" + text, {.overrides = {}});
  if (!scenario) throw std::runtime_error(text + render(scenario.error()));
  return std::move(*scenario);
}

// Connections of a plan's channels between hosts, and the share of them that crosses a link from a leaf to another
// switch.
struct Crossings {
  int connections = 0;
  double above_leaves = 0.0;
};

Crossings crossings(const Scenario& scenario, const CollectiveCall& call, int per_host) {
  const network_models::Network network = scenario.cluster.topology->build();
  const CollectivePlan plan = collectives::NcclSelector(scenario.nccl).plan(call);
  const ChannelAlgorithm& algorithm = *collectives::find_channel_algorithm(plan.algorithm);
  const auto rank = [&](int member) {
    return RankId(static_cast<std::size_t>(member / per_host * scenario.cluster.host.gpus + member % per_host));
  };
  const auto kind = [&](NodeId node) { return network.fabric.node(node).kind; };
  Crossings result;
  ThreadBlock block;
  std::vector<Hop> hops;
  const int blocks = algorithm.blocks(call, plan);
  for (int member = 0; member < call.size(); ++member) {
    for (int number = 0; number < blocks; ++number) {
      algorithm.block(call, plan, member, number, block);
      for (const SendPort& port : block.sends) {
        if (port.peer / per_host == member / per_host) continue;
        ++result.connections;
        network.router->route({.from = rank(member),
                               .to = rank(port.peer),
                               .route_kind = port.route_kind,
                               .nics = port.nics,
                               .label = channel_label(DimensionId(0), block.channel)},
                              hops);
        for (const Hop& hop : hops) {
          const LinkSpec& link = network.fabric.link(hop.link);
          if (kind(link.from) == NodeKind::kLeaf && kind(link.to) != NodeKind::kNic) result.above_leaves += hop.share;
        }
      }
    }
  }
  return result;
}

// Shipped hosts with several NICs. RCCL's rings are not NCCL's: on MI300X each enters by one NIC and leaves by another
// (rome_model_81 of src/graph/rome_models.cc in ROCm/rccl: "N0 0 1 2 3 4 5 6 7 N7").
std::vector<std::string> hosts_with_rails() {
  std::vector<std::string> hosts;
  for (const std::string& name : preset_names({.share_folders = {ringwright::share_dir()}}, "nodes")) {
    const Scenario alone = machine("cluster: {nodes: 1, node: {preset: " + name + "}}\n");
    if (alone.cluster.gpu.nvidia && alone.cluster.host.nic.count > 1) hosts.push_back(name);
  }
  return hosts;
}

constexpr std::array kFabrics = {
    "{type: rail_optimized, scalable_unit: 4, spine: {ports: 128}}",
    "{type: rail_optimized, scalable_unit: 4, leaf: {oversubscription: 4}, spine: {ports: 128}}",
    "{type: rail_optimized, scalable_unit: 4, routing: {policy: ecmp, queue_pairs: 4}, spine: {ports: 128}}",
    "{type: rail_only, scalable_unit: 4}",
};

// Four hosts: NCCL_CROSS_NIC=2, the default, may swap NICs from host to host, which closes a ring of an even number of
// hosts.
void expect_nothing_above_leaves(const std::string& host) {
  for (const char* fabric : kFabrics) {
    for (const char* algorithm : {"ring", "tree"}) {
      for (const int cross_nic : {0, 2}) {
        const Scenario scenario = machine(
            fmt::format("cluster: {{nodes: 4, node: {{preset: {}}}, fabric: {}}}\ncollectives: {{tuner: nccl}}\n"
                        "comm: {{env: {{NCCL_ALGO: {}, NCCL_CROSS_NIC: {}}}}}\n",
                        host, fabric, algorithm, cross_nic));
        const int all = scenario.cluster.host.gpus;
        for (const int per_host : {all, all > 4 ? 4 : 2}) {
          const GroupLayout layout = make_block_layout(4 * per_host, per_host);
          const CollectiveCall call{.kind = CollectiveKind::kAllReduce, .bytes = 1_GiB, .layout = &layout};
          const Crossings found = crossings(scenario, call, per_host);
          EXPECT_GT(found.connections, 0);
          EXPECT_EQ(found.above_leaves, 0.0)
              << fabric << " " << algorithm << " cross_nic " << cross_nic << ", " << per_host << " GPUs a host";
        }
      }
    }
  }
}

// Not a parameter of the test: which hosts have rails takes a tenth of a second to find out, at the start of every
// process that runs one test of this binary.
TEST(Rails, RingsAndTreesDoNotLeave) {
  const std::vector<std::string> hosts = hosts_with_rails();
  EXPECT_GE(hosts.size(), 14U);
  for (const std::string& host : hosts) {
    SCOPED_TRACE(host);
    expect_nothing_above_leaves(host);
  }
}

constexpr std::string_view kEight =
    "cluster: {{nodes: 8, node: {{preset: dgx-h100}}, fabric: {{type: rail_optimized, leaf: {{oversubscription: {}}}, "
    "routing: {{policy: {}}}}}}}\n";

Duration ring_time(double oversubscription, const char* policy) {
  const Scenario scenario = machine(fmt::format(kEight, oversubscription, policy) +
                                    "collectives: {tuner: nccl, model: chunks}\n"
                                    "comm: {env: {NCCL_ALGO: ring, NCCL_PROTO: simple, NCCL_CROSS_NIC: 0}}\n");
  CollectiveBench bench(scenario);
  const auto result = bench.run({.operation = CollectiveOperation::kAllReduce, .bytes = 64_MiB});
  if (!result) throw std::runtime_error(render(result.error()));
  return result->time;
}

TEST(RailTimes, DoNotDependOnOversubscriptionOrRouting) {
  const Duration expected = ring_time(1.0, "static");
  EXPECT_EQ(ring_time(8.0, "static"), expected);
  EXPECT_EQ(ring_time(8.0, "ecmp"), expected);
}

// The extra time of kernels compared with steps is not measured over the spines either, and so does not affect
// training.
TEST(RailTimes, OfTrainingDoNotDependOnOversubscription) {
  const auto step = [](double oversubscription) {
    return play(load(fmt::format(kEight, oversubscription, "static") + std::string(kTinyModel) +
                     "training: {micro_batch: 1, global_batch: 64}\nparallel: {tp: 1}\n"
                     "collectives: {tuner: nccl, overhead: kernels}\n"
                     "comm: {env: {NCCL_ALGO: ring, NCCL_CROSS_NIC: 0}}\n"))
        .time();
  };
  EXPECT_EQ(step(8.0), step(1.0));
}

}  // namespace
}  // namespace ringwright::configs::rails_test
