#include "configs/simulation/collective_choices.h"

#include <algorithm>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "configs/simulation/host_speeds.h"
#include "configs/simulation/plan_calls.h"
#include "configs/simulation/torus_boxes.h"
#include "configs/simulation/vendor_tuner.h"
#include "core/base/text.h"
#include "core/config/key_effect.h"

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

// Where NCCL_ALGO and NCCL_PROTO leave nothing for a call.
class EmptyChoices {
 public:
  EmptyChoices(const Scenario& scenario, const collectives::NcclTuner& nccl) : nccl_(nccl) {
    const collectives::NcclKnobs untouched;
    const collectives::NcclKnobs& knobs = scenario.nccl.knobs;
    if (scenario.comm.plan || !scenario.collectives.heeds_kernels()) return;
    if (knobs.protocols != untouched.protocols) path_ = "comm.env.NCCL_PROTO";
    if (knobs.algorithms != untouched.algorithms) path_ = "comm.env.NCCL_ALGO";
  }

  void look_at(const CollectiveCall& call, std::vector<IgnoredKey>& ignored) {
    if (path_.empty() || !seen_.insert({call.kind, call.layout}).second) return;
    if (!nccl_.selector().leaves_nothing(call)) return;
    IgnoredKey key{.path = path_,
                   .why = fmt::format("{}it leaves nothing for {} among {} ranks: a ring is simulated, as old versions "
                                      "of NCCL run it; recent ones end the job (no algorithm/protocol available)",
                                      kInPart, to_string(call.kind), call.size())};
    const auto same = [&key](const IgnoredKey& other) { return other.path == key.path && other.why == key.why; };
    if (std::ranges::none_of(ignored, same)) ignored.push_back(std::move(key));
  }

 private:
  const collectives::NcclTuner& nccl_;
  std::string path_;  // empty: neither is set, or a plan is
  std::set<std::pair<CollectiveKind, const GroupLayout*>> seen_;
};

// A graph file describes hosts with as many members of a communicator as its channels have GPUs.
void list_idle_graph(const Scenario& scenario, const TaskGraph& graph, std::vector<IgnoredKey>& ignored) {
  if (!scenario.nccl.graph || !scenario.collectives.heeds_kernels()) return;
  const int gpus = scenario.nccl.graph->gpus;
  bool used = false;
  for_each_call(graph, [&](const CollectiveCall& call, std::uint32_t, std::uint64_t) {
    used = used || (call.layout->even() && call.layout->largest_host == gpus);
  });
  if (used) return;
  ignored.push_back(
      {.path = "comm.graph",
       .why = fmt::format("its channels have {} GPUs, and no communicator has as many on each host", gpus)});
}

// Of lines that fit no call, or ask for what NCCL cannot run there.
void list_idle_tuner(const Scenario& scenario, const collectives::NcclSelector& nccl, const TaskGraph& graph,
                     std::vector<IgnoredKey>& ignored) {
  if (scenario.nccl.tuner.lines.empty() || scenario.comm.plan || !scenario.collectives.heeds_kernels()) return;
  std::string why = "no line fits a call";
  bool used = false;
  for_each_call(graph, [&](const CollectiveCall& call, std::uint32_t, std::uint64_t) {
    const collectives::TunerLine* const line = used ? nullptr : scenario.nccl.tuner.find(call);
    if (line == nullptr) return;
    std::string_view reason = "there is no such kernel";
    for (const collectives::NcclOption& option : nccl.options(call)) {
      const collectives::NcclCost& cost = option.cost;
      if (cost.algorithm == line->algorithm && cost.protocol == line->protocol) reason = cost.why_not;
    }
    used = reason.empty();
    why = fmt::format("line {} asks for {} with {}, which cannot run: {}", line->line, to_string(line->algorithm),
                      to_string(line->protocol), reason);
  });
  if (!used) ignored.push_back({.path = "comm.tuner_config", .why = std::move(why)});
}

// NCCL spreads the channels of sends over the NICs next to a GPU; here they leave by one.
void list_unused_nics(const Scenario& scenario, const TaskGraph& graph, std::vector<IgnoredKey>& ignored) {
  const network_models::Host& host = scenario.cluster.host;
  const bool several = host.nic.count > host.gpus && scenario.cluster.hosts > 1;
  if (!several || scenario.cluster.fabric == "torus" || scenario.cluster.fabric == "graph") return;
  bool sends = graph.collectives.empty();
  for_each_call(graph, [&](const CollectiveCall& call, std::uint32_t, std::uint64_t) {
    sends = sends || (call.kind == CollectiveKind::kAllToAll && call.layout->host_count() > 1);
  });
  if (!sends) return;
  ignored.push_back({.path = "cluster.node.nic.count",
                     .why = fmt::format("{}all-to-alls and sends leave by one NIC of each GPU, and there are {} for {} "
                                        "GPUs; describe the NICs of a GPU as one with their bandwidth and 'ports'",
                                        kInPart, host.nic.count, host.gpus)});
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

Diagnostics CollectiveChoices::check(const Scenario& scenario, const TaskGraph& graph, const AskedCalls& asked,
                                     std::vector<IgnoredKey>& ignored) const {
  const bool in_chunks = scenario.collectives.rung == collectives::Rung::kChunks;
  list_idle_graph(scenario, graph, ignored);
  list_unused_nics(scenario, graph, ignored);
  list_idle_tuner(scenario, nccl_.selector(), graph, ignored);
  Diagnostics problems;
  std::set<std::string> reported;
  EmptyChoices empty(scenario, nccl_);
  for_each_call(graph, [&](const CollectiveCall& call, std::uint32_t, std::uint64_t) {
    if (asked.know(call)) return;
    const auto path_of_algorithm = [&] { return fmt::format("collectives.{}.algorithm", chooser_->dimension(call)); };
    const auto refuse = [&](const std::string& why) {
      if (why.empty() || !reported.insert(why).second) return;
      const std::string path = path_of_algorithm();
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
    if (!own) empty.look_at(call, ignored);
    if (!own || kernels_->choose(call).algorithm != nullptr) return;
    const std::string_view name = chooser_->choose(call).name();
    if (in_chunks) {
      refuse(fmt::format("no kernel implements '{}'; these have kernels: {}; or take 'collectives.model: steps'", name,
                         join(collectives::algorithms_with_kernels(call), ", ")));
    } else if (reported.insert(path_of_algorithm()).second) {
      ignored.push_back({.path = "collectives.overhead",
                          .why = fmt::format("of dimension '{}': no kernel implements '{}', only its messages count",
                                             chooser_->dimension(call), name)});
    }
  });
  return problems;
}

}  // namespace ringwright::configs
