#include "planning/report/builtin_panels.h"

#include <array>

namespace ringwright::planning {
namespace {

using Kind = JsonValue::Kind;

constexpr std::array kOfRun = {RequiredValue{"scenario", Kind::kText}, RequiredValue{"metrics", Kind::kMap},
                               RequiredValue{"metrics.step_time_s.mean", Kind::kNumber},
                               RequiredValue{"job.gpus", Kind::kNumber}, RequiredValue{"breakdown", Kind::kList}};
constexpr std::array kOfSearch = {RequiredValue{"scenario", Kind::kText}, RequiredValue{"axes", Kind::kMap},
                                  RequiredValue{"ranking", Kind::kList}};
constexpr std::array kOfSweep = {RequiredValue{"name", Kind::kText}, RequiredValue{"points", Kind::kList},
                                 RequiredValue{"ranking", Kind::kList}};
constexpr std::array kOfComparison = {RequiredValue{"sides", Kind::kList}, RequiredValue{"differences", Kind::kList}};
constexpr std::array kOfWhatIfs = {RequiredValue{"scenario", Kind::kText},
                                   RequiredValue{"base.step_time_s", Kind::kNumber},
                                   RequiredValue{"what_ifs", Kind::kList}};
constexpr std::array kOfSensitivity = {RequiredValue{"scenario", Kind::kText}, RequiredValue{"step_ps", Kind::kNumber},
                                       RequiredValue{"parameters", Kind::kList}};
constexpr std::array kOfCollective = {RequiredValue{"operation", Kind::kText}, RequiredValue{"results", Kind::kList}};
constexpr std::array kOfGoodput = {RequiredValue{"name", Kind::kText}, RequiredValue{"job.gpus", Kind::kNumber},
                                   RequiredValue{"policies", Kind::kList}};
constexpr std::array kOfJobs = {RequiredValue{"scenario", Kind::kText}, RequiredValue{"arrangements", Kind::kList}};
constexpr std::array kOfCluster = {RequiredValue{"name", Kind::kText}, RequiredValue{"gpus", Kind::kNumber},
                                   RequiredValue{"policies", Kind::kList}};
constexpr std::array kOfTuning = {RequiredValue{"machine", Kind::kText}, RequiredValue{"calls", Kind::kList}};
constexpr std::array kOfCapacity = {RequiredValue{"name", Kind::kText}, RequiredValue{"offers", Kind::kList},
                                    RequiredValue{"ranking", Kind::kList}};
constexpr std::array kOfAdaptive = {RequiredValue{"scenario", Kind::kText}, RequiredValue{"gain", Kind::kNumber},
                                    RequiredValue{"phases", Kind::kList}};
constexpr std::array kOfServerPlan = {RequiredValue{"scenario", Kind::kText}, RequiredValue{"gain", Kind::kNumber},
                                      RequiredValue{"tried", Kind::kList}};
constexpr std::array kOfServers = {RequiredValue{"scenario", Kind::kText}, RequiredValue{"ring", Kind::kMap},
                                   RequiredValue{"rows", Kind::kList}};
constexpr std::array kOfEmbeddings = {RequiredValue{"scenario", Kind::kText},
                                      RequiredValue{"table_bytes", Kind::kNumber},
                                      RequiredValue{"checkpoints", Kind::kList}};
constexpr std::array kOfTraining = {RequiredValue{"rows", Kind::kList}};
constexpr std::array kOfLogs = {RequiredValue{"logs", Kind::kList}};
constexpr std::array kOfCalls = {RequiredValue{"collectives", Kind::kList}};

constexpr std::array<PanelMaker*, 18> kRunPanels = {
    step_waterfall, slowest_stage_waterfall, kernel_families,  exposed_communication, pipeline_gantt, stage_times,
    critical_path,  memory_over_time,        memory_stack,     host_memory,           link_use,       kernel_roofline,
    link_tiers,     busiest_links,           collective_calls, published_figures,     remarks,        configuration};
constexpr std::array<PanelMaker*, 5> kSearchPanels = {search_front, search_axes, search_choices, search_refusals,
                                                      search_layouts};
constexpr std::array<PanelMaker*, 5> kSweepPanels = {sweep_front, sweep_axes, sweep_effects, sweep_table, remarks};
constexpr std::array<PanelMaker*, 3> kComparePanels = {compare_changes, compare_parts, compare_values};
constexpr std::array<PanelMaker*, 2> kWhatIfPanels = {what_if_changes, what_if_parts};
constexpr std::array<PanelMaker*, 2> kSensitivityPanels = {sensitivity_tornado, sensitivity_parameters};
constexpr std::array<PanelMaker*, 6> kGoodputPanels = {goodput_waterfall, goodput_policies, goodput_spread,
                                                       goodput_intervals, goodput_parts,    goodput_checkpoints};
constexpr std::array<PanelMaker*, 3> kJobsPanels = {jobs_slowdowns, jobs_parts, jobs_links};
constexpr std::array<PanelMaker*, 7> kClusterPanels = {cluster_means,         cluster_shares,   cluster_over_time,
                                                       cluster_distributions, cluster_locality, cluster_percentiles,
                                                       cluster_sharing};
constexpr std::array<PanelMaker*, 3> kTunePanels = {tune_gains, tune_settings, tune_candidates};
constexpr std::array<PanelMaker*, 3> kCapacityPanels = {capacity_front, capacity_parts, capacity_table};
constexpr std::array<PanelMaker*, 3> kAdaptivePanels = {adaptive_steps, adaptive_ratios, adaptive_table};
constexpr std::array<PanelMaker*, 2> kServerPlanPanels = {server_plan_speeds, server_plan_table};
constexpr std::array<PanelMaker*, 4> kServersPanels = {servers_speeds, servers_staleness, servers_worker_time,
                                                       servers_table};
constexpr std::array<PanelMaker*, 6> kEmbeddingsPanels = {embeddings_caches,      embeddings_lookaheads,
                                                          embeddings_checkpoints, embeddings_recoveries,
                                                          embeddings_table,       embeddings_intervals};
constexpr std::array<PanelMaker*, 1> kCollectivePanels = {bandwidth_curve};
constexpr std::array<PanelMaker*, 3> kValidationPanels = {validation_scatter, measured_bandwidth, validation_errors};

constexpr std::array kKinds = {
    ResultKind{"ringwright.result/1", "ringwright run --json", kOfRun, run_header, kRunPanels},
    ResultKind{"ringwright.search/1", "ringwright search --json", kOfSearch, search_header, kSearchPanels},
    ResultKind{"ringwright.sweep/1", "ringwright sweep --json", kOfSweep, sweep_header, kSweepPanels},
    ResultKind{"ringwright.compare/1", "ringwright compare --json", kOfComparison, compare_header, kComparePanels},
    ResultKind{"ringwright.what_if/1", "ringwright what-if --json", kOfWhatIfs, what_if_header, kWhatIfPanels},
    ResultKind{"ringwright.sensitivity/1", "ringwright sensitivity --json", kOfSensitivity, sensitivity_header,
               kSensitivityPanels},
    ResultKind{"ringwright.goodput/1", "ringwright goodput --json", kOfGoodput, goodput_header, kGoodputPanels},
    ResultKind{"ringwright.jobs/1", "ringwright jobs --json", kOfJobs, jobs_header, kJobsPanels},
    ResultKind{"ringwright.cluster/1", "ringwright cluster --json", kOfCluster, cluster_header, kClusterPanels},
    ResultKind{"ringwright.tune/1", "ringwright tune --json", kOfTuning, tune_header, kTunePanels},
    ResultKind{"ringwright.capacity/1", "ringwright capacity --json", kOfCapacity, capacity_header, kCapacityPanels},
    ResultKind{"ringwright.adaptive/1", "ringwright adapt --json", kOfAdaptive, adaptive_header, kAdaptivePanels},
    ResultKind{"ringwright.server_plan/1", "ringwright servers --plan --json", kOfServerPlan, server_plan_header,
               kServerPlanPanels},
    ResultKind{"ringwright.servers/1", "ringwright servers --json", kOfServers, servers_header, kServersPanels},
    ResultKind{"ringwright.embeddings/1", "ringwright embeddings --json", kOfEmbeddings, embeddings_header,
               kEmbeddingsPanels},
    ResultKind{"ringwright.collective/1", "ringwright collective --json", kOfCollective, collective_header,
               kCollectivePanels},
    ResultKind{"ringwright.validation.training/1", "ringwright validate training --json", kOfTraining, training_header,
               kValidationPanels},
    ResultKind{"ringwright.validate.nccl/1", "ringwright validate nccl --json", kOfLogs, nccl_header,
               kValidationPanels},
    ResultKind{"ringwright.validate.calls/1", "ringwright validate kineto --json", kOfCalls, calls_header,
               kValidationPanels},
};

}  // namespace

std::span<const ResultKind> result_kinds() {
  return kKinds;
}

}  // namespace ringwright::planning
