#include "core/ports/collective_algorithm.h"

namespace ringwright {

bool has_equal_pieces(const CollectiveAlgorithm& algorithm, const CollectiveCall& call) {
  const Bytes first = algorithm.piece_size(call, 0);
  for (int piece = algorithm.pieces(call) - 1; piece > 0; --piece) {
    if (algorithm.piece_size(call, piece) != first) return false;
  }
  return true;
}

}  // namespace ringwright
