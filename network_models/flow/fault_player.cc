// Turns the moments of a fault schedule into events.
#include "network_models/flow/fault_player.h"

namespace ringwright::network_models {

FaultPlayer::FaultPlayer(const Parts& parts) : parts_(parts) {}

void FaultPlayer::schedule() {
  for (const FaultMoment& moment : parts_.schedule.moments()) {
    parts_.engine.at(moment.when, [this, &moment] { play(moment); });
  }
}

void FaultPlayer::play(const FaultMoment& moment) {
  for (const LinkChange& change : moment.changes) {
    // Links of one class have the same faults, so repeated settings are harmless.
    const LinkId link =
        parts_.link_class_of.empty() ? change.link : LinkId(parts_.link_class_of[change.link.index()]);
    parts_.network.set_capacity(link, parts_.capacities[link.index()] * change.factor);
  }
  if (moment.epoch == epoch_) return;
  epoch_ = moment.epoch;
  parts_.router.set_epoch(epoch_);
  parts_.network.reroute();
}

}  // namespace ringwright::network_models
