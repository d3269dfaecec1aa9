#include "collectives/proof/piece_holders.h"

#include <algorithm>

#include <fmt/format.h>

namespace ringwright::collectives {

PieceHolders::PieceHolders(const CollectiveCall& call, int pieces)
    : host_of_(call.layout->host_of),
      members_(call.size()),
      switches_(call.layout->host_count() + 1),
      pieces_(std::max(pieces, 0)),
      sets_(at(members_ + switches_) * at(pieces_), members_),
      written_(at(members_ + switches_) * at(pieces_)) {}

int PieceHolders::switch_between(int member, int peer) const {
  const int host = host_of_[at(member)];
  return members_ + (host == host_of_[at(peer)] ? host : switches_ - 1);
}

std::string PieceHolders::deliver(const Parcel& parcel, ContributionSets::Words contents, int step) {
  const std::size_t target = cell(parcel.holder, parcel.piece);
  Write& last = written_[target];
  if (last.step == step && !(last.reduce && parcel.reduce)) {
    return fmt::format("the result of piece {} of {} depends on the message order", parcel.piece,
                       name_of(parcel.holder));
  }
  last = {.step = step, .reduce = parcel.reduce};
  if (!parcel.reduce) sets_.replace(target, contents);
  if (parcel.reduce && !sets_.add(target, contents)) {
    return fmt::format("piece {} of {} holds {} and is given one of them again by member {}", parcel.piece,
                       name_of(parcel.holder), sets_.text(target), parcel.from);
  }
  if (parcel.holder >= members_) remember(parcel, step);
  return {};
}

void PieceHolders::remember(const Parcel& parcel, int step) {
  contributors_.resize(at(switches_) * at(pieces_));
  auto& contributors = contributors_[cell(parcel.holder - members_, parcel.piece)];
  if (!parcel.reduce) contributors.clear();
  contributors.push_back({.member = parcel.from, .step = step});
}

std::string PieceHolders::name_of(int holder) const {
  if (holder < members_) return fmt::format("member {}", holder);
  if (holder == members_ + switches_ - 1) return "the network's switch";
  return fmt::format("the switch of host {}", holder - members_);
}

}  // namespace ringwright::collectives
