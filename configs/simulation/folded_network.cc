#include "configs/simulation/folded_network.h"

#include <utility>
#include <vector>

#include "core/base/random.h"
#include "core/symmetry/bottleneck_router.h"
#include "network_models/topologies/faulty_router.h"

namespace ringwright::configs {
namespace {

// `memory`: null where it does not hold.
Folding fold_over_faults(const FoldedNetwork::Inputs& inputs, const Router& router, FoldMemory* memory) {
  const network_models::FaultSchedule& schedule = inputs.faults;
  if (schedule.empty() && !inputs.kinds.empty()) {
    NetworkChanges kinds;
    for (const network_models::LinkKind& kind : inputs.kinds) kinds.link_colours.push_back(splitmix64(kind.tier));
    return fold(inputs.graph, inputs.choosers, router, kinds);
  }
  if (schedule.empty()) {
    return memory != nullptr ? memory->fold(inputs.graph, inputs.choosers, router)
                             : fold(inputs.graph, inputs.choosers, router);
  }
  std::vector<network_models::FaultyRouter> routers;
  for (std::uint32_t epoch = 1; epoch < schedule.epoch_count(); ++epoch) {
    routers.emplace_back(router, schedule, epoch, &inputs.fault_paths);
  }
  NetworkChanges changes{.epochs = {}, .link_colours = schedule.link_colours()};
  for (const network_models::FaultyRouter& epoch : routers) changes.epochs.push_back(&epoch);
  return fold(inputs.graph, inputs.choosers, router, changes);
}

}  // namespace

void FoldedNetwork::leave_unfolded(std::size_t ranks, std::size_t links) {
  folding_ = {};
  folding_.ranks = identity_classes(ranks);
  folding_.links.size.assign(links, 1);
  for (std::size_t link = 0; link < links; ++link) {
    folding_.links.class_of.push_back(static_cast<std::uint32_t>(link));
    folding_.links.representative.emplace_back(link);
  }
  router_.reset();
}

void FoldedNetwork::fold(const Inputs& inputs, std::optional<Folding> known) {
  if (inputs.times_only && !bottlenecks_) {
    bottlenecks_ = make_bottleneck_router(inputs.router);
    if (inputs.farthest != nullptr) {
      bottlenecks_ = make_farthest_router(std::move(bottlenecks_),
                                          {.router = inputs.router, .gpus = inputs.gpus, .per_host = inputs.per_host},
                                          *inputs.farthest);
    }
  }
  const Router& paths = inputs.times_only ? *bottlenecks_ : inputs.router;
  FoldMemory* const memory = inputs.times_only ? &folds_ : nullptr;
  folding_ = known ? std::move(*known) : fold_over_faults(inputs, paths, memory);
  router_ = make_folded_router(paths, folding_);
}

}  // namespace ringwright::configs
