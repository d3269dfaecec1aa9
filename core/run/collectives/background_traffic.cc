#include "core/run/collectives/background_traffic.h"

#include <vector>

namespace ringwright {

void BackgroundTraffic::schedule() {
  const auto& background = job_.graph.background;
  const std::vector<bool> behind_job = background_behind_job(job_.graph);
  for (std::uint32_t index = 0; index < background.size(); ++index) {
    const RankId from = background[index].from;
    const bool by_itself = !behind_job.empty() && behind_job[index];
    if (!by_itself && job_.rank_of(job_.classes.class_of[from.index()]) != from) continue;
    job_.engine.at(background[index].at, [this, index] { start(index); });
  }
}

void BackgroundTraffic::start(std::uint32_t index) {
  const BackgroundTransfer& transfer = job_.graph.background[index];
  job_.network.start({.from = transfer.from,
                      .to = transfer.to,
                      .size = transfer.size,
                      .label = background_label(index),
                      .repeats = transfer.repeats,
                      .priority = transfer.importance == Importance::kYields ? Priority::kLow : Priority::kHigh,
                      .token = index},
                     *this);
}

}  // namespace ringwright
