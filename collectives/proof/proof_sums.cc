#include "collectives/proof/proof_sums.h"

#include <fmt/format.h>

namespace ringwright::collectives {

bool ProofMessage::merge(const std::vector<std::uint64_t>& more) {
  for (std::size_t word = 0; word < more.size(); ++word) {
    if ((sets[word] & more[word]) != 0) return false;
    sets[word] |= more[word];
  }
  return true;
}

std::string ProofSums::contribute(const SumMessage& place, const ProofMessage& message) {
  Sum& sum = sums_[place.sum];
  if (place.index - sum.first == static_cast<std::int64_t>(sum.results.size())) sum.results.emplace_back();
  Result& result = at(place);
  if (result.contributions++ == 0) {
    result.message = message;
    return {};
  }
  if (result.message.size != message.size || result.message.cells != message.cells) {
    return fmt::format("contributes {} bytes to a sum of {}", message.size.count(), result.message.size.count());
  }
  return result.message.merge(message.sets) ? "" : "contributes twice to a network sum";
}

bool ProofSums::is_whole(const SumMessage& place) {
  return at(place).contributions == sums_[place.sum].queues;
}

void ProofSums::take(const SumMessage& place) {
  ++at(place).readers;
  Sum& sum = sums_[place.sum];
  while (!sum.results.empty() && sum.results.front().readers == sum.queues) {
    sum.results.pop_front();
    ++sum.first;
  }
}

}  // namespace ringwright::collectives
