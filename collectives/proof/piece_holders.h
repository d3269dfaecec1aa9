// What the members of a collective, and the switches between them, hold of each piece.
//
// Ranks of one host share the host's switch; ranks of different hosts share the network's.
#pragma once

#include <string>
#include <vector>

#include "collectives/proof/contribution_sets.h"
#include "collectives/proof/parcels.h"
#include "core/base/index.h"
#include "core/plan/collective_call.h"

namespace ringwright::collectives {

class PieceHolders {
 public:
  PieceHolders(const CollectiveCall& call, int pieces);

  [[nodiscard]] std::size_t cell(int holder, int piece) const { return at(holder) * at(pieces_) + at(piece); }
  [[nodiscard]] ContributionSets& sets() { return sets_; }
  [[nodiscard]] const ContributionSets& sets() const { return sets_; }
  [[nodiscard]] int switch_between(int member, int peer) const;

  // Puts a piece in its place at a step; returns what is wrong with that, empty: nothing.
  [[nodiscard]] std::string deliver(const Parcel& parcel, ContributionSets::Words contents, int step);
  struct Contributor {
    int member = 0;
    int step = 0;
  };
  // Who has sent what a switch holds of a piece.
  [[nodiscard]] const std::vector<Contributor>& contributors(int holder, int piece) const {
    return contributors_[cell(holder - members_, piece)];
  }

 private:
  struct Write {
    int step = -1;
    bool reduce = false;
  };
  [[nodiscard]] std::string name_of(int holder) const;
  void remember(const Parcel& parcel, int step);

  const std::vector<int>& host_of_;  // by member
  int members_;
  int switches_;
  int pieces_;
  ContributionSets sets_;                               // by holder, by piece
  std::vector<Write> written_;                          // by holder, by piece
  std::vector<std::vector<Contributor>> contributors_;  // by switch, by piece; empty until a switch is used
};

}  // namespace ringwright::collectives
