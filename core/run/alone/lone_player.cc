#include "core/run/alone/lone_player.h"

#include <algorithm>

namespace ringwright {

LonePlayer::LonePlayer(const LoneInputs& inputs)
    : wires_(inputs.engine, inputs.network),
      ledger_(inputs.classes.count(), inputs.graph.dimensions.size()),
      job_{.engine = inputs.engine,
           .graph = inputs.graph,
           .classes = inputs.classes,
           .network = wires_,
           .paced = wires_,
           .clocks = nullptr,
           .ledger = ledger_,
           .listener = *this,
           .sent = std::vector<std::vector<Bytes>>(inputs.classes.count(),
                                                   std::vector<Bytes>(inputs.graph.dimensions.size())),
           .messages = std::vector<std::uint64_t>(inputs.classes.count())},
      runner_(inputs.maker.make(job_)) {}

std::optional<LonePlay> LonePlayer::play(const LoneOrder& order, std::span<const Duration> starts) {
  if (stuck_) return std::nullopt;
  const TimePoint begin = job_.engine.now();
  const std::size_t members = order.members.size();
  LonePlay play{.ends = {},
                .over = {},
                .sent = std::vector<Bytes>(members),
                .messages = std::vector<std::uint64_t>(members),
                .links = {}};
  ends_.assign(members, begin);
  members_left_ = members;
  wires_.begin_call();
  usage_before_ = wires_.usage();
  count_traffic(order, -1, play);
  start(order, starts);
  stuck_ = job_.engine.run() != RunEnd::kIdle || members_left_ > 0;
  if (stuck_) return std::nullopt;
  count_traffic(order, 1, play);
  usage_after_ = wires_.usage();
  for (const TimePoint end : ends_) play.ends.push_back(end - begin);
  play.over = std::max(std::ranges::max(play.ends), wires_.last_arrival() - begin);
  return play;
}

void LonePlayer::start(const LoneOrder& order, std::span<const Duration> starts) {
  if (order.message) {
    MessageOrder message = *order.message;
    message.token = 0;
    return runner_->carrier()->carry(message, *this);
  }
  requests_.clear();
  for (std::uint32_t member = 0; member < order.members.size(); ++member) {
    requests_.push_back({.rank_class = order.members[member],
                         .dimension = order.dimension,
                         .spec = order.spec,
                         .sequence = calls_,
                         .iteration = 0,
                         .task = member});
    job_.engine.after(starts[member], [this, member] { runner_->start(requests_[member]); });
  }
  ++calls_;
}

void LonePlayer::on_communication_ended(ClassId /*rank_class*/, std::uint32_t task) {
  note_end(task);
}

void LonePlayer::note_end(std::uint32_t member) {
  ends_[member] = job_.engine.now();
  --members_left_;
}

void LonePlayer::count_traffic(const LoneOrder& order, std::int64_t sign, LonePlay& play) const {
  runner_->book_sent();
  for (std::size_t member = 0; member < order.members.size(); ++member) {
    const ClassId c = order.members[member];
    if (std::ranges::find(order.members, c) - order.members.begin() < static_cast<std::ptrdiff_t>(member)) continue;
    play.sent[member] += job_.sent[c.index()][order.dimension.index()] * sign;
    play.messages[member] += job_.messages[c.index()] * static_cast<std::uint64_t>(sign);
  }
}

void LonePlayer::add_links(std::span<const LinkId> links, LonePlay& play) const {
  play.links.reserve(links.size());
  for (const LinkId link : links) {
    const LinkUsage& before = usage_before_[link.index()];
    const LinkUsage& after = usage_after_[link.index()];
    play.links.push_back(
        {.link = link, .usage = {.bytes = after.bytes - before.bytes, .busy = after.busy - before.busy}});
  }
}

}  // namespace ringwright
