#include "workload/parallel/pieces.h"

#include <utility>

namespace ringwright::workload {

PieceTable::PieceTable(GraphTables& tables, const KernelContext& context)
    : tables_(tables), context_(context), windowed_(context) {
  windowed_.windowed = true;
}

PieceId PieceTable::of(Piece piece, AttentionReach reach) {
  const auto known = made_.find({piece, reach, share_});
  if (known != made_.end()) return known->second;
  std::vector<Kernel> kernels = kernels_of(piece, reach == AttentionReach::kWindow ? windowed_ : context_);
  if (share_ != GradientShare::kWhole) {
    std::erase_if(kernels, [this](const Kernel& kernel) {
      return (kernel.role == ProductRole::kWgrad) != (share_ == GradientShare::kWeights);
    });
  }
  const PieceId made = tables_.add_piece(std::move(kernels));
  made_.emplace(std::tuple(piece, reach, share_), made);
  return made;
}

}  // namespace ringwright::workload
