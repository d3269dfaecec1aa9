// The pieces of one context, each made once.
#pragma once

#include <map>
#include <utility>
#include <vector>

#include "workload/graph_tables.h"
#include "workload/layer_kernels.h"

namespace ringwright::workload {

// Whether a layer's attention is confined to the model's window.
enum class AttentionReach { kAll, kWindow };

class PieceTable {
 public:
  PieceTable(GraphTables& tables, const KernelContext& context);
  [[nodiscard]] PieceId operator[](Piece piece) { return of(piece, AttentionReach::kAll); }
  [[nodiscard]] PieceId of(Piece piece, AttentionReach reach);
  [[nodiscard]] PieceId add(std::vector<Kernel> kernels) { return tables_.add_piece(std::move(kernels)); }
  [[nodiscard]] const KernelContext& context() const { return context_; }

 private:
  GraphTables& tables_;
  KernelContext context_;
  KernelContext windowed_;
  std::map<std::pair<Piece, AttentionReach>, PieceId> made_;
};

}  // namespace ringwright::workload
