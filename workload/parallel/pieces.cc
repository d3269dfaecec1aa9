#include "workload/parallel/pieces.h"

#include <utility>

namespace ringwright::workload {

PieceTable::PieceTable(GraphTables& tables, const KernelContext& context)
    : tables_(tables), context_(context), windowed_(context) {
  windowed_.windowed = true;
}

std::vector<Kernel> PieceTable::make(Piece piece, AttentionReach reach) const {
  std::vector<Kernel> kernels = kernels_of(piece, reach == AttentionReach::kWindow ? windowed_ : context_);
  if (share_ != GradientShare::kWhole) {
    std::erase_if(kernels, [this](const Kernel& kernel) {
      return (kernel.role == GemmRole::kWgrad) != (share_ == GradientShare::kWeights);
    });
  }
  return kernels;
}

PieceId PieceTable::of(Piece piece, AttentionReach reach) {
  const auto known = made_.find({piece, reach, share_});
  if (known != made_.end()) return known->second;
  const PieceId made = tables_.add_piece(make(piece, reach));
  made_.emplace(std::tuple(piece, reach, share_), made);
  return made;
}

CutPiece PieceTable::cut(Piece piece, AttentionReach reach, const GemmShares& shares) {
  const std::tuple key(piece, reach, share_, shares.first, shares.last);
  const auto known = cut_.find(key);
  if (known != cut_.end()) return known->second;
  CutKernels kernels = split_gemms(make(piece, reach), shares);
  const CutPiece made{.head = tables_.add_piece(std::move(kernels.head)),
                      .first = tables_.add_piece(std::move(kernels.first)),
                      .middle = tables_.add_piece(std::move(kernels.middle)),
                      .last = tables_.add_piece(std::move(kernels.last)),
                      .tail = tables_.add_piece(std::move(kernels.tail))};
  cut_.emplace(key, made);
  return made;
}

}  // namespace ringwright::workload
