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
constexpr std::array kOfCollective = {RequiredValue{"operation", Kind::kText}, RequiredValue{"results", Kind::kList}};
constexpr std::array kOfTraining = {RequiredValue{"rows", Kind::kList}};
constexpr std::array kOfLogs = {RequiredValue{"logs", Kind::kList}};
constexpr std::array kOfCalls = {RequiredValue{"collectives", Kind::kList}};

constexpr std::array<PanelMaker*, 15> kRunPanels = {step_waterfall,    slowest_stage_waterfall,
                                                    kernel_families,   exposed_communication,
                                                    pipeline_gantt,    stage_times,
                                                    memory_stack,      host_memory,
                                                    kernel_roofline,   link_tiers,
                                                    busiest_links,     collective_calls,
                                                    published_figures, remarks,
                                                    configuration};
constexpr std::array<PanelMaker*, 4> kSearchPanels = {search_front, search_axes, search_refusals, search_layouts};
constexpr std::array<PanelMaker*, 1> kCollectivePanels = {bandwidth_curve};
constexpr std::array<PanelMaker*, 3> kValidationPanels = {validation_scatter, measured_bandwidth, validation_errors};

constexpr std::array kKinds = {
    ResultKind{"ringwright.result/1", "ringwright run --json", kOfRun, run_header, kRunPanels},
    ResultKind{"ringwright.search/1", "ringwright search --json", kOfSearch, search_header, kSearchPanels},
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
