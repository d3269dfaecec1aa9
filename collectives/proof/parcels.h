// The pieces of one step in flight, each with its contributions: all leave before any arrives.
#pragma once

#include <cstdint>
#include <vector>

#include "collectives/proof/contribution_sets.h"

namespace ringwright::collectives {

struct Parcel {
  int holder = 0;  // its target: a member, or a switch numbered from the group's size on
  int piece = 0;
  int from = 0;  // the member that sent it or requested it from the switch
  bool reduce = false;
};

class Parcels {
 public:
  void clear() {
    parcels_.clear();
    contents_.clear();
  }
  // Every parcel has contents of the same size.
  void add(const Parcel& parcel, ContributionSets::Words contents) {
    parcels_.push_back(parcel);
    contents_.insert(contents_.end(), contents.begin(), contents.end());
  }
  [[nodiscard]] std::size_t size() const { return parcels_.size(); }
  [[nodiscard]] const Parcel& operator[](std::size_t number) const { return parcels_[number]; }
  [[nodiscard]] ContributionSets::Words contents(std::size_t number) const {
    const std::size_t words = contents_.size() / parcels_.size();
    return ContributionSets::Words(contents_).subspan(number * words, words);
  }

 private:
  std::vector<Parcel> parcels_;
  std::vector<std::uint64_t> contents_;  // by parcel
};

}  // namespace ringwright::collectives
