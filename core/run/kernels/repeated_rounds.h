// Proves that a call that is simulated alone is in the state in which it was some primitives ago, its period.
//
// All ends of primitives from one of the leader, a block, to its next one are a round: of which blocks they are, in
// which order, when, and how many primitives each block is ahead of the leader. Once the latest rounds equal those of
// one period ago, and each queue that is not empty has taken more messages in them than it has slots, all that is in
// flight began in these rounds: a block writes into a slot again only after what was there has been read. So state and
// counts are those of one period ago, and the call repeats itself as long as its primitives do. That needs a network
// model whose state is that of the transfers in flight.
#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "core/base/units.h"
#include "core/run/kernels/chunk_play.h"

namespace ringwright {

class RepeatedRounds {
 public:
  struct Period {
    std::int64_t primitives = 0;  // of each block
    Duration time;
  };

  // With the block that has the most primitives as leader.
  explicit RepeatedRounds(const ChunkPlay& play);

  // A block has ended a primitive. The period, if this end completes a round and the period is proved.
  [[nodiscard]] std::optional<Period> note_end(const ChunkPlay& play, std::uint32_t block, TimePoint now);
  // Forgets all rounds.
  void start_again();

 private:
  struct Round {
    std::uint64_t digest = 0;
    TimePoint end;
  };
  // Of blocks and queues.
  struct Counts {
    std::vector<std::int64_t> ended;     // primitives
    std::vector<std::uint64_t> written;  // messages
  };
  void compare(const ChunkPlay& play);
  [[nodiscard]] bool is_proved(const ChunkPlay& play) const;

  std::uint32_t leader_ = 0;
  std::uint64_t digest_ = 0;  // of the current round
  TimePoint begin_;           // of the current round
  std::vector<Round> rounds_;
  std::uint64_t sequence_ = 0;  // a hash of the digests of the last rounds
  std::unordered_map<std::uint64_t, std::size_t> latest_;  // round at the end of such a sequence
  std::size_t period_ = 0;     // in rounds; 0: none is assumed
  std::size_t equal_ = 0;      // latest rounds that equal those one period ago
  std::size_t enough_ = 0;     // of them for the next try of a proof
  std::size_t completed_ = 0;  // rounds up to the last one in which a block ended its last primitive
  Counts before_;              // these latest rounds
};

}  // namespace ringwright
