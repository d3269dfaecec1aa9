// Symbolic messages of a channel proof, and their sums in network switches: by sum, message by message.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <vector>

#include "core/base/units.h"

namespace ringwright::collectives {

struct ProofMessage {
  Bytes size;
  std::size_t cells = 0;
  std::vector<std::uint64_t> sets;  // by cell

  // Adds the content of another message; false when both hold the same contribution.
  [[nodiscard]] bool merge(const std::vector<std::uint64_t>& more);
};

class ProofSums {
 public:
  // Message number `index` of one of the sum's queues.
  struct SumMessage {
    int sum = 0;
    std::int64_t index = 0;
  };

  void add_queue(int sum) { ++sums_[sum].queues; }
  // The mistake in the contribution; empty: none.
  [[nodiscard]] std::string contribute(const SumMessage& place, const ProofMessage& message);
  [[nodiscard]] bool is_whole(const SumMessage& place);
  [[nodiscard]] const ProofMessage& result(const SumMessage& place) { return at(place).message; }
  // One of the queues has read it.
  void take(const SumMessage& place);

 private:
  struct Result {
    ProofMessage message;
    int contributions = 0;
    int readers = 0;
  };
  struct Sum {
    int queues = 0;
    std::int64_t first = 0;  // the message that `results` begins with
    std::deque<Result> results;
  };

  Result& at(const SumMessage& place) {
    Sum& sum = sums_[place.sum];
    return sum.results[static_cast<std::size_t>(place.index - sum.first)];
  }

  std::map<int, Sum> sums_;  // by number
};

}  // namespace ringwright::collectives
