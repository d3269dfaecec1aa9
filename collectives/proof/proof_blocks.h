// The thread blocks of all members in a proof, and the queues between them.
#pragma once

#include <cstdint>
#include <deque>
#include <span>
#include <string>
#include <vector>

#include "collectives/proof/proof_sums.h"
#include "core/base/index.h"
#include "core/ports/channel_algorithm.h"

namespace ringwright::collectives {

// Between two thread blocks; stored with the sender's port.
struct ProofQueue {
  std::deque<ProofMessage> messages;
  std::size_t room = 0;
  bool has_reader = false;
  int sum = kNoSum;
  std::int64_t written = 0;
  std::int64_t read = 0;
};

struct ProofBlock {
  ThreadBlock block;
  std::int64_t done = 0;
  std::vector<ProofQueue> queues;  // by send port
};

class ProofBlocks {
 public:
  struct Size {
    int members = 0;
    int blocks = 0;  // of each
  };
  explicit ProofBlocks(const Size& size)
      : members_(size.members), blocks_(size.blocks), rows_(at(size.members) * at(size.blocks)) {}

  // What is wrong with the blocks, or with the queues between them; empty: nothing. Queues of network sums are noted in
  // `sums`.
  [[nodiscard]] std::string make(const ChannelAlgorithm& algorithm, const CollectiveCall& call,
                                 const CollectivePlan& plan, ProofSums& sums);
  // Every queue has one reader: its addressee.
  [[nodiscard]] std::string join();

  struct Place {
    int member = 0;
    int block = 0;
  };
  [[nodiscard]] ProofBlock& operator[](const Place& place) {
    return rows_[at(place.member) * at(blocks_) + at(place.block)];
  }
  [[nodiscard]] ProofQueue& queue_of(const ReceivePort& port) {
    return (*this)[{.member = port.peer, .block = port.block}].queues[at(port.port)];
  }
  // By member, by block.
  [[nodiscard]] std::span<const ProofBlock> all() const { return rows_; }
  [[nodiscard]] Place place(std::size_t number) const {
    return {.member = static_cast<int>(number / at(blocks_)), .block = static_cast<int>(number % at(blocks_))};
  }

 private:
  [[nodiscard]] std::string join(const Place& reader, const ReceivePort& port);

  int members_;
  int blocks_;
  std::vector<ProofBlock> rows_;
};

}  // namespace ringwright::collectives
