#include "configs/simulation/collective_choices.h"

#include <algorithm>
#include <set>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "configs/simulation/host_speeds.h"
#include "configs/simulation/plan_calls.h"
#include "configs/simulation/torus_boxes.h"
#include "configs/simulation/vendor_tuner.h"
#include "core/base/text.h"

namespace ringwright::configs {
namespace {

// The position in the scenario where the algorithm of a dimension's collectives is set.
Place place_of_choice(const Scenario& scenario, std::string_view path) {
  for (const ValueRead& value : scenario.document.log().values()) {
    if (value.path == path) return {.file = value.origin};
  }
  return {};
}

bool every_host_has_nvls(const network_models::Host& host) {
  return host.nvlink.reduces &&
         std::ranges::all_of(host.others, [](const network_models::Host& other) { return other.nvlink.reduces; });
}

}  // namespace

CollectiveChoices::CollectiveChoices(const Scenario& scenario, const TaskGraph& graph,
                                     collectives::NcclGraphCache* found)
    : nccl_(scenario.nccl, found) {
  if (scenario.comm.plan) plan_ = std::make_unique<collectives::FixedTuner>(*scenario.comm.plan);
  if (scenario.second_library) {
    second_ = std::make_unique<collectives::NcclTuner>(*scenario.second_library);
    of_vendors_ = std::make_unique<VendorTuner>(nccl_, *second_, scenario.cluster);
  }
  const ChannelTuner& library = of_vendors_ ? *of_vendors_ : static_cast<const ChannelTuner&>(nccl_);
  const ChannelTuner& tuner = plan_ ? *plan_ : library;
  const bool sums = scenario.cluster.switch_sums.enabled;
  planned_ = std::make_unique<collectives::PlannedChooser>(
      tuner, sums ? collectives::NetworkSums::kYes : collectives::NetworkSums::kNo);
  collectives::ChooserFacts facts{
      .dimensions = {}, .hosts_have_nvls = every_host_has_nvls(scenario.cluster.host), .library = planned_.get()};
  for (const Dimension& dimension : graph.dimensions) facts.dimensions.push_back(dimension.name);
  facts.boxes = boxes_of_groups(graph, scenario.cluster);
  facts.host_speeds = host_speeds_of_groups(graph, scenario);
  chooser_ = std::make_unique<collectives::SimpleChooser>(scenario.collectives, facts);
  kernels_ = std::make_unique<collectives::ChosenKernels>(
      collectives::ChosenKernels::Inputs{.library = *planned_,
                                         .steps = *chooser_,
                                         .nccl = nccl_,
                                         .network_sums = sums,
                                         .played = scenario.collectives.rung == collectives::Rung::kChunks,
                                         .fixed = scenario.comm.plan ? &*scenario.comm.plan : nullptr});
}

Diagnostics CollectiveChoices::check(const Scenario& scenario, const TaskGraph& graph,
                                     std::vector<IgnoredKey>& ignored) const {
  const bool in_chunks = scenario.collectives.rung == collectives::Rung::kChunks;
  Diagnostics problems;
  std::set<std::string> reported;
  for_each_call(graph, [&](const CollectiveCall& call, std::uint32_t, std::uint64_t) {
    const std::string path = fmt::format("collectives.{}.algorithm", chooser_->dimension(call));
    const auto refuse = [&](const std::string& why) {
      if (why.empty() || !reported.insert(why).second) return;
      problems.add({.code = "E151",
                    .place = place_of_choice(scenario, path),
                    .message = fmt::format("'{}' cannot carry out {} of {} among {} ranks: {}", path,
                                           to_string(call.kind), to_string(call.bytes), call.size(), why)});
    };
    const std::string why = chooser_->check(call);
    refuse(why);
    if (!why.empty() || call.size() < 2 || !scenario.collectives.heeds_kernels()) return;
    const bool own = chooser_->named(call) != nullptr || chooser_->on_torus(call) != nullptr ||
                     call.layout->servers.count > 0;
    if (!own || kernels_->choose(call).algorithm != nullptr) return;
    const std::string_view name = chooser_->choose(call).name();
    if (in_chunks) {
      refuse(fmt::format("no kernel implements '{}'; these have kernels: {}; or take 'collectives.model: steps'", name,
                         join(collectives::algorithms_with_kernels(call), ", ")));
    } else if (reported.insert(path).second) {
      ignored.push_back({.path = "collectives.overhead",
                          .why = fmt::format("of dimension '{}': no kernel implements '{}', only its messages count",
                                             chooser_->dimension(call), name)});
    }
  });
  return problems;
}

}  // namespace ringwright::configs
