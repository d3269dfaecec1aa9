// Rows about keys whose effect depends on several wings, and the facts that all rows may ask for.
#include "configs/scenario/key_effects.h"

#include <algorithm>
#include <array>
#include <span>

#include <fmt/format.h>

#include "collectives/key_effects.h"
#include "configs/scenario/data_pipeline_settings.h"
#include "configs/scenario/nccl_host.h"
#include "network_models/key_effects.h"
#include "workload/key_effects.h"

namespace ringwright::configs {
namespace {

constexpr std::string_view kWholeLinks =
    "'collectives.model: closed_form' uses every link without its faults; only messages (between pipeline "
    "stages, in rings of context parallelism, to host memory) are affected by them";
constexpr std::string_view kNoSharing =
    "collectives of 'collectives.model: closed_form' share no links; only messages (between pipeline stages, "
    "in rings of context parallelism, to host memory) do";
constexpr std::string_view kNotClosed = "collectives.model!=closed_form";
// A NIC that is down from the start and for good is down for formulas, too.
constexpr std::string_view kMeetsLinks = "collectives.model!=closed_form | faults.lost_nics=yes";

constexpr KeyEffect in_closed_form(std::string_view key) {
  return {.keys = key, .needs = kMeetsLinks, .why = kWholeLinks, .partly = true};
}

constexpr std::string_view kMeetsLinksDown = "collectives.model!=closed_form & faults.down=yes";
constexpr std::string_view kNothingStands =
    "NICs give up where a link stays down: this needs 'faults' with 'state: down' that the network model simulates, "
    "and collectives as messages, not 'collectives.model: closed_form'";

constexpr std::string_view kNothingLost =
    "NICs send again where a link loses packets: this needs 'faults' with 'state: lossy' that the network model "
    "simulates";

constexpr std::string_view kNobodyShares =
    "messages share no links with 'simulate.network: alpha_beta', so that the NIC by which a ring leaves a host "
    "matters only where it changes how many channels NCCL finds";

constexpr std::string_view kKernelsCount = "collectives.model=chunks | collectives.overhead=kernels";
constexpr std::string_view kKernelsDoNotCount =
    "what messages cost beyond their wires counts with 'collectives.model: chunks' and 'overhead: kernels'";

constexpr std::array kEffects = {
    KeyEffect{"simulate.seed", "jobs.random=yes",
              "nothing in the simulation is random; hashed routing, router load and searches have seeds of their own"},
    KeyEffect{"report.attention_flops", "job.transformer=yes",
              "only a transformer that is described by its sizes has attention"},
    KeyEffect{"search", "", "only 'ringwright search' uses it"},
    KeyEffect{"probing", "", "only 'ringwright probe' uses it"},
    KeyEffect{"recommendation.upkeep", "", "only 'ringwright embeddings' uses it"},
    in_closed_form("faults[].link"),
    in_closed_form("faults[].nic"),
    in_closed_form("faults[].nic_port"),
    in_closed_form("faults[].switch"),
    in_closed_form("faults[].at"),
    in_closed_form("faults[].at_step"),
    in_closed_form("faults[].for"),
    in_closed_form("faults[].state"),
    in_closed_form("faults[].factor"),
    in_closed_form("faults[].loss"),
    KeyEffect{"cluster.node.nic.mtu", "faults.lossy=yes", kNothingLost},
    KeyEffect{"cluster.node.nic.retransmission", "faults.lossy=yes", kNothingLost},
    in_closed_form("cluster.node.nic.mtu"),
    in_closed_form("cluster.node.nic.retransmission"),
    in_closed_form("faults[].failover"),
    in_closed_form("faults[].reroute_after"),
    in_closed_form("faults[].direction"),
    in_closed_form("faults[].lane"),
    KeyEffect{"comm.env.NCCL_IB_TIMEOUT", kMeetsLinksDown, kNothingStands},
    KeyEffect{"comm.env.NCCL_IB_RETRY_CNT", kMeetsLinksDown, kNothingStands},
    KeyEffect{.keys = "background[]", .needs = kNotClosed, .why = kNoSharing, .partly = true},
    KeyEffect{.keys = "comm.env.NCCL_CROSS_NIC",
              .needs = "simulate.network!=alpha_beta",
              .why = kNobodyShares,
              .partly = true},
    KeyEffect{"cluster.node.nic.transport", kKernelsCount, kKernelsDoNotCount},
    KeyEffect{"comm.env.FI_CXI_RX_MATCH_MODE", kKernelsCount, kKernelsDoNotCount},
    KeyEffect{"comm.env.FI_HMEM_CUDA_USE_GDRCOPY", kKernelsCount, kKernelsDoNotCount},
    KeyEffect{"comm.env.FI_CXI_SAFE_DEVMEM_COPY_THRESHOLD", kKernelsCount, kKernelsDoNotCount},
    KeyEffect{"comm.env.FI_CXI_RDZV_THRESHOLD", kKernelsCount, kKernelsDoNotCount},
    KeyEffect{"comm.env.FI_CXI_RDZV_GET_MIN", kKernelsCount, kKernelsDoNotCount},
    KeyEffect{"cluster.node.nic.ports", collectives::kNcclCounts, collectives::kNcclDoesNotCount},
    KeyEffect{"cluster.node.pcie.processor", collectives::kNcclCounts, collectives::kNcclDoesNotCount},
    KeyEffect{"cluster.node.gpu.vendor", collectives::kNcclCounts, collectives::kNcclDoesNotCount},
    KeyEffect{"cluster.node.gpu.compute_capability", collectives::kNcclCounts, collectives::kNcclDoesNotCount},
};

std::vector<KeyEffect> all_effects() {
  std::vector<KeyEffect> all(kEffects.begin(), kEffects.end());
  for (const std::span<const KeyEffect> wing :
       {collectives::collective_key_effects(), network_models::network_key_effects(),
        workload::workload_key_effects()}) {
    all.insert(all.end(), wing.begin(), wing.end());
  }
  return all;
}

const char* yes_or_no(bool fact) {
  return fact ? "yes" : "no";
}

// Of a recommendation model's tables: whether every rank has copies, and whether rows pass between ranks.
void add_table_facts(const RecommendationJob& recommendation, SettingValues& values) {
  const workload::TablePlacement& placement = recommendation.placement;
  bool any_copied = false, any_held = false;
  for (const workload::GroupPlacement& group : placement.groups) {
    any_copied = any_copied || group.replicated > 0;
    any_held = any_held || group.placed > 0 || group.row_wise > 0 || group.host_wise > 0;
  }
  const std::size_t ranks = placement.role_of_rank.size();
  values.add("tables.copied", !any_held ? "all" : any_copied ? "some" : "none");
  values.add("tables.on_hosts", yes_or_no(placement.uses_hosts()));
  bool any_bag = false, any_auto = false;
  for (const workload::TableGroup& group : recommendation.model.tables) {
    any_bag = any_bag || group.pooling > 1.0;
    any_auto = any_auto || group.sharding == workload::Sharding::kAuto;
  }
  values.add("tables.bags", yes_or_no(any_bag));
  values.add("tables.auto", yes_or_no(any_auto && ranks > 1));
  values.add("tables.cached", yes_or_no(recommendation.model.cache.on()));
  values.add("tables.exchanged", yes_or_no(any_held && ranks > 1));
  values.add("job.ranks", std::to_string(ranks));
}

void add_facts(Scenario& scenario, RunOf run, SettingValues& values) {
  using workload::Tier;
  const workload::ParallelOptions& parallel = scenario.job.parallel;
  const workload::OffloadOptions& offload = parallel.offload;
  const bool fsdp = std::ranges::any_of(scenario.document.log().values(), [](const ValueRead& value) {
    return value.path.starts_with("parallel.fsdp.");
  });
  const auto any_fault = [&](const auto& holds) {
    return std::ranges::any_of(scenario.faults.links, holds) ||
           std::ranges::any_of(scenario.faults.at_steps,
                               [&](const StepFault& fault) { return std::ranges::any_of(fault.links, holds); });
  };
  const bool down = any_fault([](const network_models::LinkFault& fault) { return fault.factor <= 0.0; });
  const bool lossy = any_fault([](const network_models::LinkFault& fault) { return fault.loss > 0.0; });
  const bool gpudirect = std::ranges::all_of(all_kinds(scenario.nccl.host), &collectives::NcclHost::gpudirect);
  values.add("run.of", run == RunOf::kStep ? "a step" : "one collective");
  // Where groups list the hosts.
  if (!scenario.cluster.groups.empty()) values.add("cluster.nodes", std::to_string(scenario.cluster.hosts));
  values.add("cluster.gpudirect", yes_or_no(gpudirect));
  const bool nvlink = std::ranges::any_of(all_kinds(scenario.nccl.host), [](const collectives::NcclHost* host) {
    return host->links != collectives::NcclHost::Links::kPcie;
  });
  values.add("cluster.nvlink", yes_or_no(nvlink));
  values.add("faults.down", yes_or_no(down));
  values.add("faults.lossy", yes_or_no(lossy));
  values.add("faults.lost_nics", yes_or_no(!scenario.faults.lost_nics.empty()));
  // Placement of several jobs on one machine.
  values.add("jobs.random", yes_or_no(std::ranges::any_of(scenario.jobs, [](const JobEntry& job) {
               return job.placement == PlacementPolicy::kRandom;
             })));
  values.add("job.transformer", yes_or_no(scenario.job.trains_transformer()));
  values.add("job.replicas", std::to_string(parallel.replicas()));
  values.add("job.fsdp", yes_or_no(fsdp));
  values.add("job.transposes", yes_or_no(!scenario.job.training.one_layout && !parallel.sharding.parameters));
  const bool serves = scenario.job.layered && scenario.job.layered->layout.servers.count > 0;
  values.add("job.offloads", yes_or_no(offload.any() || serves));
  values.add("job.saves", yes_or_no(scenario.checkpoint.has_value()));
  values.add("job.nvme", yes_or_no(offload.optimizer == Tier::kNvme || offload.parameters == Tier::kNvme));
  if (scenario.job.recommendation) add_table_facts(*scenario.job.recommendation, values);
  values.add("job.optimizer", offload.optimizer == Tier::kGpu ? "on the GPU" : "off the GPU");
}

// In addition to NICs that are missing for the whole run: links whose faults formulas do not see.
void list_unmet_faults(const Scenario& scenario, const SettingValues& values, ConfigLog& log) {
  if (scenario.faults.lost_nics.empty() || values.holds(kNotClosed)) return;
  for (const OrderedFault& fault : scenario.faults.ordered) {
    if (!fault.of_link || fault.of_lost_nic) continue;
    const auto place = fmt::format("{}:{}", fault.place.file, fault.place.line);
    log.add(IgnoredKey{.path = fault.path, .origin = place, .why = std::string(kInPart) + std::string(kWholeLinks)});
  }
}

// Dedicated parameter servers update in host memory: the speed of their GPUs does not count.
void list_slow_servers(const Scenario& scenario, ConfigLog& log) {
  const std::int64_t workers = training_hosts(scenario);
  for (const OrderedFault& fault : scenario.faults.ordered) {
    if (fault.host < workers) continue;
    log.add(IgnoredKey{
        .path = fault.path,
        .origin = fmt::format("{}:{}", fault.place.file, fault.place.line),
        .why = fmt::format("host{} is a dedicated parameter server, whose GPUs compute nothing", fault.host)});
  }
}

}  // namespace

void list_keys_without_effect(Scenario& scenario, RunOf run) {
  ConfigLog& log = scenario.document.log();
  SettingValues values(log);
  add_facts(scenario, run, values);
  list_without_effect(all_effects(), values, log);
  list_unmet_faults(scenario, values, log);
  list_slow_servers(scenario, log);
}

std::vector<std::string> reasons_without_effect(std::string_view key) {
  std::vector<std::string> reasons;
  for (const KeyEffect& effect : all_effects()) {
    if (speaks_about(effect, key)) reasons.emplace_back(effect.why);
  }
  return reasons;
}

}  // namespace ringwright::configs
