#include "workload/parallel/pieces.h"

namespace ringwright::workload {

PieceTable::PieceTable(GraphTables& tables, const KernelContext& context)
    : tables_(tables), context_(context), windowed_(context) {
  windowed_.windowed = true;
}

PieceId PieceTable::of(Piece piece, AttentionReach reach) {
  const auto known = made_.find({piece, reach});
  if (known != made_.end()) return known->second;
  const PieceId made = tables_.add_piece(kernels_of(piece, reach == AttentionReach::kWindow ? windowed_ : context_));
  made_.emplace(std::pair(piece, reach), made);
  return made;
}

}  // namespace ringwright::workload
